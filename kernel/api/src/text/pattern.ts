/**
 * The patterns of agent manifests: tool names, shell commands, memory keys.
 * `*` alone matches all; elsewhere it stands for any run of characters.
 */

/** Patterns longer than this match nothing but themselves. */
const MAX_PATTERN_LENGTH = 1_000;

/** Linear in both lengths: a hostile pattern cannot stall the daemon. */
export const matchesPattern = (pattern: string, value: string): boolean => {
  if (pattern === '*' || pattern === value) return true;
  if (pattern.length > MAX_PATTERN_LENGTH || !pattern.includes('*')) return false;
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false;
  let from = first.length;
  const end = value.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = value.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
};

export const matchesAny = (patterns: readonly string[], value: string): boolean => patterns.some((pattern) => matchesPattern(pattern, value));
