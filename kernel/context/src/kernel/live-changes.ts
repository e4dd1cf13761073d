/**
 * What pages hear of: events as their declarations say.
 *
 * L1  An event that belongs to somebody, and does not say to whom, is told to nobody.
 * L2  Of an extension from elsewhere a page hears under the event's own name: it cannot pass for a change of something else.
 */
import { AuthChanged, ConfigChanged, ExtensionChanged, type LiveSpec, type PageChanged } from '@svc/api';
import type { InstalledFiles } from '@svc/core';

type Declaring = Pick<InstalledFiles, 'bundled' | 'manifest' | 'contributions'>;

const KERNEL_LIVE: ReadonlyMap<string, LiveSpec | undefined> = new Map([ExtensionChanged, ConfigChanged, AuthChanged].map(({ name, live }) => [name, live]));
/** Longer ones are no ids: an extension from elsewhere would fill what is held for pages. */
const MAX_ID = 1_000;

/** The events of one extension that pages hear of: those that it declares, and may say. */
export const liveEventsOf = ({ manifest, contributions }: Pick<Declaring, 'manifest' | 'contributions'>): readonly string[] =>
  Object.keys(contributions.live ?? {}).filter((event) => manifest.events?.publishes?.includes(event));

const specOf = (all: readonly Declaring[], event: string): LiveSpec | undefined => {
  const declaring = all.filter(({ contributions, manifest }) => contributions.live && Object.hasOwn(contributions.live, event) && manifest.events?.publishes?.includes(event));
  const one = declaring.find(({ bundled }) => bundled) ?? declaring[0];
  const spec = one?.contributions.live?.[event];
  return spec && !one?.bundled ? { ...spec, what: event } : spec;
};

export const liveChanges = (all: readonly Declaring[], event: string, data: unknown): readonly PageChanged[] => {
  const spec = KERNEL_LIVE.get(event) ?? specOf(all, event);
  if (!spec || typeof data !== 'object' || data === null) return [];
  const fields: Readonly<Record<string, unknown>> = { ...data };
  const text = (field: string | undefined): string | undefined => {
    const value = field === undefined ? undefined : fields[field];
    return typeof value === 'string' && value.length <= MAX_ID ? value : undefined;
  };
  const ownerId = text(spec.owner);
  if (spec.owner !== undefined && ownerId === undefined) return [];
  const named = { ownerId, agent_id: text(spec.agent), session_id: text(spec.session), state: spec.is ?? text(spec.state) };
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const change = (id: string | undefined): PageChanged => ({ what: spec.what ?? event, permission: spec.permission, ...(id === undefined ? {} : { id }), ...given });
  if (spec.ids === undefined) return [change(text(spec.id))];
  const ids = fields[spec.ids];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').map(change) : [];
};
