/**
 * Conversations of the source.
 *
 * S1  What was imported of a session stands in the commit of its entries: whoever goes on after a death goes on behind them.
 * S2  A second run brings the messages behind those. Where their beginning is another one by now, what is here stays.
 * S3  A session that was deleted here stays deleted, as long as its agent is here.
 */
import { createHash, type Hash } from 'node:crypto';
import { isSvcError, uuidOfDigest } from '@svc/api';
import type { RestoredSession } from '@svc/ext-sessions/contract';
import type { ItemRow } from '../contract.js';
import { reasonOf } from '../sources/files.js';
import type { SourceSession, TimedDraft } from '../sources/model.js';
import { BEGUN, type Outcome } from '../store.js';
import { chosen, type Import, itemOf, KNOWN, NOT_CHOSEN, settle, type Target } from './context.js';

const BATCH_ENTRIES = 800;
const BATCH_SESSIONS = 100;
const MAX_CHARS = 4_000_000;
const MAX_LABEL = 120;
const NAMED = 5;
const DELETED = 'it was deleted here';

interface Pending {
  readonly restored: RestoredSession[];
  readonly items: ItemRow[];
  readonly outcomes: Outcome[];
  entries: number;
  chars: number;
}

interface Known {
  readonly items: ReadonlyMap<string, ItemRow>;
  readonly done: ReadonlySet<string>;
  /** Messages that this import brought of a session before the daemon died. */
  readonly begun: ReadonlyMap<string, number>;
  /** Keys of sessions with their ids and conversations, as far as they were met. */
  readonly places: Map<string, { readonly id: string; readonly conversation: string }>;
}

const empty = (): Pending => ({ restored: [], items: [], outcomes: [], entries: 0, chars: 0 });

export const importSessions = async (run: Import): Promise<void> => {
  const known: Known = {
    items: await run.store.items(run.actor.ownerId, run.source.type, 'Session'),
    done: await run.store.done(run.id, 'Session'),
    begun: await run.store.begun(run.id),
    places: new Map(),
  };
  const pending = empty();
  const unread = { lines: 0, names: [] as string[] };
  for (const agent of run.source.agents) {
    const target = run.targets.get(agent.key);
    const refusal = run.options.import_sessions === false || !chosen(run, agent.name) ? NOT_CHOSEN : target === undefined ? 'its agent was not imported' : undefined;
    for await (const session of run.source.sessions(agent.key)) {
      run.alive();
      if (session.unread) {
        unread.lines += session.unread;
        unread.names.push(nameOf(session));
      }
      if (known.done.has(session.key) && !known.items.has(session.key)) continue;
      if (refusal === undefined && target) await importSession(run, known, pending, session, target);
      else pending.outcomes.push({ kind: 'Session', key: session.key, name: nameOf(session), imported: false, detail: refusal ?? NOT_CHOSEN });
      if (pending.restored.length + pending.outcomes.length >= BATCH_SESSIONS || pending.entries >= BATCH_ENTRIES) await flush(run, pending);
    }
  }
  await flush(run, pending);
  if (unread.lines > 0) run.warn(`Lines of logs that cannot be read, and are left out: ${unread.lines}, in ${unread.names.slice(0, NAMED).join(', ')}${unread.names.length > NAMED ? ' …' : ''}.`);
};

const nameOf = ({ label, key }: SourceSession): string => label ?? key;

const importSession = async (run: Import, known: Known, pending: Pending, session: SourceSession, target: Target): Promise<void> => {
  const item = sameAgent(known.items.get(session.key), target);
  const id =
    item?.target ??
    uuidOfDigest(
      createHash('sha256')
        .update(JSON.stringify([run.actor.ownerId, run.source.type, session.key, target.id, target.createdAt]))
        .digest('hex'),
    );
  const from = session.branch && known.places.get(session.branch.from);
  const place = { id, conversation: from?.conversation ?? id };
  if (known.done.has(session.key)) {
    known.places.set(session.key, place);
    return;
  }
  const outcome = (imported: boolean, detail: string, messages = 0, messagesImported = 0): Outcome => ({
    kind: 'Session',
    key: session.key,
    name: nameOf(session),
    imported,
    detail,
    messages,
    messagesImported,
  });
  // The rows that a second run goes on behind may wait with those that are not committed yet.
  if (item) await flush(run, pending);
  const newest = item && !run.isDry ? (await run.sessions.newestOf(run.actor, [id]))[id] : undefined;
  if (item && !run.isDry && newest === undefined) {
    pending.outcomes.push(outcome(false, DELETED));
    return;
  }
  const walk = new SessionWalk(run, pending, session, {
    id,
    target,
    item,
    after: newest ?? 0,
    before: known.begun.get(session.key) ?? 0,
    ...(from && session.branch ? { branch: { from: from.id, conversation: from.conversation, messages: session.branch.messages } } : {}),
  });
  try {
    await walk.all();
  } catch (error) {
    if (isSvcError(error) && error.status >= 500) throw error;
    run.alive();
    walk.drop();
    pending.outcomes.push(outcome(walk.imported > 0, `it could not be read to its end: ${reasonOf(error)}`, walk.counted, walk.imported));
    return;
  }
  known.places.set(session.key, place);
  if (walk.isChanged) pending.outcomes.push(outcome(false, 'its beginning was changed in the source since it was imported; what is here stays', walk.counted));
  else if (walk.imported > 0)
    pending.outcomes.push(outcome(true, `session ${id} of ${target.name}${item && item.messages > 0 ? `: ${walk.imported} more messages` : ''}`, walk.counted, walk.imported));
  else pending.outcomes.push(outcome(false, item ? KNOWN : 'it has no messages', walk.counted));
};

