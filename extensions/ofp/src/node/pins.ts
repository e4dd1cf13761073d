/**
 * Rows of the daemons that were met: a node id stays with the first key that it came with.
 *
 * P1  Of two keys that come at once for a new id, one is stored, and the other is refused.
 * P2  Who once had a key does not come without one.
 */
import { type Actor, type ExtensionContext, isSvcError, type Logger } from '@svc/api';
import type { PeerRow } from '../contract.js';
import { legible } from './legible.js';

const TABLE = 'peers';
const CAP = 100_000;
const MAX_SHOWN = 1_000;
/** Longer ids are no keys of rows; they are pinned in memory. */
const MAX_ID = 256;
const MAX_NAME = 200;
const MAX_LONG_IDS = 1_000;
/** Whose rows they are: the network is the operator's. */
const OWNER = 'owner';

interface Met {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly publicKey: string | undefined;
}

export interface Pins {
  /** Why the key is not to be believed. */
  pin(met: Met): Promise<string | undefined>;
  /** Where it was reached, and when. */
  seen(nodeId: string, address: string): Promise<void>;
  list(actor: Actor): Promise<PeerRow[]>;
  find(actor: Actor, nodeId: string): Promise<PeerRow | undefined>;
  counts(): Promise<{ readonly all: number; readonly pinned: number }>;
}

const faultOf = (known: string | null | undefined, publicKey: string | undefined): string | undefined => {
  if (known === null || known === undefined || known === publicKey) return undefined;
  return publicKey === undefined ? 'it was known by a key before, and now comes without one' : 'TOFU pin mismatch: it was known by another key before';
};

export const createPins = ({ db, clock, log }: Pick<ExtensionContext, 'db' | 'clock'> & { readonly log: Logger }): Pins => {
  const system = db.system('peers that were met');
  /** In the order in which they came; the oldest gives way. */
  const longIds = new Map<string, string | undefined>();
  const pinLong = ({ nodeId, publicKey }: Met): string | undefined => {
    const fault = faultOf(longIds.get(nodeId), publicKey);
    if (fault === undefined && !longIds.has(nodeId)) {
      if (longIds.size >= MAX_LONG_IDS) return 'too many peers have an id this long';
      longIds.set(nodeId, publicKey);
    }
    return fault;
  };
  const rowOf = (nodeId: string) => system.first<PeerRow>({ from: TABLE, where: { node_id: nodeId } });
  const pin = async ({ nodeId, nodeName, publicKey }: Met, isAgain = false): Promise<string | undefined> => {
    const known = await rowOf(nodeId);
    const now = clock.iso();
    const facts = { node_name: legible(nodeName, MAX_NAME), last_seen: now };
    if (known) {
      const fault = faultOf(known.public_key, publicKey);
      if (fault !== undefined) return fault;
      // Only while it has no key: of two that come at once, one is too late.
      const isFirstKey = known.public_key === null && publicKey !== undefined;
      await db.commit([db.update(TABLE, ['node_id'], [{ node_id: nodeId, ...facts, ...(isFirstKey ? { public_key: publicKey } : {}) }])]);
      return isFirstKey ? faultOf((await rowOf(nodeId))?.public_key, publicKey) : undefined;
    }
    if ((await system.count(TABLE, {})) >= CAP) return `${CAP} peers are known, and no more are stored`;
    try {
      await db.commit([db.insert(TABLE, [{ node_id: nodeId, owner_id: OWNER, ...facts, public_key: publicKey ?? null, address: null, first_seen: now }])]);
      return undefined;
    } catch (error) {
      if (isAgain || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
      return pin({ nodeId, nodeName, publicKey }, true);
    }
  };
  return {
    pin: (met) => (met.nodeId.length > MAX_ID ? Promise.resolve(pinLong(met)) : pin(met)),
    seen: async (nodeId, address) => {
      if (nodeId.length > MAX_ID) return;
      await db
        .commit([db.update(TABLE, ['node_id'], [{ node_id: nodeId, address, last_seen: clock.iso() }])])
        .catch((cause: unknown) => log.warn('when a peer was last seen could not be stored', { peer: nodeId, cause }));
    },
    list: (actor) => db.as(actor).select<PeerRow>({ from: TABLE, order: [{ column: 'last_seen', descending: true }], limit: MAX_SHOWN }),
    find: (actor, nodeId) => db.as(actor).first<PeerRow>({ from: TABLE, where: { node_id: nodeId } }),
    counts: async () => ({ all: await system.count(TABLE, {}), pinned: await system.count(TABLE, { public_key: { not: null } }) }),
  };
};
