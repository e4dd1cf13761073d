/** One tool call: a line while it runs and after, and what went in and came out when it is unfolded. */
import { printable } from '@svc/cli/area';
import { type Component, truncateToWidth, wrapTextWithAnsi } from '@mariozechner/pi-tui';
import { type ToolCall, toolLine } from '../tool-line.js';
import type { Colours } from './colours.js';

const MAX_UNFOLDED_LINES = 40;
const INDENT = '    ';

export interface ToolView extends Component {
  ended(call: ToolCall): void;
  setUnfolded(isUnfolded: boolean): void;
}

export const createToolView = (c: Colours, tool: string): ToolView => {
  let call: ToolCall = { tool };
  let isOver = false;
  let isUnfolded = false;
  const mark = (): string => (isOver ? (call.isError ? c.red('✗') : c.green('✓')) : c.cyan('›'));
  return {
    ended: (known) => {
      call = known;
      isOver = true;
    },
    setUnfolded: (wanted) => {
      isUnfolded = wanted;
    },
    invalidate: () => undefined,
    render: (width) => {
      const line = toolLine(call);
      const head = truncateToWidth(`  ${mark()} ${call.isError ? c.red(line) : isOver ? line : c.dim(`${line} …`)}`, width);
      return isUnfolded ? [head, ...inside(c, call, width)] : [head];
    },
  };
};

const inside = (c: Colours, { input, result }: ToolCall, width: number): string[] => [
  ...(input === undefined ? [] : block(c, JSON.stringify(input, null, 2), width)),
  ...(result === undefined || result === '' ? [] : block(c, result, width)),
];

const block = (c: Colours, text: string, width: number): string[] => {
  const lines = printable(text)
    .split('\n')
    .flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width - INDENT.length)));
  const rest = lines.length - MAX_UNFOLDED_LINES;
  return [...lines.slice(0, MAX_UNFOLDED_LINES), ...(rest > 0 ? [`… ${rest} more lines`] : [])].map((line) => `${INDENT}${c.dim(line)}`);
};
