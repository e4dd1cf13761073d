/** The daemons on this database as the grant `kernel` shows them. */
import type { ReplicasView } from '@svc/api';
import { journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { createStanding } from '@svc/platform/members/standing';
import { kernelTables } from '@svc/platform/storage/kernel-tables';
import type { PlatformParts } from '../parts.js';

export const replicasOf = async ({ bus, members, storage }: Pick<PlatformParts, 'bus' | 'members' | 'storage'>): Promise<ReplicasView> => {
  const standing = createStanding({ kernel: storage.dbFor(kernelTables), journal: storage.dbFor(journalOwner), nowSql: storage.nowSql });
  const [daemons, { held, listeners, relay, waiting }] = await Promise.all([members.list(), standing()]);
  const { carrier, isConnected, lostMs, peers, problem } = bus.state();
  return {
    isShared: storage.dialect === 'postgres',
    bus: { carrier, isConnected, problem: problem ?? null, lostMs: lostMs ?? null },
    daemons: daemons.map(({ id, isSelf, silentMs, ...daemon }) => ({
      ...daemon,
      id,
      isSelf,
      silentMs,
      isReached: isSelf || peers.includes(id),
      isRelaying: relay === id,
      runs: held.flatMap(({ holder, kind, runs }) => (holder === id ? [{ kind, count: runs }] : [])),
    })),
    waiting: { runs: waiting.runs, oldest: waiting.oldest ?? null },
    listeners,
  };
};
