/**
 * The one writer of the chain.
 *
 * C1  Facts become entries in the order in which the relay hands them on; a fact that comes again is entered once.
 * C2  One daemon of those on a database is given facts. Two that write at once anyway cannot fork the chain: ids and
 *     previous hashes are unique, so one of them fails and goes on behind the other.
 * C3  Personal details are beside the chain, which holds a salted hash of them. A fact whose owner was erased while it
 *     waited has none.
 */
import { type AuditFact, type ExtensionContext, isSvcError, type Write } from '@svc/api';
import { commitmentOf, hashOf, NO_AGENT, sortedJson, textOf } from './format/entry.js';
import { KEPT } from './format/erasures.js';
import { TILE } from './format/merkle.js';
import type { AuditStore, NewEntry, Tip } from './store.js';

export interface ChainDeps {
  readonly store: AuditStore;
  readonly ids: Pick<ExtensionContext['ids'], 'hex'>;
  /** Commits with the entries that they were made. */
  readonly entered: () => readonly Write[];
}

export interface Chain {
  enter(facts: readonly AuditFact[]): Promise<void>;
  /** Enters how many facts were deleted before they could be: those between two numbers of the relay. */
  enterLoss(fact: AuditFact, after: number, before: number): Promise<void>;
  /** When what is being entered is. Never rejects. */
  settled(): Promise<void>;
  /** As far as this daemon has written or seen it; undefined before. */
  seen(): Tip | undefined;
}

const SALT_BYTES = 16;
/** The owner of a fact that the kernel has taken the person out of. */
const ERASED = '';
const MAX_RACES = 8;

export const createChain = (deps: ChainDeps): Chain => {
  const { store } = deps;
  let tip: Tip | undefined;
  let entering: Promise<void> = Promise.resolve();
  const append = async (facts: readonly AuditFact[]): Promise<void> => {
    const [isFirst, before] = [tip === undefined, tip ?? (await store.tip())];
    const entries = chained(deps, before, facts);
    if (entries.length > 0) await store.append(entries, deps.entered());
    const last = entries.at(-1) ?? before;
    tip = { id: last.id, hash: last.hash };
    // The first time there may be some that a failure or the end of the daemon has left.
    if (isFirst || Math.floor(before.id / TILE) !== Math.floor(tip.id / TILE)) await store.seal(tip);
  };
  const enter = async (facts: readonly AuditFact[]): Promise<void> => {
    for (let races = 0; ; races += 1) {
      try {
        // After a failure nobody knows how much of it was written.
        const known = races === 0 && tip ? new Set<string>() : await store.known(facts.map(({ id }) => id));
        return await append(facts.filter(({ id }) => !known.has(id)));
      } catch (error) {
        tip = undefined;
        if (races >= MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
      }
    }
  };
  const start = (facts: readonly AuditFact[]): Promise<void> => {
    const done = enter(facts);
    entering = done.catch(() => undefined); // the relay hears of it and hands the facts on again
    return done;
  };
  return {
    seen: () => tip,
    settled: () => entering,
    // By its numbers, so that a loss that is told again is entered once.
    enterLoss: (fact, after, before) => start([{ ...fact, id: `lost-${after}-${before}` }]),
    enter: start,
  };
};

const chained = ({ ids }: ChainDeps, tip: Tip, facts: readonly AuditFact[]): NewEntry[] => {
  let { id, hash: prev } = tip;
  return facts.map((fact) => {
    const detail = sortedJson(fact.personal);
    const salt = ids.hex(SALT_BYTES);
    id += 1;
    const fields = {
      id,
      prev_hash: prev,
      timestamp: line(fact.at),
      event_type: line(fact.type),
      agent_id: fact.agentId === '' ? NO_AGENT : line(fact.agentId),
      details: sortedJson({ ...fact.details, outcome: fact.outcome, personal: commitmentOf(salt, detail), [KEPT]: fact.ownerId !== ERASED }),
    };
    const body = textOf(fields);
    prev = hashOf(body);
    return { ...fields, source: fact.id, body, hash: prev, personal: fact.ownerId === ERASED ? undefined : { owner_id: fact.ownerId, salt, detail } };
  });
};

/** Texts of entries are joined by line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it takes out
const line = (value: string): string => value.replaceAll(/[\u0000-\u001f\u2028\u2029]/g, ' ');
