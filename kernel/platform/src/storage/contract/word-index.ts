/** How an engine finds rows by the words they hold (column kind `words`). */
import { isWord } from '@svc/api/internal';
import { storageErrors } from './errors.js';

/** A column of words by its physical table, and the whole number by which the index names a row. */
export interface WordColumn {
  readonly table: string;
  readonly column: string;
  readonly key: string;
}

export interface WordIndex {
  /** What makes the index, behind CREATE TABLE. */
  create(column: WordColumn): string[];
  /** A condition with one placeholder, which takes what `query` makes. */
  condition(column: WordColumn): string;
  /** What rows that were found are ordered by instead of the quoted key, so that no other index leads through them. */
  sorted(key: string): string;
  /** Every word of one of these groups. */
  query(groups: readonly (readonly string[])[]): string;
}

const MAX_GROUPS = 1_024;
const MAX_WORDS = 4_096;

/** Throws `storage_bad_query`: a group without words would find every row. */
export const checkGroups = (column: string, groups: readonly (readonly string[])[]): string[][] => {
  // A list of its own: one that reads otherwise the second time would be validated as one and used as another.
  const own = Array.from(groups, (group) => Array.from(group));
  if (own.length === 0 || own.some((group) => group.length === 0)) throw storageErrors.bad_query(`no word is asked of ${column}`);
  if (own.length > MAX_GROUPS || own.flat().length > MAX_WORDS) throw storageErrors.bad_query(`more search words for ${column} than allowed`);
  for (const word of own.flat()) if (!isWord(word)) throw storageErrors.bad_query(`${JSON.stringify(word)} is not a word that ${column} could hold`);
  return own;
};
