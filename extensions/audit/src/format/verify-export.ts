/** Verifies an export by itself: nothing of the daemon is asked. */
import { commitmentOf, fieldsOf, GENESIS, hashOf, isNext } from './entry.js';
import { explanationIn, missingIn, type Explanation, type Missing, unexplained } from './erasures.js';
import { createPeaks, leafOf, rootOf, TILE } from './merkle.js';
import { isSignedBy, openNote } from './note.js';

export interface ExportVerdict {
  readonly entries: number;
  readonly trimmed: number;
  /** Personal details that are in the file; all others were erased or trimmed. */
  readonly details: number;
  readonly checkpoints: number;
  /** Entries that a checkpoint covers. */
  readonly covered: number;
  /** Public keys that signed checkpoints: compare them with those that you wrote down. */
  readonly keys: readonly string[];
  /** One sentence each; none where the file is what was written. At most 100. */
  readonly problems: readonly string[];
}

type Line = Readonly<Record<string, unknown>>;

const MAX_PROBLEMS = 100;
const SPKI_OFFSET = 1;

export const verifyExport = async (lines: AsyncIterable<string>): Promise<ExportVerdict> => {
  const problems: string[] = [];
  const note = (problem: string): void => void (problems.length < MAX_PROBLEMS && problems.push(problem));
  const roots = createRoots();
  let [trimmed, details, checkpoints, covered] = [0, 0, 0, 0];
  const keys = new Set<string>();
  const missing: Missing[] = [];
  const explanations: Explanation[] = [];
  let prev = GENESIS;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const line = parsed(text);
    if (!line || (number === 1) !== 'format' in line) note(`Line ${number} is none of an export of svc.`);
    else if ('checkpoint' in line) {
      checkpoints += 1;
      keys.add(String(line.key));
      const { size, problem } = claimFault(line, roots);
      covered = Math.max(covered, problem === undefined ? size : 0);
      if (problem !== undefined) note(problem);
    } else if (!('format' in line)) {
      const id = roots.size() + 1;
      const hash = String(line.hash);
      for (const problem of entryFaults(line, id, prev)) note(problem);
      if (line.body === null) trimmed += 1;
      if ('detail' in line) details += 1;
      if (typeof line.body === 'string') {
        const [lost, explanation] = ['detail' in line ? undefined : missingIn(id, line.body), explanationIn(line.body)];
        if (lost) missing.push(lost);
        if (explanation) explanations.push(explanation);
      }
      roots.add(hash);
      prev = hash;
    }
  }
  for (const { id } of unexplained(missing, explanations)) note(`The personal details of entry ${id} are missing, and no erasure explains it.`);
  if (number === 0) note('The file is empty.');
  return { entries: roots.size(), trimmed, details, checkpoints, covered, keys: [...keys], problems };
};

const entryFaults = ({ id: said, hash, body, salt, detail }: Line, id: number, prev: string): string[] => {
  if (said !== id) return [`Entry ${String(said)} stands where entry ${id} belongs.`];
  if (typeof body !== 'string') return [];
  const facts = parsed(fieldsOf(body)?.details ?? '');
  return [
    ...(isNext(body, id, prev) ? [] : [`Entry ${id} does not continue the one before it.`]),
    ...(hashOf(body) === hash ? [] : [`The content of entry ${id} is not what was hashed.`]),
    ...(detail === undefined || facts?.personal === commitmentOf(String(salt), String(detail)) ? [] : [`The personal details of entry ${id} are not those that were hashed.`]),
  ];
};

const claimFault = ({ checkpoint, key }: Line, roots: Roots): { size: number; problem: string | undefined } => {
  const open = openNote(String(checkpoint));
  const publicKey = Buffer.from(String(key).split('+').slice(2).join('+'), 'base64').subarray(SPKI_OFFSET);
  if (!open || publicKey.length !== 32) return { size: 0, problem: 'A checkpoint cannot be read.' };
  const { size, root } = open.checkpoint;
  if (!isSignedBy(open, publicKey)) return { size, problem: `The signature of the checkpoint of ${size} entries is wrong.` };
  if (size > roots.size()) return { size, problem: `A checkpoint covers ${size} entries, and there are ${roots.size()}: entries were removed from the end.` };
  return { size, problem: Buffer.compare(roots.of(size), root) === 0 ? undefined : `The first ${size} entries are not those that the checkpoint was signed over.` };
};

interface Roots {
  add(hash: string): void;
  size(): number;
  /** The root over the first entries. */
  of(size: number): Uint8Array;
}

/** Checkpoints follow the entries in the file: leaves are held as 32 bytes each until then. */
const createRoots = (): Roots => {
  const leaves: Buffer[] = [];
  const tiles: Uint8Array[] = [];
  return {
    add: (hash) => {
      leaves.push(leafOf(hash));
      if (leaves.length % TILE === 0) tiles.push(rootOf(leaves.slice(-TILE)));
    },
    size: () => leaves.length,
    of: (size) => {
      const whole = Math.floor(size / TILE);
      const peaks = createPeaks();
      for (const tile of tiles.slice(0, whole)) peaks.add(tile);
      return peaks.rootWith(size % TILE === 0 ? undefined : rootOf(leaves.slice(whole * TILE, size)));
    },
  };
};

const parsed = (text: string): Line | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};
