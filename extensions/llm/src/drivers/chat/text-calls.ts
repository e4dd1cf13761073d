/**
 * Tool calls that a model writes as text, because its server does not take them apart.
 *
 * X1  A call is what stands at the very end of an answer, in a form that a model was trained on, that names an offered tool, with arguments that
 *     are an object. All else is text, as it stands: also where one block of several is none.
 * X2  From the first mark on the text is held back until the answer ends. It is said then, if it is no call.
 * X3  An answer with calls of the protocol's own, or one that quotes a mark in code, has no others.
 */
import { isTable } from '@svc/api';
import type { Table } from './parts.js';

export interface TextCall {
  readonly name: string;
  readonly args: string;
}

export interface TextCallReader {
  take(text: string): void;
  /** The text has ended. `mayCall`: no call came in the protocol's own form. */
  end(mayCall: boolean): readonly TextCall[];
}

const MARKS = ['<tool_call>', '<|tool_calls_section_begin|>', '<|tool_call_begin|>', '[TOOL_CALLS]', '<minimax:tool_call>', '<｜tool▁calls▁begin｜>'] as const;
const MAX_HELD_CHARS = 1_000_000;

export const createTextCallReader = (tools: ReadonlySet<string>, say: (text: string) => void): TextCallReader => {
  let held = '';
  let isHolding = false;
  let line = '';
  let isInCode = false;
  const pass = (text: string): void => {
    if (text === '') return;
    const lines = (line + text).split('\n');
    for (const one of lines.slice(0, -1)) if (one.trimStart().startsWith('```')) isInCode = !isInCode;
    line = (lines.at(-1) ?? '').slice(-2_000);
    say(text);
  };
  return {
    take: (text) => {
      if (tools.size === 0) return pass(text);
      held += text;
      if (isHolding && held.length <= MAX_HELD_CHARS) return;
      isHolding = false;
      const found = MARKS.map((mark) => held.indexOf(mark)).filter((at) => at >= 0);
      const at = found.length === 0 ? -1 : Math.min(...found);
      if (at >= 0 && held.length <= MAX_HELD_CHARS) {
        pass(held.slice(0, at));
        held = held.slice(at);
        // A mark behind other words of its line is spoken of.
        isHolding = !isInCode && line.trim() === '';
        if (!isHolding) {
          pass(held);
          held = '';
        }
        return;
      }
      const kept = Math.max(...MARKS.map((mark) => endingLike(held, mark)));
      pass(held.slice(0, held.length - kept));
      held = held.slice(held.length - kept);
    },
    end: (mayCall) => {
      const calls = isHolding && mayCall ? callsIn(held.trim()) : undefined;
      const offered = calls?.every(({ name }) => tools.has(name)) ? calls : undefined;
      if (!offered) pass(held);
      held = '';
      return offered ?? [];
    },
  };
};

const endingLike = (text: string, mark: string): number => {
  for (let count = Math.min(mark.length - 1, text.length); count > 0; count--) if (mark.startsWith(text.slice(-count))) return count;
  return 0;
};

const callsIn = (text: string): readonly TextCall[] | undefined => {
  if (text.startsWith('[TOOL_CALLS]')) return listed(text.slice('[TOOL_CALLS]'.length));
  if (text.startsWith('<|')) return kimiCalls(text);
  if (text.startsWith('<minimax:tool_call>')) return blocks(text, '<minimax:tool_call>', '</minimax:tool_call>', (block) => invoked(block, 'invoke', 'parameter'));
  return blocks(text, '<tool_call>', '</tool_call>', (block) => (block.startsWith('{') ? fromJson(block) : block.startsWith('<function=') ? qwenCall(block) : glmCall(block)));
};

