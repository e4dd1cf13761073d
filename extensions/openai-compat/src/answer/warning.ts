/** The header that says what of a request the model was asked without. */
import type { LeftOut } from '@svc/ext-llm/contract';

const WARNING = 'x-svc-warning';
/** Headers hold neither line ends nor letters of other alphabets. */
const NOT_IN_HEADERS = /[^\x20-\x7e]/g;

export const warningOf = (leftOut: readonly LeftOut[]): Readonly<Record<string, string>> =>
  leftOut.length === 0
    ? {}
    : {
        [WARNING]: leftOut
          .map(({ parameter, why }) => `${parameter} was left out: ${why}`)
          .join('; ')
          .replace(NOT_IN_HEADERS, '?'),
      };

/** Those of `first`, and of `more` what is not among them. */
export const together = (first: readonly LeftOut[], more: readonly LeftOut[]): readonly LeftOut[] => [...first, ...more.filter(({ parameter }) => !first.some((one) => one.parameter === parameter))];