/** An agent that was deleted and imported anew has none of its sessions. */
const sameAgent = (item: ItemRow | undefined, target: Target): ItemRow | undefined => (item?.agent_id === target.id ? item : undefined);

interface Place {
  readonly id: string;
  readonly target: Target;
  readonly item: ItemRow | undefined;
  /** The newest entry that is here. */
  readonly after: number;
  /** Messages that this import brought before. */
  readonly before: number;
  readonly branch?: { readonly from: string; readonly conversation: string; readonly messages: number };
}

/** One session from its first message to its last. What it has gathered is committed with others, or in portions. */
class SessionWalk {
  /** Messages of the source, without those that it shares with another session. */
  counted = 0;
  imported = 0;
  isChanged = false;
  readonly #run: Import;
  readonly #pending: Pending;
  readonly #session: SourceSession;
  readonly #place: Place;
  readonly #hash: Hash = createHash('sha256');
  #read = 0;
  #after: number;
  #shared = 0;
  #entries: TimedDraft[] = [];

  constructor(run: Import, pending: Pending, session: SourceSession, place: Place) {
    this.#run = run;
    this.#pending = pending;
    this.#session = session;
    this.#place = place;
    this.#after = place.after;
    this.imported = place.before;
  }

  async all(): Promise<void> {
    const { item, branch } = this.#place;
    const known = item?.messages ?? 0;
    for await (const { entries } of this.#session.messages()) {
      this.#read += 1;
      const isShared = this.#read <= (branch?.messages ?? 0);
      if (!isShared) this.counted += 1;
      else this.#shared += entries.length;
      this.#hash.update(JSON.stringify(entries));
      if (this.#read === known && item && item.digest !== this.#digest()) this.isChanged = true;
      if (this.#read <= known || this.isChanged) continue;
      if (!isShared) this.imported += 1;
      this.#gather(entries);
      if (this.#run.isDry || isShared || (this.#pending.entries + this.#entries.length < BATCH_ENTRIES && this.#pending.chars < MAX_CHARS)) continue;
      this.#put();
      this.#pending.outcomes.push({ kind: 'Session', key: this.#session.key, name: nameOf(this.#session), imported: true, detail: BEGUN, messages: this.counted, messagesImported: this.imported });
      await flush(this.#run, this.#pending);
      this.#run.alive();
    }
    if (known > this.#read) this.isChanged = true;
    if (!this.isChanged && this.#entries.length > 0 && !this.#run.isDry) this.#put();
  }

  drop(): void {
    this.#entries = [];
  }

  #gather(entries: readonly TimedDraft[]): void {
    if (this.#run.isDry) return;
    this.#entries.push(...entries);
    for (const { content, parts } of entries)
      this.#pending.chars += (content?.length ?? 0) + (parts ?? []).reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.data.length), 0);
  }

  #put(): void {
    const { id, target, branch } = this.#place;
    const { label, createdAt, isArchived, isUnchosen } = this.#session;
    const { source } = this.#run;
    this.#pending.restored.push({
      id,
      agentId: target.id,
      label: labelOf(label),
      tags: ['imported', source.type],
      createdAt,
      ...(isArchived ? { isArchived } : {}),
      ...(isUnchosen && branch ? { isUnchosen } : {}),
      ...(branch ? { branch: { from: branch.from, conversation: branch.conversation, through: this.#shared } } : {}),
      after: this.#after,
      entries: this.#entries,
    });
    this.#pending.items.push(itemOf(this.#run, 'Session', this.#session.key, { agent_id: target.id, target: id, messages: this.#read, digest: this.#digest() }));
    this.#pending.entries += this.#entries.length;
    this.#after += this.#entries.length;
    this.#entries = [];
  }

  #digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** As labels are written here; anything else would be refused when somebody sends it back. */
const labelOf = (label: string | null): string | null => {
  const plain = (label ?? '')
    .replace(/[^\p{L}\p{M}\p{N} _-]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, MAX_LABEL)
    .trim();
  return plain === '' ? null : plain;
};

/** S1. */
const flush = async (run: Import, pending: Pending): Promise<void> => {
  const { restored, items, outcomes } = pending;
  Object.assign(pending, empty());
  if (restored.length === 0) return settle(run, outcomes, items);
  const writes = [...(await run.sessions.restore(run.actor, restored)), ...run.store.putItems(items), ...run.store.outcomes(run.actor.ownerId, run.id, outcomes)];
  try {
    await run.db.commit(writes);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
    await flushEach(run, { restored, items, outcomes });
  }
  await run.clock.sleep(0);
};

/** One of them is not as it was a moment ago: each by itself. */
const flushEach = async (run: Import, { restored, items, outcomes }: Pick<Pending, 'restored' | 'items' | 'outcomes'>): Promise<void> => {
  const lost = new Set<string>();
  for (const session of restored) {
    const own = items.filter(({ target }) => target === session.id);
    try {
      await run.db.commit([...(await run.sessions.restore(run.actor, [session])), ...run.store.putItems(own)]);
    } catch (error) {
      if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
      for (const { key } of own) lost.add(key);
    }
  }
  await settle(
    run,
    outcomes.map((outcome) =>
      outcome.kind === 'Session' && lost.has(outcome.key) ? { ...outcome, imported: false, messagesImported: 0, detail: `${DELETED}, or somebody wrote in it meanwhile` } : outcome,
    ),
  );
};
