/**
 * What one model wrote as the next one takes it: a conversation may be continued by any provider.
 *
 * B1  Ids of calls have the letters, digits, `_` and `-` that every protocol takes, 40 at most; another id is replaced by a hash of it, in the call and in its result.
 * B2  Names of tools have 64 of the same characters and begin with none that a protocol refuses. A model may have called a tool that there is not.
 * B3  Arguments are an object. What a model wrote instead is its member `value`.
 */
import { createHash } from 'node:crypto';
import { isTable } from '@svc/api';
import type { ContentPart } from '../contract.js';

const ID = /^[A-Za-z0-9_-]{1,40}$/;
/** Mistral takes no other. */
const SHORT_ID = /^[A-Za-z0-9]{9}$/;
const MAX_NAME_CHARS = 64;

export type IdStyle = 'usual' | 'short';

export const wirePart = (part: ContentPart, style: IdStyle = 'usual'): ContentPart => {
  if (part.type === 'tool_call') return { ...part, id: wireId(part.id, style), name: wireName(part.name), args: wireArgs(part.args) };
  if (part.type === 'tool_result') return { ...part, id: wireId(part.id, style), name: wireName(part.name) };
  return part;
};

const wireId = (id: string, style: IdStyle): string => {
  if ((style === 'short' ? SHORT_ID : ID).test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex');
  return style === 'short' ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`;
};

const wireName = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, MAX_NAME_CHARS);
};

const wireArgs = (args: unknown): Record<string, unknown> => (isTable(args) ? args : args === null || args === undefined ? {} : { value: args });
