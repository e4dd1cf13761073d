/** What failed and why, as the last lines of a run: the whole errors, then all of them in short, so that the end of a log that was cut holds them. */

/** More lines than this of one error are the page or the log that it quotes. */
const LINES_OF_AN_ERROR = 60;
/** Characters of the short form: with the counts it fits into the last 4 KB of a log. */
const SHORT_CHARS = 3_400;
/** A title and a reason need so many at least. */
const LEAST_CHARS = 170;
const TITLE_CHARS = 140;

const cut = (text, chars) => (text.length > chars ? `${text.slice(0, Math.max(0, chars - 3))}...` : text);

const indented = (text, by) =>
  text
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');

/** An error has its stack behind its message. Of that, the first place that is ours is enough. */
const inShort = (error) => {
  const lines = error.split('\n');
  const begin = lines.findIndex((line) => /^\s+at /.test(line));
  if (begin === -1) return error;
  const place = lines.slice(begin).find((line) => /^\s+at /.test(line) && !/node_modules|node:/.test(line));
  return [...lines.slice(0, begin), ...(place ? [place.trim()] : [])].join('\n');
};

/** The place stays, however long the message is. */
const fitted = (error, chars) => {
  const lines = inShort(error).split('\n');
  const place = lines.at(-1)?.startsWith('at ') ? `\n${cut(lines.pop() ?? '', 120)}` : '';
  return `${cut(lines.join('\n'), chars - place.length)}${place}`;
};

const listed = (what, failures, textOf) => (failures.length === 0 ? [] : [`\n${what}, ${failures.length}:`, ...failures.map((one) => textOf(one))]);

/** A failure of both runs has the error of the first as `before`. */
const errorsOf = ({ message, before }) =>
  before === undefined
    ? [['', message]]
    : [
        ['beside others: ', before],
        ['by itself: ', message],
      ];

const whole = (one) => [`\n  ${one.title}`, ...errorsOf(one).map(([label, error]) => indented(`${label}${error.split('\n').slice(0, LINES_OF_AN_ERROR).join('\n')}`, '    '))].join('\n');

const shortest = (chars) => (one) => {
  // The same error twice says nothing more the second time.
  const errors = errorsOf(one).filter(([, error], index, all) => index === 0 || inShort(error) !== inShort(all[0][1]));
  const title = cut(one.title, TITLE_CHARS);
  const each = Math.floor((chars - title.length - 4) / errors.length) - 24;
  return [`  ${title}`, ...errors.map(([label, error]) => indented(`${label}${fitted(error, each)}`, '    '))].join('\n');
};

const BESIDE = 'failed beside others and passed alone';

/** `failures` and `unsteady` are lists of `{ title, message, before? }`. Empty where nothing failed. */
export const closingLines = ({ failures, unsteady }) => {
  const all = failures.length + unsteady.length;
  if (all === 0) return '';
  const most = Math.floor(SHORT_CHARS / LEAST_CHARS);
  const text = shortest(Math.floor(SHORT_CHARS / Math.min(all, most)));
  // What failed for good is more than what passed alone.
  const shown = { failures: failures.slice(0, most), unsteady: unsteady.slice(0, Math.max(0, most - failures.length)) };
  const left = all - shown.failures.length - shown.unsteady.length;
  return [
    ...listed(BESIDE, unsteady, whole),
    ...listed('failed', failures, whole),
    '\n--- in short ---',
    ...(left > 0 ? [`${left} more are above`] : []),
    ...listed(BESIDE, shown.unsteady, text),
    ...listed('failed', shown.failures, text),
  ].join('\n');
};

/** What failed in both runs of a file has both errors; what failed in the first one alone is unsteady. */
export const comparedRuns = (first, second) => {
  const [before, again] = [first, second].map((failures) => new Map(failures.map((one) => [one.title, one.message])));
  return {
    failures: second.map((one) => (before.has(one.title) ? { ...one, before: before.get(one.title) } : one)),
    unsteady: first.filter(({ title }) => !again.has(title)),
  };
};
