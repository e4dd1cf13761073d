/** What a page hears of: what areas declare as live (defineEvent), each as what has changed and whose it is. */
import { type Events, PageChanged } from '@svc/api';

/** As it is sent. It names what to read again and holds nothing of it. */
export interface Shown {
  readonly what: string;
  readonly id?: string;
  readonly agent_id?: string;
  readonly session_id?: string;
  readonly state?: string;
}

export interface Change {
  /** What one must be allowed to do to hear of it: the same as to read it. */
  readonly permission: string;
  /** Left out where it is nobody's: then the permission alone decides who hears of it. */
  readonly ownerId?: string;
  readonly shown: Shown;
}

/** One listener for all sockets. */
export const listenForChanges = (events: Events, received: (change: Change) => void): void => {
  events.on(PageChanged, ({ permission, ownerId, ...shown }) => received({ permission, shown, ...(ownerId === undefined ? {} : { ownerId }) }));
};

/** Of two changes of the same thing a page that has heard neither needs the later one. */
export const subjectOf = ({ what, id, agent_id: agentId }: Shown): string => `${what} ${id ?? ''} ${agentId ?? ''}`;
