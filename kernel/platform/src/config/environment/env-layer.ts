/**
 * The layer above the file: `SVC__API__LISTEN_ADDR=0.0.0.0:4545` sets `[api] listen_addr`.
 * A blank variable is an unset one: compose files and unit files pass on what nobody set. `'""'` says an empty text.
 */
import { isTable, type JsonSchema } from '@svc/api';
import type { Aliases } from '../claims.js';

const PREFIX = 'SVC__';

export interface EnvSetting {
  readonly variable: string;
  readonly path: readonly string[];
  readonly text: string;
}

export const readEnvLayer = (env: Readonly<Record<string, string | undefined>>, aliases: Aliases): EnvSetting[] => {
  const settings: EnvSetting[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || text === undefined || text.trim() === '') continue;
    const path = variable
      .slice(PREFIX.length)
      .split('__')
      .map((name) => name.toLowerCase());
    if (path.some((name) => name === '')) continue;
    const alias = path.length === 1 ? aliases[path[0] ?? ''] : undefined;
    settings.push({ variable, path: alias ?? path, text });
  }
  return settings.sort((a, b) => (a.variable < b.variable ? -1 : 1));
};

/** A TOML scalar or list where it reads as one, else the text itself; always the text where a string is wanted. */
export const envValue = (text: string, schema: JsonSchema | undefined, parse: (toml: string) => Record<string, unknown>): unknown => {
  const wantsText = schema?.type === 'string';
  if (!wantsText) {
    if (text === 'true' || text === 'false') return text === 'true';
    if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text);
  }
  if (text.includes('\n') || !(wantsText ? /^["']/ : /^["'[{+\-\d]/).test(text)) return text;
  try {
    const parsed = parse(`value = ${text}`);
    return Object.keys(parsed).length === 1 ? parsed.value : text;
  } catch {
    // Not TOML: then it is meant as it stands; the schema validates it.
    return text;
  }
};

/** A copy of `base` with `value` at `path`. */
export const withPath = (base: unknown, path: readonly string[], value: unknown): unknown => {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  const out: Record<string, unknown> = Object.create(null);
  if (isTable(base)) for (const [key, inner] of Object.entries(base)) out[key] = inner;
  out[head] = withPath(out[head], rest, value);
  return out;
};
