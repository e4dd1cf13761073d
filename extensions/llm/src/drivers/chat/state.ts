/**
 * What a provider of the chat-completions protocol wants back with an answer or a call: every member that is about thoughts or is sealed, by
 * whatever name. It comes in pieces, and is put together as it would stand in a whole answer.
 */
import { isTable } from '@svc/api';
import type { Table } from './parts.js';

export type State = Record<string, unknown>;

const STATE = /reason|think|thought|signature|encrypted|opaque|extra_content|provider_specific/i;
/** Members whose pieces go on where the last one ended. */
const TEXT = /^(?:reasoning|reasoning_content|reasoning_text|thinking|text|summary|thoughts?|content|arguments)$/;
/** Of these the whole comes again rather than a piece. */
const MAX_ITEMS = 1_000;

const OWN = new Set(['role', 'content', 'tool_calls', 'function_call', 'refusal', 'index', 'id', 'type', 'function', 'name', 'arguments', 'reasoning_tokens']);

export const takeState = (into: State, from: Table): void => {
  for (const [name, value] of Object.entries(from)) {
    if (OWN.has(name) || !STATE.test(name) || value === null || value === undefined || value === '') continue;
    into[name] = merged(into[name], value, name);
  }
};

const merged = (known: unknown, piece: unknown, name: string): unknown => {
  if (piece === null || piece === undefined) return known;
  if (Array.isArray(piece)) return mergedList(Array.isArray(known) ? known : [], piece);
  if (isTable(piece)) {
    const all: State = isTable(known) ? { ...known } : {};
    for (const [member, value] of Object.entries(piece)) all[member] = merged(all[member], value, member);
    return all;
  }
  if (typeof piece === 'string' && typeof known === 'string') return TEXT.test(name) ? known + piece : piece === '' ? known : piece;
  return piece;
};

/** Thinking parts of a content that is a list. */
export const mergedList = (known: readonly unknown[], pieces: readonly unknown[]): unknown[] => {
  const all = [...known];
  for (const piece of pieces) {
    const at = isTable(piece) ? all.findLastIndex((one, index) => goesOn(one, piece, index === all.length - 1)) : -1;
    const before = all[at];
    if (isTable(before) && isTable(piece)) all[at] = joined(before, piece);
    else if (all.length < MAX_ITEMS) all.push(merged(undefined, piece, ''));
  }
  return all;
};

/** By type and index; without an index, of the last one, as long as nothing sealed it. */
const goesOn = (known: unknown, piece: Table, isLast: boolean): boolean => {
  if (!isTable(known) || known.type !== piece.type) return false;
  if (typeof known.id === 'string' && typeof piece.id === 'string' && known.id !== piece.id) return false;
  if (piece.index !== undefined && piece.index !== null) return known.index === piece.index;
  return isLast && (known.index === undefined || known.index === null) && known.data === undefined && piece.data === undefined && (!known.signature || !hasWords(piece));
};

const hasWords = (piece: Table): boolean => Object.entries(piece).some(([name, value]) => TEXT.test(name) && value !== '' && value !== null);

const joined = (known: Table, piece: Table): State => {
  const all: State = { ...known };
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    // Sealed data may come in pieces as well; the same once more is no piece.
    if (name === 'data' && typeof value === 'string' && typeof all.data === 'string') all.data = all.data === value ? value : all.data + value;
    else all[name] = merged(all[name], value, name);
  }
  return all;
};
