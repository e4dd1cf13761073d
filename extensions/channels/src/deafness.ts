/**
 * Channels that do not receive any more, though they are set up.
 *
 * C4  Where a platform that answered before has been silent for over a minute, or refuses svc for as long, the owner of the channel gets one notice for
 *     that outage, with the cause and what to do.
 */
import type { Actors, Clock, Logger, OptionalHandle } from '@svc/api';
import type { NoticesService } from '@svc/ext-notices/contract';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import type { Bindings } from './bindings.js';
import type { Supervisor } from './supervisor.js';

const SILENT_MS = 70_000;

export interface DeafnessDeps {
  readonly accounts: Pick<Accounts, 'all' | 'adapterOf'>;
  readonly supervisor: Pick<Supervisor, 'standing'>;
  readonly bindings: Pick<Bindings, 'agentFor'>;
  readonly notices: OptionalHandle<NoticesService>;
  readonly actors: Pick<Actors, 'of'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** Looks at all channels once. */
export const createDeafness = ({ accounts, supervisor, bindings, notices, actors, clock, log }: DeafnessDeps): (() => Promise<void>) => {
  /** The outage of each channel that there was a notice about. */
  const said = new Map<string, string>();
  const look = async (account: Account): Promise<void> => {
    const { state, answeredAt, problem, fix } = await supervisor.standing(account, accounts.adapterOf(account.name));
    if (state === 'connected' || state === 'listening' || answeredAt === null || clock.now() - Date.parse(answeredAt) < SILENT_MS) return;
    if (said.get(account.name) === answeredAt) return;
    const agent = await bindings.agentFor(account, { chat: '', sender: '' }, undefined);
    const served = notices.value;
    if (!agent || !served) return;
    // The last answer names the outage, so that several daemons write one notice.
    await served.send(actors.of(agent.ownerId), {
      agentId: agent.id,
      key: `channel-silent:${account.name}:${answeredAt}`,
      reason: 'A channel receives nothing',
      summary:
        `The channel ${account.name} has received nothing since ${answeredAt}${problem === null ? '' : `: ${problem}`}. ${fix ?? ''} \`svc channels test ${account.name}\` asks the platform.`.slice(
          0,
          1_000,
        ),
    });
    said.set(account.name, answeredAt);
  };
  return async () => {
    for (const account of await accounts.all()) await look(account).catch((cause: unknown) => log.warn('Nobody could be given a notice about a channel.', { channel: account.name, cause }));
  };
};
