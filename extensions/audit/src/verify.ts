/**
 * Is the trail what was written?
 *
 * V1  Every entry is hashed again and stands behind the one before it. Pieces of the chain go to the worker threads.
 * V2  Every checkpoint, of the database and of the files beside it, has the root of what is stored now and a valid signature.
 *     So a chain that was computed anew, or cut, does not pass.
 * V3  What was trimmed is verified by its hashes alone.
 * V4  Personal details are those that were hashed. Where they are missing, the chain says that they were erased or trimmed.
 * V5  A log without an entry, whose key was used, was emptied.
 */
import type { ExtensionContext } from '@svc/api';
import { fieldsOf, GENESIS } from './format/entry.js';
import { type Explanation, MISSING, type Missing, unexplained } from './format/erasures.js';
import { createPeaks, TILE, type Peaks } from './format/merkle.js';
import { openNote, isSignedBy, keyIdOf } from './format/note.js';
import { fileNotes } from './checkpoints.js';
import { type AuditStore, hashAt, type Tip } from './store.js';
import type { CheckpointRow, EntryRow, SegmentRow } from './tables.js';
import { type Broken, Verify, VerifyBeside, type VerifyInput, type VerifyOutput } from './workers/verify-worker.js';

export interface VerifyDeps {
  readonly store: AuditStore;
  readonly workers: ExtensionContext['workers'];
  readonly data: ExtensionContext['files']['data'];
  /** What this process knows to be written. */
  readonly seen: () => Tip | undefined;
  /** Whether the key that signs checkpoints is stored. */
  readonly hasKey: () => Promise<boolean>;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Verdict {
  readonly chain_length: number;
  readonly first_entry: string | null;
  readonly last_entry: string | null;
  readonly broken: readonly Broken[];
  /** What is wrong with the log as a whole, a sentence each. */
  readonly problems: readonly string[];
  readonly checkpoints: number;
  /** Up to which entry a signed checkpoint covers the chain. */
  readonly covered: number;
  /** Entries of which only the hashes are stored. */
  readonly trimmed: number;
}

const SEGMENTS_AT_ONCE = 8;
const AT_ONCE = 12;
const MAX_BROKEN = 100;
/** In which a purge that deletes details also says so. */
const PURGE_MS = 2_000;

interface Claim {
  readonly where: 'database' | 'file';
  readonly size: number;
  readonly root: string;
}

type Piece = VerifyInput['segments'][number];
type Detail = NonNullable<Piece['details']>[number];

export const verifyChain = async (deps: VerifyDeps): Promise<Verdict> => {
  const verdict = await verifyOnce(deps);
  if (!verdict.broken.some(({ problem }) => problem === MISSING)) return verdict;
  await deps.sleep(PURGE_MS);
  return verifyOnce(deps);
};

const verifyOnce = async (deps: VerifyDeps): Promise<Verdict> => {
  const { store } = deps;
  const problems: string[] = [];
  const tip = deps.seen();
  const { claims, covered } = await readClaims(deps, problems);
  const walk = createWalk(deps, claims);
  let trimmed = 0;
  let firstBody: string | null = null;
  let tail: EntryRow[] = [];
  for (let from = 0, isOver = false; !isOver; ) {
    const rows = await store.segments(from, SEGMENTS_AT_ONCE);
    if (rows.length > 0) {
      trimmed += rows.filter(({ bodies }) => bodies === null).length * TILE;
      firstBody ??= rows.find(({ bodies }) => bodies !== null)?.bodies?.split('\n', 1)[0] ?? null;
      await walk.segments(rows, from);
      from = (rows.at(-1)?.n ?? from) + 1;
    } else {
      tail = await store.tail();
      // What was sealed since the last look is read as a segment.
      isOver = (await store.segments(from, 1)).length === 0;
    }
  }
  await walk.tail(tail.map(({ id, body, hash }) => ({ id, body: body ?? '', hash: hash ?? '' })));
  const { length, last, broken, roots } = await walk.end();
  problems.push(...(await wholeFaults(deps, tip, { length, last, trimmed })), ...claimFaults(claims, roots, length));
  const lastBody = tail.at(-1)?.body ?? (await store.segment(Math.floor((length - 1) / TILE)))?.bodies?.split('\n').at(-1) ?? null;
  const timeOf = (body: string | null | undefined): string | null => (body ? (fieldsOf(body)?.timestamp ?? null) : null);
  return {
    chain_length: length,
    first_entry: timeOf(firstBody ?? tail[0]?.body),
    last_entry: timeOf(lastBody),
    broken: broken.slice(0, MAX_BROKEN),
    problems,
    checkpoints: new Set(claims.map(({ size }) => size)).size,
    covered,
    trimmed,
  };
};

interface TailEntry {
  readonly id: number;
  readonly body: string;
  readonly hash: string;
}

/** Entries that follow each other without a gap. */
const runsOf = (rows: readonly TailEntry[]): Array<[TailEntry, ...TailEntry[]]> => {
  const runs: Array<[TailEntry, ...TailEntry[]]> = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.at(-1)?.id === row.id - 1) run.push(row);
    else runs.push([row]);
  }
  return runs;
};

