/** Which options of a program are refused, in every spelling that its parser takes: whole, cut short, joined and bundled. */

export interface Options {
  /** Letters of short options; found anywhere in a bundle such as `-xvIf`. */
  readonly short?: string;
  /** With their dashes. Programs take any unambiguous beginning, so every beginning is refused. */
  readonly long?: readonly string[];
  /** Options of their own that are the beginning of a refused one. */
  readonly except?: readonly string[];
  /** Whole words. */
  readonly words?: readonly string[];
  /** What no word may hold; `without` is taken out of it first. */
  readonly text?: RegExp;
  readonly without?: RegExp;
  /** The first word may be a bundle without its dash, as of tar. */
  readonly bundled?: boolean;
}

/** The first refused word at or after `from`, or undefined. Words before it were spelled out by the grant. */
export const optionRefusal =
  (options: Options) =>
  (words: readonly string[], from: number): string | undefined =>
    words.find((word, index) => index >= Math.max(from, 1) && isRefused(options, word, index));

export const isRefused = ({ short = '', long = [], except = [], words = [], text, without, bundled = false }: Options, word: string, index: number): boolean => {
  if (words.includes(word) || isLong(long, except, word)) return true;
  const isBundle = /^-[^-]/.test(word) || (bundled && index === 1 && !word.startsWith('-'));
  if (isBundle && [...lettersOf(word)].some((letter) => short.includes(letter))) return true;
  return text?.test(without ? word.replace(without, '') : word) ?? false;
};

/** `--up`, `--up=x` and `--upload-pack` are all --upload-pack to a program that takes beginnings. */
const isLong = (long: readonly string[], except: readonly string[], word: string): boolean => {
  const name = word.split('=', 1)[0] ?? '';
  return name.length > 2 && name.startsWith('-') && !except.includes(name) && long.some((option) => option.startsWith(name));
};

/** The letters of a bundle end where a value begins. */
const lettersOf = (word: string): string => /^-?([A-Za-z0-9]*)/.exec(word)?.[1] ?? '';
