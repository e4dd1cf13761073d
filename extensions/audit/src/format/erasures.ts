/**
 * Personal details are beside the chain, so that they can be erased. The chain says why some are missing.
 *
 * E1  An entry says whether its details were stored with it. Those of somebody who was erased before never were.
 * E2  `audit_erased` names the entries of a person who was erased, `audit_details_trimmed` the time before which details were deleted.
 *     Entries from before the chain said so explain nothing and need no explanation.
 */
import { fieldsOf } from './entry.js';

export const ERASED = 'audit_erased';
export const DETAILS_TRIMMED = 'audit_details_trimmed';
export const KEPT = 'personal_kept';

/** How the two keys stand in an entry's text: keys are sorted, and a quotation mark within a value is escaped. */
const HASH = '"personal":"';
const WAS_KEPT = `","${KEPT}":true`;
const DIGITS = 64;
const MAX_TEXT = 1_000;

export interface Missing {
  readonly id: number;
  readonly at: string;
}

export interface Explanation {
  /** Numbers and ranges of them, such as `4-7 9`. */
  readonly entries: string;
  /** Details of entries before this time are gone. */
  readonly before: string;
}

/** The hash of the details, as the entry has it. */
export const personalHashOf = (body: string): string => {
  const at = body.lastIndexOf(HASH);
  return at < 0 ? '' : body.slice(at + HASH.length, at + HASH.length + DIGITS);
};

/** Where no details are stored: whether they once were. */
export const missingIn = (id: number, body: string): Missing | undefined => {
  const at = body.lastIndexOf(HASH);
  return at >= 0 && body.startsWith(WAS_KEPT, at + HASH.length + DIGITS) ? { id, at: fieldsOf(body)?.timestamp ?? '' } : undefined;
};

/** What this entry says of others; undefined of most. */
export const explanationIn = (body: string): Explanation | undefined => {
  if (!body.includes(`:${ERASED},`) && !body.includes(`:${DETAILS_TRIMMED},`)) return undefined;
  const fields = fieldsOf(body);
  if (fields?.event_type !== ERASED && fields?.event_type !== DETAILS_TRIMMED) return undefined;
  const { entries = '', before = '' }: Readonly<Record<string, unknown>> = JSON.parse(fields.details);
  return { entries: String(entries), before: String(before) };
};

export const unexplained = (missing: readonly Missing[], explanations: readonly Explanation[]): Missing[] => {
  const before = explanations.reduce((latest, one) => (one.before > latest ? one.before : latest), '');
  const left = missing.filter(({ at }) => at >= before);
  if (left.length === 0) return [];
  const erased = new Set(explanations.flatMap(({ entries }) => numbersOf(entries)));
  return left.filter(({ id }) => !erased.has(id));
};

const numbersOf = (text: string): number[] =>
  text.split(' ').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return part === '' || !(last - first < Number.MAX_SAFE_INTEGER) ? [] : Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });

/** Ascending numbers as texts that fit into entries. */
export const textsOf = (ids: readonly number[]): string[] => {
  const parts: string[] = [];
  for (let at = 0; at < ids.length; ) {
    const first = ids[at] ?? 0;
    let end = at;
    while (ids[end + 1] === (ids[end] ?? 0) + 1) end += 1;
    parts.push(end === at ? String(first) : `${first}-${ids[end]}`);
    at = end + 1;
  }
  const texts: string[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    if (last === undefined || last.length + part.length >= MAX_TEXT) texts.push(part);
    else texts[texts.length - 1] = `${last} ${part}`;
  }
  return texts;
};

export const MISSING = 'Its personal details are missing, and no erasure explains it.';
export const ALTERED = 'Its personal details are not those that were hashed.';
