/** Wrong turns inside SQL, which is code too: a comparison at its edge, a condition joined the other way, an order turned round. */

const IS_SQL = /^[`'"]?\s*(SELECT|INSERT|UPDATE|DELETE|WITH|PRAGMA|CREATE|ALTER)\b/;
const TURNS = [
  [/ AND /g, () => ' OR '],
  [/ OR (?!IGNORE|REPLACE)/g, () => ' AND '],
  [/ IS NULL/g, () => ' IS NOT NULL'],
  [/ IS NOT NULL/g, () => ' IS NULL'],
  [/ (<>|<=|>=|<|>) /g, (found) => ({ ' <> ': ' = ', ' <= ': ' < ', ' >= ': ' > ', ' < ': ' <= ', ' > ': ' >= ' })[found]],
  [/ NOT EXISTS/g, () => ' EXISTS'],
  [/ ORDER BY ([\w.]+)( DESC| ASC)?/g, (found, column, way) => ` ORDER BY ${column}${way === ' DESC' ? '' : ' DESC'}`],
];

/** The literal with one place changed, once for each place. */
export const sqlChanges = (literal) => {
  if (!IS_SQL.test(literal)) return [];
  return TURNS.flatMap(([pattern, turn]) => [...literal.matchAll(pattern)].map((match) => literal.slice(0, match.index) + turn(...match) + literal.slice(match.index + match[0].length)));
};
