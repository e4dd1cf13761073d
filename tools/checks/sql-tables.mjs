/**
 * SQL text of an extension names its own tables only, and by `ctx.db.table`.
 *
 * The storage validates each text when it is first used; a text that is rarely used is validated here. What is computed
 * (`FROM ${table}`) came from `ctx.db.table`, which gives own names only. A file that reads copies of databases of other programs
 * (`ForeignDatabase`) names their tables; the physical names of tables here stay refused in it.
 */
import { lineAt } from './sources.mjs';

const RULE = 'sql-table';
const PLACE = /\b(?:FROM|JOIN|INTO|UPDATE)\s+["`]?([a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)?)/g;
const PHYSICAL = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*__[a-z][a-z0-9_]*/g;
const GIVEN = /(?:\bWITH(?:\s+RECURSIVE)?|,)\s+([a-z_][a-z0-9_]*)\s*(?:\([^)]*\)\s*)?AS\s*\(/g;

/** Only what stands inside of strings and templates; all else is blank, and every line and column stays where it was. */
const insideStrings = ({ code, bare }) => [...code].map((letter, at) => (letter === '\n' || bare[at] === ' ' ? letter : ' ')).join('');

/** `extensions/loop-guard/src/…` → `loop_guard__`: what the names of its tables begin with. */
const prefixOf = (file) => /^(?:extensions|fixtures\/areas)\/([a-z0-9-]+)\/(?:src|migrations)\//.exec(file)?.[1]?.replaceAll('-', '_').concat('__');

const namesIn = (text) => {
  const given = new Set([...text.matchAll(GIVEN)].map((match) => match[1]));
  const places = [...text.matchAll(PLACE)].filter((match) => !given.has(match[1])).map((match) => ({ name: match[1], index: match.index }));
  const physical = [...text.matchAll(PHYSICAL)].map((match) => ({ name: match[0], index: match.index }));
  return [...places, ...physical];
};

export const checkSqlTables = (sources) =>
  sources.flatMap((source) => {
    const prefix = prefixOf(source.file);
    if (prefix === undefined) return [];
    const isForeign = /\bForeignDatabase\b/.test(source.bare);
    const findings = namesIn(insideStrings(source)).filter(({ name }) => !name.startsWith(prefix) && (!isForeign || name.includes('__')));
    return findings.map(({ name, index }) => ({
      file: source.file,
      line: lineAt(source.code, index),
      rule: RULE,
      message: `"${name}" is no table of this extension; name own ones by ctx.db.table, and ask others' services`,
    }));
  });
