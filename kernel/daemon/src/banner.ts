/** The few lines a person reads when the daemon has started. */
import type { GreetingLine } from '@svc/api';

export interface BannerFacts {
  readonly version: string;
  readonly url: string;
  /** What a person types for the command here. */
  readonly command: string;
  readonly dataDir: string;
  /** The file, or host and name of the server. */
  readonly database: string;
  /** What the areas have to say, e.g. which model answers and why. */
  readonly lines: readonly GreetingLine[];
  readonly problems: readonly string[];
  readonly isColoured: boolean;
  readonly startMs: number;
}

export function renderBanner(facts: BannerFacts): string {
  const paint = (code: string, end: string) => (text: string) => (facts.isColoured ? `\u001b[${code}m${text}\u001b[${end}m` : text);
  const bold = paint('1', '22');
  const dim = paint('2', '22');
  const yellow = paint('33', '39');
  const rows: GreetingLine[] = [
    { label: 'address', value: bold(facts.url) },
    ...facts.lines,
    { label: 'data', value: facts.dataDir },
    { label: 'database', value: facts.database },
    { label: 'try', value: bold(`${facts.command} chat`), note: 'or open the address in a browser; Ctrl-C stops the daemon' },
    ...linkLines(facts.command),
  ];
  const width = Math.max(...rows.map((row) => row.label.length));
  const lines = rows.map((row) => `  ${dim(row.label.padEnd(width))}  ${row.value}${row.note ? `  ${dim(row.note)}` : ''}`);
  const problems = facts.problems.map((problem) => `  ${yellow('!')} ${problem}`);
  return ['', `  ${bold(`svc ${facts.version}`)} ${dim(`is ready (${facts.startMs} ms)`)}`, '', ...lines, ...(problems.length > 0 ? ['', ...problems] : []), '', ''].join('\n');
}

/** In a checkout whose command is not on the PATH: what puts it there. */
const linkLines = (command: string): GreetingLine[] => {
  const folder = /^(.*\/kernel\/cli)\/bin\/svc\.mjs'?$/.exec(command)?.[1];
  return folder === undefined ? [] : [{ label: 'svc', value: `npm i -g ${folder}${folder.startsWith("'") ? "'" : ''}`, note: 'puts the command svc on your PATH' }];
};
