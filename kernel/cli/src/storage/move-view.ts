/** A move as it goes on: one line, five times a second at most, with the table and its rows. Nothing where nobody watches. */
import type { Cli } from '../cli.js';

const DRAW_EVERY_MS = 200;
const NAME_WIDTH = 32;
const NUMBER_WIDTH = 12;

interface Step {
  readonly step: 'copy' | 'compare';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

export interface MoveView {
  show(step: Step): void;
  /** Takes the last line away. */
  end(): void;
}

export const moveView = ({ json, out }: Pick<Cli, 'json' | 'out'>): MoveView => {
  if (json || !out.isTty || process.stderr.isTTY !== true) return { show: () => undefined, end: () => undefined };
  let drawnAt = 0;
  const draw = (text: string): void => void process.stderr.write(`\r\u001b[2K${text.slice(0, out.width - 1)}`);
  return {
    show: ({ rows, step, table, total }) => {
      const now = Date.now();
      if (now - drawnAt < DRAW_EVERY_MS) return;
      drawnAt = now;
      draw(`${step.padEnd(8)} ${table.padEnd(NAME_WIDTH)} ${rows.toLocaleString('en').padStart(NUMBER_WIDTH)} / ${total.toLocaleString('en')}`);
    },
    end: () => draw(''),
  };
};
