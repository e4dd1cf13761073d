/** The text of a manifest that is signed: JSON with sorted keys and without spaces, and without `signature`. */

/** As JSON has it: dates as text. Throws a TypeError for what JSON does not have. */
export const plainOf = (value: unknown, at = 'the manifest'): unknown => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return plainOf(Number(value), at);
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) throw new TypeError(`${at} is a number that not every program reads alike`);
    return value;
  }
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one, index) => plainOf(one, `${at}[${index}]`));
  if (typeof value !== 'object') throw new TypeError(`${at} has no form in JSON`);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainOf(one, key)]));
};

export const canonicalText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(',')}}`;
};

export const signedText = (manifest: Readonly<Record<string, unknown>>): string => {
  const { signature: _own, ...rest } = manifest;
  return canonicalText(plainOf(rest));
};
