/**
 * What a person sees of work that takes long: one line where it begins, a bar at a terminal, and otherwise a line every
 * 15 seconds. Nothing of it goes to standard output, which others read.
 */
const BAR_CHARS = 24;
const LINE_EVERY_MS = 15_000;
const DRAW_EVERY_MS = 200;

export const barOf = (share, chars = BAR_CHARS) => {
  const full = Math.round(Math.min(1, Math.max(0, share)) * chars);
  return `[${'#'.repeat(full)}${'.'.repeat(chars - full)}]`;
};

const seconds = (ms) => `${Math.round(ms / 1000)} s`;

/** `what` says what is done and how long it takes; `end` clears the bar. `share` is a number from 0 to 1, or undefined where nobody knows. */
export const showProgress = (what, { stream = process.stderr, now = Date.now } = {}) => {
  const began = now();
  let share;
  let shownAt = began;
  stream.write(`${what}\n`);
  const text = () => `${share === undefined ? '' : `${barOf(share)} ${Math.round(share * 100)} % `}${seconds(now() - began)}`;
  const draw = () => {
    if (stream.isTTY) stream.write(`\r  ${text()} `);
    else if (now() - shownAt >= LINE_EVERY_MS) {
      shownAt = now();
      stream.write(`  ${text()}\n`);
    }
  };
  const timer = setInterval(draw, DRAW_EVERY_MS);
  timer.unref?.();
  return {
    to: (value) => {
      share = value;
      draw();
    },
    end: () => {
      clearInterval(timer);
      if (stream.isTTY) stream.write('\r\u001b[K');
    },
  };
};

/** A build of fewer targets than this is over before one reads the line. */
const MANY = 10;

/** For `build`: the first build of a checkout says how far it is. */
export const buildProgress = () => {
  let shown;
  return {
    begin: (count) => {
      if (count >= MANY) shown = showProgress(`Building ${count} parts. The first build takes about a minute; later ones build what changed.`);
    },
    step: (done, count) => shown?.to(done / count),
    end: () => shown?.end(),
  };
};
