/** Rows as a Markdown table: readable in a terminal and in a note alike. */

const COLUMNS = [
  ['what', (row) => row.what],
  ['measured', (row) => row.value],
  ['floor', (row) => row.floor ?? ''],
  ['ratio', (row) => row.ratio ?? ''],
  ['target', (row) => row.target],
  // Without a target there is nothing to meet; what could not be measured is missed.
  ['', (row) => (!row.met ? 'MISSED' : row.target === '' ? '' : 'met')],
  ['method', (row) => row.method],
];

export const renderTable = (rows) => {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, read]) => read(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const lines = cells.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
};
