/**
 * Secrets leave the environment of a process of ours as soon as it has read them.
 *
 * Whoever runs as the same user can read /proc/PID/environ, and so can every command that an agent runs.
 *
 * E1  After `takeEnvironment` no secret stands in the process's own environment, nor in what the system shows of it.
 * E2  A process of ours that needs them gets them on a pipe, never as variables.
 * E3  Where the system's copy cannot be overwritten, that is said; nobody takes it for done.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { isTextTable } from '@svc/api';
import { isSecretVariable } from '../../adapters/child/child-environment.js';
import { configErrors } from '../errors.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Names the descriptor on which a process of ours gets its secrets. */
const HANDED_ON = 'SVC_HANDED_ON_FD';
const PIPE = 3;
const ENV_START = 50;
const ENV_END = 51;
const MAX_ANCESTORS = 32;

export interface TakenEnvironment {
  /** All of it, with what was handed over. */
  readonly env: Env;
  /** Names that the system still shows, or may show. */
  readonly exposed: readonly string[];
  /** The secrets came on a pipe. */
  readonly isHandedOver: boolean;
}

/** Reads the whole environment and takes the secrets out of `process.env` and out of the system's copy. */
export const takeEnvironment = (): TakenEnvironment => {
  const descriptor = process.env[HANDED_ON];
  delete process.env[HANDED_ON];
  const names = secretNames(process.env);
  const env = Object.freeze({ ...process.env, ...(descriptor === undefined ? {} : handedOver(Number(descriptor))) });
  for (const name of names) delete process.env[name];
  return { env, exposed: overwrite(names), isHandedOver: descriptor !== undefined };
};

/** The names of the variables that are, or hold, a secret. */
export const secretNames = (env: Env): string[] => Object.keys(env).filter((name) => isSecretVariable(name, env[name] ?? ''));

export interface HandOver {
  /** For a program of ours that calls `takeEnvironment`: no secrets, and where they will be. */
  readonly env: Env;
  /** Put after the first three streams of the child; empty when there is nothing to hide. */
  readonly pipes: readonly 'pipe'[];
  /** Call once the child is there. */
  send(child: { readonly stdio: ReadonlyArray<unknown> }): void;
}

export const handOver = (env: Env): HandOver => {
  const names = new Set(secretNames(env));
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
  if (names.size === 0) return { env: plain, pipes: [], send: () => undefined };
  const secrets = JSON.stringify(Object.fromEntries([...names].map((name) => [name, env[name]])));
  return {
    env: { ...plain, [HANDED_ON]: String(PIPE) },
    pipes: ['pipe'],
    send: ({ stdio }) => {
      const pipe = stdio[PIPE] as Writable | undefined; // made by 'pipe' above; absent when the spawn failed
      // A program that ends before it has read them says by its exit what there is to say.
      pipe?.on('error', () => undefined);
      pipe?.end(secrets);
    },
  };
};

const handedOver = (descriptor: number): Record<string, string> => {
  try {
    const text = readFileSync(descriptor, 'utf8');
    closeSync(descriptor);
    // Our own spawn wrote it, as a whole or not at all.
    const secrets: unknown = JSON.parse(text);
    if (!isTextTable(secrets)) throw new TypeError('these are no variables');
    return secrets;
  } catch (cause) {
    throw configErrors.secrets_cut_off().with({ cause });
  }
};

/** Fills each secret in the system's copy with zeros. Answers with the names that are, or may be, still there. */
const overwrite = (names: readonly string[]): readonly string[] => {
  const before = shown();
  if (before === undefined) return names;
  const secrets = before.filter((entry) => isSecretVariable(entry.name, entry.value));
  if (secrets.length === 0) return [];
  try {
    const start = blockStart();
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (const { offset, bytes } of secrets) writeSync(memory, Buffer.alloc(bytes), 0, bytes, start + offset);
    } finally {
      closeSync(memory);
    }
  } catch {
    // Refused by the system: what is shown now tells.
  }
  return (shown() ?? secrets).filter((entry) => isSecretVariable(entry.name, entry.value)).map((entry) => entry.name);
};

interface Shown {
  readonly name: string;
  readonly value: string;
  readonly offset: number;
  readonly bytes: number;
}

/** What the system shows of this process's environment; undefined where it has no such file. */
const shown = (): Shown[] | undefined => {
  try {
    return entriesOf(readFileSync('/proc/self/environ', 'latin1'));
  } catch {
    return undefined; // no /proc: macOS shows it by other ways
  }
};

/** One character per byte, so that offsets are those of the block. */
const entriesOf = (block: string): Shown[] => {
  const entries: Shown[] = [];
  let offset = 0;
  for (const entry of block.split('\0')) {
    const equals = entry.indexOf('=');
    if (equals > 0) entries.push({ name: entry.slice(0, equals), value: entry.slice(equals + 1), offset, bytes: entry.length });
    offset += entry.length + 1;
  }
  return entries;
};

/** Where the block begins in memory (proc_pid_stat(5), fields env_start and env_end). */
const blockStart = (): number => {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The second field, the program's name, may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [ENV_START, ENV_END].map((number) => Number(fields[number - 3]));
  if (!start || !end || end <= start) throw new Error('no environment block');
  return start;
};

/** A process above this one whose environment shows secrets of ours to whoever runs as this user. */
export interface ShownByAncestor {
  readonly pid: number;
  readonly command: string;
  readonly names: readonly string[];
}

/** Looks at those who started this process: npm, a shell, a supervisor. Linux only; elsewhere nothing is found. */
export const shownByAncestors = async (env: Env): Promise<ShownByAncestor[]> => {
  const ours = new Set(secretNames(env));
  const found: ShownByAncestor[] = [];
  let pid = process.ppid;
  for (let level = 0; pid > 0 && level < MAX_ANCESTORS; level++) {
    const stat = await textOf(`/proc/${pid}/stat`);
    const block = await textOf(`/proc/${pid}/environ`);
    const names = entriesOf(block ?? '').flatMap((entry) => (ours.has(entry.name) && Buffer.from(entry.value, 'latin1').toString() === env[entry.name] ? [entry.name] : []));
    if (names.length > 0) found.push({ pid, command: /\((.*)\)/s.exec(stat ?? '')?.[1] ?? '', names });
    pid = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
  }
  return found;
};

/** Undefined for what is not there, or another user's: others cannot read it either. */
const textOf = async (path: string): Promise<string | undefined> => readFile(path, 'latin1').catch(() => undefined);
