/** What a call would do, in lines for a terminal: made from its arguments, with whatever a terminal would obey taken out. */
import { type Terminal, printable } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';

export type Approval = OutputOf<'getApproval'>;

const MAX_LINES = 60;

const SAYS = { pending: 'is asked first', approve: 'approved it', deny: 'denied it; you can still approve it', ask: 'left it to you' } as const;

export const reviewLines = ({ review }: Pick<Approval, 'review'>, out: Pick<Terminal, 'dim' | 'yellow'>): string[] =>
  review === null ? [] : [(review.decision === 'deny' ? out.yellow : out.dim)(`  ${printable(review.by)} ${SAYS[review.decision]}${review.reason === '' ? '' : `: ${printable(review.reason)}`}`)];

export const previewLines = ({ preview }: Pick<Approval, 'preview'>, out: Pick<Terminal, 'red' | 'green' | 'dim' | 'yellow'>): string[] => {
  const cut = (lines: readonly string[], isTruncated: boolean): string[] => {
    const shown = lines.slice(0, MAX_LINES).map((line) => `  ${line}`);
    return lines.length > MAX_LINES || isTruncated ? [...shown, out.yellow('  … more: svc approvals show, or the page')] : shown;
  };
  switch (preview.kind) {
    case 'command':
      return [
        ...cut(shownLines(preview.argv === null ? preview.line : preview.argv.map(quoted).join(' ')), preview.truncated),
        ...(preview.argv === null ? [out.yellow('  This line needs a shell. It can start more than one program.')] : []),
      ];
    case 'diff':
      return preview.files.flatMap(({ path, change, added, removed, diff, truncated }) => [
        `  ${printable(path)} ${out.dim(`(${change}, +${added} -${removed})`)}`,
        ...cut(
          shownLines(diff.replace(/\n$/, '')).map((line) => (line.startsWith('+') ? out.green(line) : line.startsWith('-') ? out.red(line) : out.dim(line))),
          truncated,
        ),
      ]);
    case 'request':
      return [`  ${preview.method} ${printable(preview.host)}`, `  ${printable(preview.url)}`];
    case 'arguments':
      return [...cut(shownLines(preview.text), preview.truncated), ...(preview.problem === undefined ? [] : [out.yellow(`  ${printable(preview.problem)}`)])];
  }
};

const shownLines = (text: string): string[] => text.split('\n').map(printable);

/** Each word by itself, so that nobody takes two for one. */
const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
