/**
 * The inbox folder: text files that become messages.
 *
 * I1  A file is one message, also after a crash between the message and the move: its name, time and content are the key of the run.
 * I2  A file is taken when it has not changed since the look before: half a file is no message.
 * I3  What is too large, or is no text, or names no agent stays where it is, and the status says why.
 * I4  Text of a file is no slash command, and has the label ExternalNetwork.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Dir, type DirEntry, isSvcError, type Logger } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { InboxConfig } from './config.js';
import { inboxErrors } from './errors.js';

export interface FolderDeps {
  readonly dir: Dir;
  readonly owner: Actor;
  readonly log: Logger;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'submit'>;
  settings(): InboxConfig;
}

export interface Folder {
  /** Takes what is there. Answers how many files became messages. */
  look(): Promise<number>;
  status(): Promise<{ readonly pending: number; readonly processed: number; readonly skipped: readonly Skipped[] }>;
}

export interface Skipped {
  readonly name: string;
  readonly reason: string;
}

export const PROCESSED = 'processed';
const MAX_BYTES = 1_048_576;
const MAX_FILES = 1_000;
const AT_ONCE = 50;
const AGENT = /^agent:[ \t]*(.{1,256}?)[ \t]*(?:\r?\n|$)/;

export const createFolder = (deps: FolderDeps): Folder => {
  let before = new Map<string, string>();
  let skipped = new Map<string, Skipped & { readonly version: string }>();
  const { dir } = deps;
  const waiting = async (): Promise<DirEntry[]> => (await dir.list('', { limit: MAX_FILES })).filter(({ kind, name }) => kind === 'file' && !name.startsWith('.'));
  const refuse = (file: DirEntry, reason: string): void => {
    const version = versionOf(file);
    if (skipped.get(file.name)?.version === version) return;
    skipped.set(file.name, { name: file.name, reason, version });
    deps.log.warn('A file in the inbox was left.', { file: file.name, reason });
  };
  const take = async (file: DirEntry): Promise<boolean> => {
    if (file.sizeBytes > MAX_BYTES) return refused(`it has ${file.sizeBytes} bytes; ${MAX_BYTES} at most`);
    const bytes = await dir.read(file.name, { maxBytes: MAX_BYTES });
    const text = textOf(bytes);
    if (text === undefined) return refused('it is no text in UTF-8');
    try {
      if (text.trim() !== '') await send(deps, file, text, bytes);
    } catch (error) {
      if (!isSvcError(error)) throw error;
      return refused(error.message);
    }
    await dir.write(`${PROCESSED}/${file.name}`, bytes, { noLinks: true });
    await dir.remove(file.name);
    skipped.delete(file.name);
    return text.trim() !== '';
    function refused(reason: string): false {
      refuse(file, reason);
      return false;
    }
  };
  return {
    look: async () => {
      const files = await waiting();
      const now = new Map(files.map((file) => [file.name, versionOf(file)]));
      skipped = new Map([...skipped].filter(([name]) => now.has(name)));
      const still = files.filter((file) => before.get(file.name) === versionOf(file)).slice(0, AT_ONCE);
      before = now;
      let taken = 0;
      for (const file of still) if (await take(file)) taken += 1;
      return taken;
    },
    status: async () => {
      const files = await waiting();
      const processed = (await dir.stat(PROCESSED)) === undefined ? [] : await dir.list(PROCESSED, { limit: MAX_FILES });
      const left = files.flatMap(({ name }) => skipped.get(name) ?? []).map(({ name, reason }) => ({ name, reason }));
      return { pending: files.length - left.length, processed: processed.length, skipped: left };
    },
  };
};

const versionOf = ({ sizeBytes, changedAt }: DirEntry): string => `${sizeBytes}|${changedAt}`;

/** Undefined for what is no text. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined; // no UTF-8
  }
};

const send = async ({ agents, runs, owner, settings }: FolderDeps, file: DirEntry, text: string, bytes: Uint8Array): Promise<void> => {
  const first = AGENT.exec(text);
  const named = first?.[1] ?? settings().default_agent ?? '';
  const agent = named === '' ? undefined : await agents.find(owner, named);
  if (!agent) throw inboxErrors.no_agent(named);
  const content = createHash('sha256').update(bytes).digest('hex');
  await runs.submit(owner, {
    agentId: agent.id,
    parts: [{ type: 'text', text: first ? text.slice(first[0].length) : text }],
    door: 'internal',
    via: { channel: 'inbox' },
    // Nobody waits for its answer: where there is no room, it waits.
    isPatient: true,
    key: `inbox:${createHash('sha256').update(`${file.name}|${file.modifiedAt}|${content}`).digest('hex')}`,
    cause: { kind: 'channel', id: 'inbox' },
    origin: { labels: ['ExternalNetwork'], source: 'a file in the inbox' },
  });
};
