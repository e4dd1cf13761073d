/** What a call would do, in lines for a terminal: made from its arguments, with whatever a terminal would obey taken out. */
import { type Terminal, printable } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { isCut, quoted } from '@svc/ext-approvals/format';

export type Approval = OutputOf<'getApproval'>;

const MAX_LINES = 60;
const MAX_COMMAND_CHARS = 80;

const SAYS = { pending: 'is asked', approve: 'approved it', deny: 'denied it; you can still approve it', ask: 'left it to you' } as const;

export const reviewLines = ({ review }: Pick<Approval, 'review'>, out: Pick<Terminal, 'dim' | 'yellow'>): string[] =>
  review === null || review.reason === '' ? [] : [(review.decision === 'deny' ? out.yellow : out.dim)(`  ${printable(review.by)} ${SAYS[review.decision]}: ${printable(review.reason)}`)];

/** What it would do, in one sentence. */
export const sentenceOf = ({ agent_name: name, tool_name: tool, preview }: Pick<Approval, 'agent_name' | 'tool_name' | 'preview'>): string => {
  const agent = printable(name);
  if (preview.kind === 'request') return `${agent} wants to send a ${preview.method} request to ${printable(preview.host)}`;
  if (preview.kind === 'command')
    return preview.line.length <= MAX_COMMAND_CHARS && !preview.line.includes('\n') ? `${agent} wants to run ${printable(preview.line)}` : `${agent} wants to run a command`;
  if (preview.kind !== 'diff' || preview.files.length === 0) return `${agent} wants to use ${printable(tool)}`;
  const [file, ...rest] = preview.files;
  if (file === undefined || rest.length > 0) return `${agent} wants to change ${preview.files.length} files`;
  const path = printable(file.path);
  if (file.change === 'create') return `${agent} wants to create ${path}, ${linesOf(file.added)}`;
  if (file.change === 'delete') return `${agent} wants to delete ${path}, ${linesOf(file.removed)}`;
  return `${agent} wants to change ${path}: ${linesOf(file.added)} added, ${linesOf(file.removed)} removed`;
};

const linesOf = (count: number): string => (count === 1 ? '1 line' : `${count} lines`);

/** `isWhole` leaves nothing out: what the preview cut is read from the arguments. */
export const previewLines = (request: Pick<Approval, 'preview' | 'payload'>, out: Pick<Terminal, 'red' | 'green' | 'dim' | 'yellow'>, isWhole = false): string[] => {
  const { preview, payload } = request;
  const most = isWhole ? Number.POSITIVE_INFINITY : MAX_LINES;
  if (isWhole && isCut(preview)) return shownLines(JSON.stringify(payload, null, 2)).map((line) => `  ${line}`);
  const cut = (lines: readonly string[], isTruncated: boolean): string[] => {
    const shown = lines.slice(0, most).map((line) => `  ${line}`);
    return lines.length > most || isTruncated ? [...shown, out.yellow('  … more: svc approvals show, or the page')] : shown;
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
