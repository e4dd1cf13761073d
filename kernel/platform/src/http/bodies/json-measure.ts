/**
 * Depth and number of values of a JSON text, counted over its bytes as they arrive: what would cost
 * seconds to parse and to check is refused before either. Whether the text is JSON is the parser's word.
 */
import type { SvcError } from '@svc/api';
import { httpErrors } from '../errors.js';

export const MAX_JSON_DEPTH = 64;
/** Lists, objects and their members. A long conversation has some thousand. */
export const MAX_JSON_VALUES = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `[` and `{` differ in one bit, and so do `]` and `}`. */
const SIDE_BIT = 0x20;
const OPEN = 0x5b | SIDE_BIT;
const CLOSE = 0x5d | SIDE_BIT;

/** Takes the next bytes; gives what is wrong once something is. Inside UTF-8 none of these bytes stands for anything else. */
export const createJsonMeasure = (): ((chunk: Uint8Array) => SvcError | undefined) => {
  let depth = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA) values++;
      else if (byte >= 0x5b) {
        const side = byte | SIDE_BIT;
        if (side === OPEN) {
          values++;
          if (++depth > MAX_JSON_DEPTH) return httpErrors.json_too_deep(MAX_JSON_DEPTH);
        } else if (side === CLOSE) depth--;
      }
    }
    return values > MAX_JSON_VALUES ? httpErrors.json_too_many_values(MAX_JSON_VALUES) : undefined;
  };
};
