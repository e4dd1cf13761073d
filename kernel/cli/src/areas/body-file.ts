/** The body of a call: the fields that were typed, on top of what `--file` holds. */
import { readFile } from 'node:fs/promises';
import type { ResolvedCommand } from '@svc/installer/commands';
import { errnoOf } from '@svc/platform/config/errno';
import { Failure, usageFailure } from '../failure.js';
import { readStdin, readStdinBytes } from '../terminal/stdin.js';
import { jsonOf, membersOf } from './input-values.js';

const MAX_BYTES = 64 * 1024 * 1024;

/** Undefined where nothing is sent. */
export const bodyFrom = async ({ args, body, flags, isBodyRequired }: ResolvedCommand, given: Readonly<Record<string, unknown>>, file: unknown): Promise<unknown> => {
  if (body === 'none') return undefined;
  const source = typeof file === 'string' ? file : undefined;
  if (body === 'bytes') return source === undefined ? undefined : source === '-' ? readStdinBytes(MAX_BYTES) : readBytes(source);
  const fields = [...args, ...flags].filter(({ from, name }) => from === 'body' && given[name] !== undefined);
  const typed = Object.fromEntries(fields.map(({ name }) => [name, given[name]]));
  const hasFields = [...args, ...flags].some(({ from }) => from === 'body');
  if (source === undefined) return fields.length > 0 || (isBodyRequired && hasFields) ? typed : undefined;
  const value = jsonOf(source === '-' ? await readStdin() : (await readBytes(source)).toString('utf8'), source === '-' ? 'What comes from stdin' : source);
  if (fields.length === 0) return value;
  const members = membersOf(value);
  if (members === undefined) throw usageFailure(`${source} is not a JSON object, so that flags cannot be put into it.`);
  return { ...members, ...typed };
};

const readBytes = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Failure(`${file} cannot be read.`, { code: 'cli_file', why: errnoOf(error) === 'ENOENT' ? 'it is not there' : error instanceof Error ? error.message : String(error) });
  }
};
