/** The shares as a calm table, and below it what nobody noticed. */

const SURVIVORS_SHOWN = 200;

export const isNoticed = ({ verdict }) => verdict === 'noticed';
const share = (noticed, tried) => (tried ? `${Math.floor((100 * noticed) / tried)} %` : '-');

const rowsOf = ({ area, results, equivalent }) => {
  const files = [...new Set(results.map(({ file }) => file))];
  const row = (name, some, left) => [name, String(some.length), String(some.filter(isNoticed).length), share(some.filter(isNoticed).length, some.length), left];
  return [
    ...files.map((file) =>
      row(
        `  ${file}`,
        results.filter((result) => result.file === file),
        '',
      ),
    ),
    row(area, results, String(equivalent)),
  ];
};

const aligned = (rows) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd(),
  );
};

const survivorLines = (results) => {
  const silent = results.filter((result) => !isNoticed(result));
  const lines = silent.slice(0, SURVIVORS_SHOWN).map(({ file, line, what, verdict }) => `  ${file}:${line}  ${what}${verdict === 'not reached' ? '  (no test comes here)' : ''}`);
  return silent.length > SURVIVORS_SHOWN ? [...lines, `  and ${silent.length - SURVIVORS_SHOWN} more, in the report`] : lines;
};

export const renderShares = (areas) => {
  const lines = aligned([['area', 'changes', 'noticed', 'share', 'equivalent'], ...areas.flatMap(rowsOf)]);
  const survivors = areas.flatMap(({ results }) => survivorLines(results));
  return [...lines, ...(survivors.length ? ['', 'not noticed:', ...survivors] : [])].join('\n');
};
