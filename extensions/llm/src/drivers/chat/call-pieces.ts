/**
 * Tool calls from the pieces of a stream, which servers cut and number in their own ways.
 *
 * C1  Pieces belong together by index. Calls that share one are told apart by their ids, or because the one before is whole and another begins.
 * C2  Without an index a piece with a new id, or with another name after whole arguments, begins a call; the others go on with the last.
 * C3  A name comes at once, in parts, or with every piece. Arguments come as text, in pieces or whole, or as an object.
 * C4  The same whole call again is no second one.
 * C5  A name with control words around it is the offered tool of that name, if there is one.
 */
import { isTable } from '@svc/api';
import { ModelFailure } from '../../call/model-failure.js';
import type { Table } from './parts.js';
import { type State, takeState } from './state.js';

const MAX_CALLS = 128;

export interface CallParts {
  id: string;
  name: string;
  args: string;
  readonly state: State;
  readonly index: number | undefined;
}

export interface CallReader {
  /** The calls of one delta, or of a whole message. */
  take(pieces: unknown): void;
  readonly calls: readonly CallParts[];
}

interface Piece {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly from: Table;
  readonly fn: Table;
}

export const createCallReader = (tools: ReadonlySet<string>): CallReader => {
  const calls: CallParts[] = [];
  const begin = (piece: Piece): CallParts => {
    if (calls.length >= MAX_CALLS) throw new ModelFailure('garbage', `the answer has more than ${MAX_CALLS} tool calls`, { httpStatus: 200 });
    const call: CallParts = { id: '', name: '', args: '', state: {}, index: piece.index };
    calls.push(call);
    return call;
  };
  return {
    calls,
    take: (pieces) => {
      for (const value of Array.isArray(pieces) ? pieces : [pieces]) {
        const piece = pieceOf(value);
        if (!piece) continue;
        const known = ownerOf(calls, piece, tools);
        if (known && isSame(known, piece)) continue;
        add(known ?? begin(piece), piece, tools);
      }
    },
  };
};

const pieceOf = (value: unknown): Piece | undefined => {
  if (!isTable(value)) return undefined;
  const fn = isTable(value.function) ? value.function : value;
  const index = typeof value.index === 'string' && value.index !== '' ? Number(value.index) : value.index;
  const args = fn.arguments ?? fn.input ?? fn.parameters;
  return {
    index: typeof index === 'number' && Number.isSafeInteger(index) ? index : undefined,
    id: typeof value.id === 'string' ? value.id : typeof value.id === 'number' ? String(value.id) : '',
    name: typeof fn.name === 'string' ? fn.name : '',
    args: typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args),
    from: value,
    fn,
  };
};

/** The call that a piece goes on with. */
const ownerOf = (calls: readonly CallParts[], piece: Piece, tools: ReadonlySet<string>): CallParts | undefined => {
  const group = piece.index === undefined ? calls : calls.filter(({ index }) => index === piece.index);
  const last = group.at(-1);
  if (!last) return undefined;
  if (piece.id !== '') {
    const own = group.findLast(({ id }) => id === piece.id);
    if (own) return begins(own, piece, tools) && !isSame(own, piece) ? undefined : own;
    if (last.id === '') return begins(last, piece, tools) ? undefined : last;
    // Servers that make a new id for each piece go on with arguments that are not whole.
    return piece.name === '' || (piece.name === last.name && last.args !== '' && !isWhole(last.args) && !isWhole(piece.args) && !/^\s*\{/.test(piece.args)) ? last : undefined;
  }
  return begins(last, piece, tools) ? undefined : last;
};

/** Whether a piece with a name is another call: the one before has all its arguments, or its whole name and this one's differs. */
const begins = (before: CallParts, { name, args }: Piece, tools: ReadonlySet<string>): boolean => {
  if (name === '' || before.name === '') return false;
  if (isWhole(before.args)) return name !== before.name || args !== '';
  return before.args === '' && name !== before.name && tools.has(before.name) && tools.has(name);
};

const isSame = (known: CallParts, { id, name, args }: Piece): boolean => id !== '' && id === known.id && name === known.name && args !== '' && args === known.args && isWhole(args);

const isWhole = (args: string): boolean => {
  if (!args.trimEnd().endsWith('}')) return false;
  try {
    return isTable(JSON.parse(args));
  } catch {
    return false;
  }
};

const add = (call: CallParts, { id, name, args, from, fn }: Piece, tools: ReadonlySet<string>): void => {
  if (id !== '' && call.id === '') call.id = id;
  if (name !== '' && name !== call.name) call.name = name.startsWith(call.name) && tools.has(name) ? name : call.name + name;
  if (args !== '') call.args = isTable(fn.arguments) ? args : call.args + args;
  takeState(call.state, from);
  if (fn === from) return;
  const inner: State = {};
  takeState(inner, fn);
  if (Object.keys(inner).length > 0) call.state.function = inner;
};

/** C5. Kimi names the call by its id alone where a server took the name out of it. */
export const toolName = ({ name, id }: Pick<CallParts, 'name' | 'id'>, tools: ReadonlySet<string>): string => {
  if (tools.has(name)) return name;
  const bare = name.split('<|')[0]?.trim() ?? '';
  const from = name === '' ? id : name;
  const candidates = [bare, ...[from, bare].flatMap(namesIn)];
  return candidates.find((one) => tools.has(one)) ?? (name.includes('<|') && bare !== '' ? bare : name);
};

/** `functions.look:0`, `default_api.look`, `to=functions.look<|message|>`. */
const namesIn = (text: string): string[] => {
  const plain = text
    .slice(0, 300)
    .replaceAll(/<\|[^|<>]{0,40}\|?>?/g, ' ')
    .replace(/:\d{1,4}\s*$/, '')
    .trim();
  const word = plain.split(/\s+/).at(-1) ?? '';
  const path = word.replace(/^to=/, '').replaceAll(/["'`]/g, '');
  return [plain, word, path, path.replace(/^(?:functions?|tools?|default_api|namespace|api)[./:]/, ''), path.split(/[./:]/).at(-1) ?? ''];
};
