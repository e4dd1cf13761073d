/** How long a call of a tool may take. */
import { type AnyTool, matchesPattern } from '@svc/api';

export interface TimeSettings {
  /** For tools that set no limit of their own. */
  readonly defaultSecs: number;
  /** By name or pattern. */
  readonly byName: Readonly<Record<string, number>>;
}

/** Milliseconds: what the settings say of its name, of the longest pattern that fits, else its own limit, else the usual one. */
export const timeLimitOf = ({ name, timeoutMs }: Pick<AnyTool, 'name' | 'timeoutMs'>, { defaultSecs, byName }: TimeSettings): number => {
  const [named] = Object.keys(byName)
    .filter((pattern) => pattern === name || matchesPattern(pattern, name))
    .sort((a, b) => Number(b === name) - Number(a === name) || b.length - a.length);
  const secs = named === undefined ? undefined : byName[named];
  return secs === undefined ? (timeoutMs ?? defaultSecs * 1000) : secs * 1000;
};
