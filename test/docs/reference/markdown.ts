/** Tables that read well as text too: every column but the last is as wide as its widest cell. */

/** Characters as a terminal counts them, near enough for these tables. */
const widthOf = (text: string): number => [...text].length;

/** In a table a bar ends the cell, and there are no lines. Outside of code a `<` would begin a tag, and a `*` an emphasis. */
export const cell = (text: string): string =>
  text
    .replaceAll('\n', ' ')
    .replaceAll('|', '\\|')
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '&lt;').replaceAll('*', '\\*') : part))
    .join('`');

export const table = (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string => {
  const all = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => widthOf(row[column] ?? ''))));
  const last = head.length - 1;
  const line = (row: readonly string[]) => `| ${row.map((text, column) => (column === last ? text : text + ' '.repeat((widths[column] ?? 0) - widthOf(text)))).join(' | ')} |`;
  const rule = `|${head.map((_, column) => '-'.repeat(column === last ? 3 : (widths[column] ?? 3) + 2)).join('|')}|`;
  return [line(all[0] ?? []), rule, ...all.slice(1).map(line)].join('\n');
};

const BEGIN = '<!-- generated: ';
const END = '<!-- end of what is generated -->';

/** The text with what stands between the markers made anew. What is written by hand around them stays. */
export const withGenerated = (text: string, command: string, generated: string): string => {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the markers are missing: ${BEGIN}… --> and ${END}`);
  return `${text.slice(0, from)}${BEGIN}${command} -->\n${generated}\n${text.slice(to)}`;
};
