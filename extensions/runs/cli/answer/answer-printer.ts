/** Shows a run as it happens: the answer's text on stdout, everything about it on stderr. */
import { type Terminal, oneLine, printable } from '@svc/cli/area';
import type { RunEvent } from './run-stream.js';

const MAX_INPUT_CHARS = 120;
const MAX_RESULT_CHARS = 160;

export interface AnswerPrinter {
  show(event: RunEvent): void;
  /** Ends an open line. */
  close(): void;
}

export const createAnswerPrinter = (out: Terminal): AnswerPrinter => {
  let isLineOpen = false;
  const close = (): void => {
    if (isLineOpen) out.write('\n');
    isLineOpen = false;
  };
  const aside = (text: string): void => {
    close();
    out.note(text);
  };
  return {
    close,
    show: (event) => {
      if (event.type === 'chunk') {
        const text = printable(event.data.content);
        if (text === '') return;
        out.write(text);
        isLineOpen = !text.endsWith('\n');
      } else if (event.type === 'tool_use') aside(out.dim(`  › ${printable(event.data.tool)} …`));
      else if (event.type === 'tool_result') aside(toolLine(event.data, out));
      else if (event.type === 'phase') showPhase(event.data, aside, out);
      else close();
    },
  };
};

const toolLine = (data: Extract<RunEvent, { type: 'tool_result' }>['data'], out: Terminal): string => {
  const mark = data.is_error === true ? out.red('✗') : out.green('✓');
  const input = data.input === undefined ? '' : ` ${oneLine(JSON.stringify(data.input), MAX_INPUT_CHARS)}`;
  const result = data.result === undefined || data.result === '' ? '' : `\n    ${oneLine(data.result, MAX_RESULT_CHARS)}`;
  return `  ${mark} ${printable(data.tool)}${out.dim(input)}${data.is_error === true ? out.red(result) : out.dim(result)}`;
};

const showPhase = (data: { phase: string; detail?: string; approval_id?: string }, aside: (text: string) => void, out: Terminal): void => {
  if (data.phase === 'queued') aside(out.dim('  … waiting for the previous run'));
  else if (data.phase === 'waiting') {
    aside(out.yellow(`  … waits for an approval${data.detail === undefined ? '' : `: ${printable(data.detail)}`}`));
    if (data.approval_id) aside(`    see it   svc approvals show ${data.approval_id}\n    decide   svc approvals approve ${data.approval_id}, or svc approvals reject ${data.approval_id}`);
  } else if (data.phase === 'restarted') aside(out.dim(`  … ${printable(data.detail ?? 'the daemon restarted; this step starts again')}`));
};
