/** One calm line that says which step an installation is at; nothing where nobody watches. */
import { bytesText } from '../terminal/layout.js';
import { oneLine, type Terminal } from '../terminal/terminal.js';
import type { Step } from './follow-steps.js';

const WORDS: Readonly<Record<string, string>> = { resolve: 'finding', fetch: 'fetching', unpack: 'unpacking', judge: 'judging', store: 'keeping' };
/** As often as an eye follows. */
const REDRAW_MS = 100;

export interface StepLine {
  show(step: Step): void;
  end(): void;
}

export const stepLine = (out: Terminal): StepLine => {
  const isWatched = out.isTty && process.stderr.isTTY === true;
  let shown = '';
  let at = 0;
  const draw = (text: string): void => {
    process.stderr.write(`\r${text}${' '.repeat(Math.max(0, shown.length - text.length))}`);
    shown = text;
  };
  return {
    show: ({ done, step, total, what }) => {
      const now = Date.now();
      if (!isWatched || now - at < REDRAW_MS) return;
      at = now;
      const share = done === undefined ? '' : total === undefined || total === 0 ? ` ${bytesText(done)}` : ` ${Math.floor((100 * done) / total)} %`;
      draw(`${WORDS[step] ?? step}${what === undefined ? '' : ` ${oneLine(what, 60)}`}${share}`);
    },
    end: () => {
      if (shown !== '') process.stderr.write(`\r${' '.repeat(shown.length)}\r`);
      shown = '';
    },
  };
};
