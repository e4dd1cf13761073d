/** Something that moves while a person waits, and says for what and how long. */
import { duration } from '@svc/cli/area';
import { type Component, truncateToWidth } from '@mariozechner/pi-tui';
import type { Colours } from './colours.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;

export interface WaitingLine extends Component {
  /** Nothing is shown for undefined. The time goes on while what is waited for only changes its name. */
  show(what: string | undefined): void;
}

export const createWaitingLine = (c: Colours, now: () => number, redraw: () => void): WaitingLine => {
  let what: string | undefined;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    show: (next) => {
      if (next !== undefined && what === undefined) since = now();
      what = next;
      if (what === undefined) {
        clearInterval(timer);
        timer = undefined;
      } else timer ??= setInterval(redraw, FRAME_MS);
      redraw();
    },
    invalidate: () => undefined,
    render: (width) => {
      if (what === undefined) return [];
      const ms = now() - since;
      const frame = FRAMES[Math.floor(ms / FRAME_MS) % FRAMES.length] ?? '';
      return [truncateToWidth(`  ${c.cyan(frame)} ${c.dim(`${what}${ms < 1_000 ? '' : ` · ${duration(ms / 1_000)}`}`)}`, width)];
    },
  };
};
