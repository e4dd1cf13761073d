/**
 * Characters that a person does not see, or that change the order in which they read: control characters, marks of the
 * direction of writing, joiners of no width. With them a text says one thing to a reader and another to the daemon.
 */
import { isTable } from '@svc/api';

/** Line ends and tabs are plain, and two joiners belong to scripts and signs that need them (Persian, emoji). */
const HIDDEN = /(?![\n\r\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const MAX_DEPTH = 20;

/** What is wrong with the first text that has one, names of members included; undefined where none has. */
export const hiddenCharacterFault = (value: unknown, at = '', depth = 0): string | undefined => {
  if (typeof value === 'string') return faultOf(value, at);
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return firstOf(value.map((item, index) => () => hiddenCharacterFault(item, `${at}/${index}`, depth + 1)));
  if (!isTable(value)) return undefined;
  return firstOf(
    Object.entries(value).map(
      ([name, inner]) =>
        () =>
          faultOf(name, at) ?? hiddenCharacterFault(inner, `${at}/${name}`, depth + 1),
    ),
  );
};

const faultOf = (text: string, at: string): string | undefined => {
  const found = HIDDEN.exec(text)?.[0].codePointAt(0);
  return found === undefined ? undefined : `${at || '/'} has the hidden character U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
};

const firstOf = (checks: ReadonlyArray<() => string | undefined>): string | undefined => {
  for (const check of checks) {
    const fault = check();
    if (fault !== undefined) return fault;
  }
  return undefined;
};
