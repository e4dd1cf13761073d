/**
 * Keeps known secret values out of text. A value is registered by the adapter that resolved it,
 * before it is used; from then on every sink sees dots.
 */
const MIN_SECRET_CHARS = 8;
const MAX_SECRETS = 4_000;
/** Shorter ones may be a word. */
const MIN_RANDOM_CHARS = 16;
const WORD = /^[A-Za-z0-9]+$/;
const MASK = '•••';

export interface Redactor {
  register(value: string): void;
  scrub(text: string): string;
}

export const createRedactor = (): Redactor => {
  // Insertion order is age: beyond the cap the oldest go, so that rotating tokens cannot fill memory.
  const secrets = new Set<string>();
  let pattern: RegExp | undefined;
  const register = (value: string): void => {
    if (value.length < MIN_SECRET_CHARS || secrets.has(value)) return;
    for (const form of forms(value)) secrets.add(form);
    while (secrets.size > MAX_SECRETS) secrets.delete(secrets.values().next().value ?? '');
    pattern = undefined;
  };
  const scrub = (text: string): string => {
    if (secrets.size === 0 || text.length < MIN_SECRET_CHARS) return text;
    pattern ??= compile(secrets);
    return text.replace(pattern, MASK);
  };
  return { register, scrub };
};

/** A secret as it is, inside a URL, in Basic credentials and in JSON text. */
const forms = (value: string): Set<string> => new Set([value, encodeURIComponent(value), Buffer.from(value).toString('base64').replace(/=+$/, ''), JSON.stringify(value).slice(1, -1)]);

/** Longest first: where one secret begins another, no tail of the longer one may stay. */
const compile = (secrets: ReadonlySet<string>): RegExp =>
  new RegExp(
    [...secrets]
      .sort((a, b) => b.length - a.length)
      .map(patternOf)
      .join('|'),
    'g',
  );

/**
 * A short secret of letters and digits is hidden where it stands alone, not inside a longer word: somebody whose
 * key is "password" still reads "passwords". What looks random is hidden wherever it stands.
 */
const patternOf = (secret: string): string => {
  const literal = secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return secret.length < MIN_RANDOM_CHARS && WORD.test(secret) ? `(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])` : literal;
};
