/**
 * Signed checkpoints of the log, in the database and in files of the data folder.
 *
 * K1  A checkpoint covers what is committed. It is in a file, on the disk, before it is in the database.
 * K2  One is signed after so many entries, every few minutes while there are new ones, and at each stop.
 * K3  A witness is asked afterwards; without it the checkpoint stands all the same, and the doctor says so.
 */
import type { ExtensionContext } from '@svc/api';
import type { AuditConfig } from './config.js';
import { consistencyProof, tilesFor } from './format/merkle.js';
import { checkpointText, isSignedBy, keyIdOf, openNote, signedNote, splitNotes } from './format/note.js';
import type { AuditStore } from './store.js';
import type { CheckpointRow } from './tables.js';
import { treeHead, treePart } from './tree.js';

export interface CheckpointDeps {
  readonly ctx: Pick<ExtensionContext, 'clock' | 'secrets' | 'fetch' | 'log'> & { readonly files: Pick<ExtensionContext['files'], 'data'> };
  readonly store: AuditStore;
  readonly settings: () => AuditConfig;
}

export interface CheckpointState {
  /** Why the last one could not be signed; undefined when it could. */
  readonly problem: string | undefined;
  /** Of the witness; undefined when there is none, or it answered. */
  readonly witnessProblem: string | undefined;
  readonly size: number;
  readonly at: string | undefined;
}

export interface CheckpointService {
  /** Signs what is new. `why` decides how new it has to be. */
  sign(why: 'entries' | 'time' | 'stop'): Promise<void>;
  state(): CheckpointState;
}

export const SIGNING_KEY = 'audit.signing-key';
export const CHECKPOINT_FOLDER = 'checkpoints';
const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const WITNESS_TIMEOUT_MS = 10_000;

/** Names the log by its first entry: a log that is written anew has another name. */
const originOf = (firstHash: string): string => `svc/audit/${firstHash.slice(0, 16)}`;

export const createCheckpoints = (deps: CheckpointDeps): CheckpointService => {
  const { ctx, store, settings } = deps;
  let state: CheckpointState = { problem: undefined, witnessProblem: undefined, size: -1, at: undefined };
  let running: Promise<void> = Promise.resolve();
  const signNow = async (why: 'entries' | 'time' | 'stop'): Promise<void> => {
    const tip = await store.tip();
    const before = await store.newestCheckpoint();
    const size = before?.size ?? 0;
    state = { ...state, size, at: before?.at };
    if (tip.id <= size || (why === 'entries' && tip.id - size < settings().checkpoint_entries)) return;
    const row = await signed(deps, tip.id);
    state = { problem: undefined, witnessProblem: state.witnessProblem, size: row.size, at: row.at };
    const { witness_url: url } = settings();
    if (url === undefined || why === 'stop') return;
    try {
      const signature = await witnessed(deps, url, size, row);
      await store.addCheckpoint({ ...row, note: `${row.note}${signature}` });
      state = { ...state, witnessProblem: undefined };
    } catch (cause) {
      state = { ...state, witnessProblem: cause instanceof Error ? cause.message : String(cause) };
      ctx.log.warn('the witness of the audit log did not sign the checkpoint', { size: row.size, cause });
    }
  };
  return {
    state: () => state,
    sign: (why) => {
      running = running
        .then(() => signNow(why))
        .catch((cause: unknown) => {
          state = { ...state, problem: cause instanceof Error ? cause.message : String(cause) };
          ctx.log.error('the audit log could not be signed', { cause });
        });
      return running;
    },
  };
};

const signed = async ({ ctx, store }: CheckpointDeps, size: number): Promise<CheckpointRow> => {
  const { root, firstHash } = await treeHead(store, size);
  const origin = originOf(firstHash);
  const text = checkpointText({ origin, size, root });
  const made = await ctx.secrets.sign(SIGNING_KEY, Buffer.from(text));
  const note = signedNote(text, origin, made);
  const at = ctx.clock.iso();
  await appendNote(ctx.files.data, at, note);
  const row = { size, key_id: keyIdOf(origin, made.publicKey), public_key: Buffer.from(made.publicKey).toString('base64'), note, at };
  await store.addCheckpoint(row);
  return row;
};

type Data = ExtensionContext['files']['data'];

/** A file for each day, written whole each time: a crash leaves the old one or the new one. */
const appendNote = async (data: Data, at: string, note: string): Promise<void> => {
  const path = `${CHECKPOINT_FOLDER}/${at.slice(0, 10)}.txt`;
  const before = (await data.stat(path)) ? await data.readText(path, { maxBytes: MAX_FILE_BYTES }) : '';
  await data.write(path, before === '' ? note : `${before}\n${note}`, { mode: 0o600 });
};

/** What this daemon has signed and kept outside of the database, oldest first. */
export const fileNotes = async (data: Data): Promise<string[]> => {
  const notes: string[] = [];
  for (const { name, kind } of await data.list(CHECKPOINT_FOLDER, { limit: MAX_FILES }).catch(noFolder))
    if (kind === 'file' && name.endsWith('.txt')) notes.push(...splitNotes(await data.readText(`${CHECKPOINT_FOLDER}/${name}`, { maxBytes: MAX_FILE_BYTES })));
  return notes;
};

/** Nothing was signed yet. */
const noFolder = (error: unknown): [] => {
  if (error instanceof Error && 'code' in error && error.code === 'file_missing') return [];
  throw error;
};

/** C2SP tlog-witness: the size it should know, a proof from there, and the checkpoint. */
const witnessed = async ({ ctx, store }: CheckpointDeps, url: string, older: number, { size, note }: CheckpointRow): Promise<string> => {
  const proof = older === 0 ? [] : consistencyProof(await treePart(store, size, tilesFor(size, [older - 1, older])), older);
  const body = [`old ${older}`, ...proof.map((hash) => Buffer.from(hash).toString('base64')), '', note].join('\n');
  const answer = await ctx.fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, { purpose: 'webhook', method: 'POST', body, timeoutMs: WITNESS_TIMEOUT_MS, maxBytes: 10_000 });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the witness answered ${answer.status}${answer.status === 409 ? `: it knows another size, ${text.trim().slice(0, 20)}` : ''}`);
  if (!text.split('\n').every((one) => one === '' || one.startsWith('— '))) throw new Error('the witness answered something that is no signature');
  return text.endsWith('\n') ? text : `${text}\n`;
};

/** A vault that cannot be read says nothing of the log. */
export const isKeyStored = async ({ secrets }: Pick<ExtensionContext, 'secrets'>): Promise<boolean> => (await secrets.where({ secret: SIGNING_KEY }).catch(() => undefined)) !== undefined;

/** Whether a note is what the key that stands beside it has signed. */
export const isAuthentic = ({ note, public_key: key }: Pick<CheckpointRow, 'note' | 'public_key'>): boolean => {
  const open = openNote(note);
  return open !== undefined && isSignedBy(open, Buffer.from(key, 'base64'));
};