interface Walk {
  segments(rows: readonly SegmentRow[], from: number): Promise<void>;
  tail(rows: readonly TailEntry[]): Promise<void>;
  end(): Promise<{ length: number; last: string; broken: readonly Broken[]; roots: ReadonlyMap<number, string> }>;
}

/** Hands pieces to the threads, a few at a time, and puts together what they say. */
const createWalk = ({ workers, store }: Pick<VerifyDeps, 'workers' | 'store'>, claims: readonly Claim[]): Walk => {
  const bySegment = new Map<number, Set<number>>();
  for (const { size } of claims) bySegment.set(Math.floor((size - 1) / TILE), (bySegment.get(Math.floor((size - 1) / TILE)) ?? new Set()).add(size));
  const cutsIn = (first: number, count: number): number[] => [...(bySegment.get(Math.floor((first - 1) / TILE)) ?? [])].filter((size) => size < first + count).map((size) => size - first + 1);
  const open = new Set<Promise<void>>();
  const broken: Broken[] = [];
  const missing: Missing[] = [];
  const explanations: Explanation[] = [];
  const roots = new Map<number, string>();
  const peaks = createPeaks();
  /** The root of what stands left of a segment, by the segment: of those that a checkpoint ends in. */
  const left = new Map<number, Peaks>();
  let length = 0;
  let last = GENESIS;
  let turn = 0;
  const failures: unknown[] = [];
  const give = async (input: VerifyInput): Promise<void> => {
    while (open.size >= AT_ONCE) await Promise.race(open);
    turn += 1;
    const task: Promise<void> = workers
      .run(turn % 2 === 0 ? Verify : VerifyBeside, input)
      .then((output: VerifyOutput) => {
        broken.push(...output.broken);
        missing.push(...output.missing);
        explanations.push(...output.explanations);
        for (const { size, root } of output.roots) roots.set(size, rooted(left.get(Math.floor((size - 1) / TILE)), root));
      })
      .catch((error: unknown) => void failures.push(error))
      .finally(() => open.delete(task));
    open.add(task);
  };
  return {
    segments: async (rows, from) => {
      const prev = last;
      const pieces: Piece[] = [];
      let expected = from;
      const details = await detailsOf(store, rows);
      for (const row of rows) {
        if (row.n !== expected) broken.push({ id: expected * TILE + 1, problem: `${(row.n - expected) * TILE} entries from here on are missing.` });
        const first = row.n * TILE + 1;
        const cuts = cutsIn(first, TILE);
        if (cuts.length > 0) left.set(row.n, peaks.copy());
        pieces.push({ first, bodies: row.bodies, hashes: row.hashes, cuts, ...(row.bodies === null ? {} : { details: details(first, first + TILE - 1) }) });
        peaks.add(Buffer.from(row.root, 'hex'));
        length = first + TILE - 1;
        last = hashAt(row, TILE - 1);
        expected = row.n + 1;
      }
      await give({ prev, segments: pieces });
    },
    tail: async (rows) => {
      for (const run of runsOf(rows)) {
        const first = run[0].id;
        const isBehind = first === length + 1;
        if (!isBehind) broken.push({ id: first, problem: 'The entry before it is missing.' });
        // Where one is missing no checkpoint behind it can be met.
        const cuts = isBehind ? cutsIn(first, run.length) : [];
        if (cuts.length > 0) left.set(Math.floor((first - 1) / TILE), peaks.copy());
        const prev = last;
        const details = await store.detailsBetween(first, run.at(-1)?.id ?? first);
        length = run.at(-1)?.id ?? length;
        last = run.at(-1)?.hash ?? last;
        await give({
          prev,
          segments: [
            {
              first,
              bodies: run.map(({ body }) => body).join('\n'),
              hashes: run.map(({ hash }) => hash.padEnd(64, ' ').slice(0, 64)).join(''),
              cuts,
              details: details.map(({ id, salt, detail }) => ({ id, salt, detail })),
            },
          ],
        });
      }
    },
    end: async () => {
      await Promise.all(open);
      if (failures.length > 0) throw failures[0];
      broken.push(...unexplained(missing, explanations).map(({ id }) => ({ id, problem: MISSING })));
      return { length, last, broken: broken.sort((a, b) => a.id - b.id), roots };
    },
  };
};