/** Blocks one after the other, and nothing between or behind them. The last may be left open where the server cuts its end as a stop word. */
const blocks = (text: string, open: string, close: string, read: (block: string) => readonly TextCall[] | undefined): readonly TextCall[] | undefined => {
  const all: TextCall[] = [];
  for (let rest = text; rest !== ''; ) {
    if (!rest.startsWith(open) || all.length > 100) return undefined;
    const end = rest.indexOf(close);
    const found = read(rest.slice(open.length, end < 0 ? undefined : end).trim());
    if (!found) return undefined;
    all.push(...found);
    rest = end < 0 ? '' : rest.slice(end + close.length).trim();
  }
  return all.length === 0 ? undefined : all;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const callOf = (value: unknown): TextCall | undefined => {
  if (!isTable(value)) return undefined;
  const inner: Table = isTable(value.function) ? value.function : value;
  const given = inner.arguments ?? inner.parameters ?? {};
  const args = typeof given === 'string' ? parsed(given) : given;
  return typeof inner.name === 'string' && isTable(args) ? { name: inner.name, args: JSON.stringify(args) } : undefined;
};

const fromJson = (text: string): readonly TextCall[] | undefined => {
  const call = callOf(parsed(text));
  return call && [call];
};

const listed = (text: string): readonly TextCall[] | undefined => {
  const value = parsed(text.trim());
  const calls = (Array.isArray(value) ? value : [value]).map(callOf);
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
};

/** `<|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`. */
const kimiCalls = (text: string): readonly TextCall[] | undefined => {
  const body = text.replace('<|tool_calls_section_begin|>', '').replace('<|tool_calls_section_end|>', '').trim();
  return blocks(body, '<|tool_call_begin|>', '<|tool_call_end|>', (block) => {
    const [head = '', args = ''] = block.split('<|tool_call_argument_begin|>');
    const value = parsed(args.trim());
    return isTable(value)
      ? [
          {
            name: head
              .trim()
              .replace(/^functions\./, '')
              .replace(/:\d+$/, ''),
            args: JSON.stringify(value),
          },
        ]
      : undefined;
  });
};

const qwenCall = (block: string): readonly TextCall[] | undefined => {
  const name = /^<function=([\w.-]{1,100})>/.exec(block)?.[1];
  return name === undefined ? undefined : [{ name, args: JSON.stringify(valuesIn(block, '<parameter=', '</parameter>')) }];
};

const invoked = (block: string, outer: string, inner: string): readonly TextCall[] | undefined => {
  const name = new RegExp(`^<${outer} name="([\\w.-]{1,100})">`).exec(block)?.[1];
  return name === undefined ? undefined : [{ name, args: JSON.stringify(valuesIn(block, `<${inner} name="`, `</${inner}>`)) }];
};

/** A name, and pairs of keys and values. */
const glmCall = (block: string): readonly TextCall[] | undefined => {
  const [name = '', ...pairs] = block.split('<arg_key>');
  if (!/^[\w.-]{1,100}$/.test(name.trim())) return undefined;
  const args: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [key = '', rest = ''] = pair.split('</arg_key>');
    const begin = rest.indexOf('<arg_value>');
    const end = rest.indexOf('</arg_value>');
    if (begin < 0 || end < begin) return undefined;
    args[key.trim()] = plainValue(rest.slice(begin + '<arg_value>'.length, end));
  }
  return [{ name: name.trim(), args: JSON.stringify(args) }];
};

const valuesIn = (block: string, open: string, close: string): Record<string, unknown> => {
  const values: Record<string, unknown> = {};
  for (let at = block.indexOf(open); at >= 0; at = block.indexOf(open, at + 1)) {
    const nameEnd = block.indexOf('>', at);
    const end = block.indexOf(close, nameEnd);
    if (nameEnd < 0 || end < 0) break;
    values[
      block
        .slice(at + open.length, nameEnd)
        .replace(/"$/, '')
        .trim()
    ] = plainValue(block.slice(nameEnd + 1, end).replace(/^\n|\n$/g, ''));
  }
  return values;
};

/** Written without quotes: what reads as JSON is that, all else is a text. */
const plainValue = (text: string): unknown => {
  const value = /^[\s[{\dtfn-]/.test(text) ? parsed(text) : undefined;
  return value === undefined ? text : value;
};
