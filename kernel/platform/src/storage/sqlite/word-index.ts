/**
 * Words in SQLite: an FTS5 table beside the own one, which triggers keep. It holds no text, only which rows have which
 * word; the column itself is emptied as soon as it was read. What deletes a row takes its words in the same commit; they
 * leave the file when the database rests (forget-words.ts).
 */
import type { WordIndex } from '../contract/word-index.js';
import { identifier } from './sqlite-dialect.js';

const indexOf = (table: string): string => identifier(`${table}__words`);

export const sqliteWords: WordIndex = {
  create: ({ table, column, key }) => {
    const [index, own, words, id] = [indexOf(table), identifier(table), identifier(column), identifier(key)];
    const trigger = (name: string, when: string, body: string): string => `CREATE TRIGGER ${identifier(`${table}__words_${name}`)} ${when} BEGIN ${body} END`;
    const take = `INSERT INTO ${index}(rowid, words) VALUES (NEW.${id}, NEW.${words}); UPDATE ${own} SET ${words} = NULL WHERE ${id} = NEW.${id};`;
    return [
      // ASCII letters and digits and everything beyond ASCII belong to a word, as `isWord` has them.
      `CREATE VIRTUAL TABLE ${index} USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii')`,
      trigger('in', `AFTER INSERT ON ${own} WHEN NEW.${words} IS NOT NULL`, take),
      trigger('anew', `AFTER UPDATE OF ${words} ON ${own} WHEN NEW.${words} IS NOT NULL`, `DELETE FROM ${index} WHERE rowid = NEW.${id}; ${take}`),
      trigger('out', `AFTER DELETE ON ${own}`, `DELETE FROM ${index} WHERE rowid = OLD.${id};`),
    ];
  },
  condition: ({ table, key }) => `${identifier(key)} IN (SELECT rowid FROM ${indexOf(table)} WHERE ${indexOf(table)} MATCH ?)`,
  sorted: (key) => key,
  query: (groups) => groups.map((group) => `(${group.map((word) => `"${word}"`).join(' AND ')})`).join(' OR '),
};
