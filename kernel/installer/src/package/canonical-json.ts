/** One text for one value, whoever writes it: what is signed and what digests are made of. */

/**
 * JSON with sorted keys and without spaces. Texts must be NFC and whole, numbers safe integers; keys sort by code units.
 * Throws a TypeError that names the place of what has no such form.
 */
export const canonicalJson = (value: unknown, at = '$'): string => {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return text(value, at);
  if (typeof value === 'number') return integer(value, at);
  if (Array.isArray(value)) return `[${value.map((item, index) => canonicalJson(item, `${at}[${index}]`)).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`${at} is ${typeof value}, which JSON does not have`);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${text(key, at)}:${canonicalJson(member, `${at}.${key}`)}`).join(',')}}`;
};

const text = (value: string, at: string): string => {
  if (value.normalize('NFC') !== value) throw new TypeError(`${at} contains text that is not in NFC form`);
  if (/\p{Cs}/u.test(value)) throw new TypeError(`${at} contains half a character`);
  return JSON.stringify(value);
};

const integer = (value: number, at: string): string => {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw new TypeError(`${at} is ${value}, which is not an integer that every program reads alike`);
  return String(value);
};
