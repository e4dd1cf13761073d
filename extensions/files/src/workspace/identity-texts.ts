/**
 * What an agent's identity files say, as its model reads it after the system prompt.
 *
 * I1  What a person wrote through this daemon is read from the next message on; what came otherwise, within seconds.
 * I2  However many files there are and however long, what reaches the model is bounded, and says what was left out.
 * I3  A file that cannot be read takes nothing from the others.
 */
import { type Clock, type Dir, encodingOf, isSvcError, cacheRows, type Logger } from '@svc/api';
import { IDENTITY_FILES, identityPaths, MAX_IDENTITY_BYTES } from '@svc/ext-agents/contract';

const MAX_CHARS = 65_536;
/** HEARTBEAT.md says when an agent wakes by itself; a message is no waking. */
const READ = IDENTITY_FILES.filter((name) => name !== 'HEARTBEAT.md');

export interface IdentityTexts {
  /** Empty where the file does not exist. At once where it was read a moment ago. */
  of(agentId: string): string | Promise<string>;
  /** Somebody wrote to the workspace. */
  forget(agentId: string): void;
}

export interface IdentityTextsDeps {
  readonly workspaces: Dir;
  readonly clock: Clock;
  readonly log: Logger;
}

export const createIdentityTexts = (deps: IdentityTextsDeps): IdentityTexts => {
  const kept = cacheRows<string>(deps.clock);
  return {
    of: (agentId) => kept.read(agentId, () => textOf(deps, agentId)),
    forget: (agentId) => kept.changed(agentId),
  };
};

const textOf = async (deps: IdentityTextsDeps, agentId: string): Promise<string> => {
  if (!(await deps.workspaces.stat(agentId))) return '';
  const dir = deps.workspaces.dir(agentId);
  const said = await Promise.all(READ.map(async (name) => ({ name, text: await saidBy(deps, dir, name) })));
  const parts: string[] = [];
  let left = MAX_CHARS;
  for (const { name, text } of said) {
    if (text === undefined) continue;
    const fits = text.length <= left;
    parts.push(`## ${name}\n${fits ? text : `[omitted: together with the files above, it is longer than ${MAX_CHARS} characters]`}`);
    if (fits) left -= text.length;
  }
  return parts.join('\n\n');
};

/** Undefined: the file does not exist, or nothing in it. */
const saidBy = async ({ log }: IdentityTextsDeps, dir: Dir, name: string): Promise<string | undefined> => {
  for (const path of identityPaths(name)) {
    try {
      const found = await dir.stat(path);
      if (found?.kind !== 'file') continue;
      if (found.sizeBytes > MAX_IDENTITY_BYTES) return `[left out: it has ${found.sizeBytes} bytes, and such a file has at most ${MAX_IDENTITY_BYTES}]`;
      const bytes = await dir.read(path, { maxBytes: MAX_IDENTITY_BYTES });
      const text = new TextDecoder(encodingOf(bytes)).decode(bytes).trim();
      if (text !== '') return text;
    } catch (error) {
      // A link that leads out of the workspace, say, or a file that changes while it is read.
      if (!isSvcError(error)) throw error;
      log.warn('an identity file was not read', { path, error: error.message });
    }
  }
  return undefined;
};