/** Of the entries of some segments, in one read. */
const detailsOf = async (store: AuditStore, rows: readonly SegmentRow[]): Promise<(first: number, last: number) => Detail[]> => {
  const whole = rows.filter(({ bodies }) => bodies !== null).map(({ n }) => n);
  const found = whole.length === 0 ? [] : await store.detailsBetween(Math.min(...whole) * TILE + 1, (Math.max(...whole) + 1) * TILE);
  return (first, last) => found.filter(({ id }) => id >= first && id <= last).map(({ id, salt, detail }) => ({ id, salt, detail }));
};

const rooted = (peaks: Peaks | undefined, part: string): string => Buffer.from((peaks ?? createPeaks()).rootWith(Buffer.from(part, 'hex'))).toString('hex');

/** Of the database and of the files; what is signed wrongly is a problem and claims nothing. */
const readClaims = async ({ store, data }: VerifyDeps, problems: string[]): Promise<{ claims: Claim[]; covered: number }> => {
  const rows = await store.checkpoints();
  const claims: Claim[] = [];
  const keys = new Map(rows.map(({ key_id: id, public_key: key }) => [id, Buffer.from(key, 'base64')]));
  const take = (note: string, where: Claim['where'], known: CheckpointRow | undefined): void => {
    const open = openNote(note);
    const key = open?.signatures.flatMap(({ keyId }) => keys.get(keyId) ?? [])[0];
    if (!open) problems.push(`A checkpoint in the ${where} cannot be read.`);
    else if (!key) problems.push(`The checkpoint of ${open.checkpoint.size} entries in the ${where} is signed with a key that the database does not know.`);
    else if (!isSignedBy(open, key) || (known && known.size !== open.checkpoint.size)) problems.push(`The signature of the checkpoint of ${open.checkpoint.size} entries in the ${where} is wrong.`);
    else claims.push({ where, size: open.checkpoint.size, root: Buffer.from(open.checkpoint.root).toString('hex') });
  };
  for (const row of rows) {
    const open = openNote(row.note);
    if (open && keyIdOf(open.checkpoint.origin, Buffer.from(row.public_key, 'base64')) !== row.key_id) problems.push(`The checkpoint of ${row.size} entries in the database names another key.`);
    else take(row.note, 'database', row);
  }
  const inFiles = await fileNotes(data);
  for (const note of inFiles) take(note, 'file', undefined);
  return { claims, covered: Math.max(0, ...claims.map(({ size }) => size)) };
};

const claimFaults = (claims: readonly Claim[], roots: ReadonlyMap<number, string>, length: number): string[] =>
  claims.flatMap(({ where, size, root }) => {
    if (size > length) return [`A checkpoint in the ${where} covers ${size} entries, and there are ${length}: entries were removed from the end.`];
    return roots.get(size) === root ? [] : [`The first ${size} entries are not those that a checkpoint in the ${where} was signed over.`];
  });

const wholeFaults = async ({ store, hasKey }: VerifyDeps, tip: Tip | undefined, { length, last, trimmed }: { length: number; last: string; trimmed: number }): Promise<string[]> => {
  const { count } = await store.indexed();
  return [
    ...(tip && (tip.id > length || (tip.id === length && tip.hash !== last)) ? [`This daemon has written ${tip.id} entries, and there are ${length}, or others: the end was changed.`] : []),
    ...(length === 0 && (await hasKey()) ? ['The log is empty, and the key that signs it was used: all entries were removed.'] : []),
    ...(count >= length - trimmed ? [] : [`The index of the log has ${count} of ${length - trimmed} entries.`]),
  ];
};
