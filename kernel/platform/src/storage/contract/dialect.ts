/** Where the text of SQL differs between engines. Everything else about a write is said once, in write-compiler.ts. */
import { storageErrors } from './errors.js';

export interface Dialect {
  /** A quoted column or table name; throws `storage_bad_write` for what is none. */
  identifier(name: string): string;
  /** A literal of exactly this value; throws for what the engine cannot keep. */
  literal(value: unknown): string;
  /** A literal for a column of a row that is written: what no text of the engine may hold is replaced. */
  stored(value: unknown): string;
  /** A condition that also finds NULL. Both sides are SQL text. */
  isSame(column: string, literal: string): string;
  /** SQL behind a statement that keeps how many rows it changed; '' where the engine tells by itself. */
  counting(unit: number, write: number): string;
  /** SQL behind a statement that fails unless it changed `rows` rows; '' where the batch is validated before COMMIT. */
  guarding(write: number, rows: number): string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const checkIdentifier = (name: string): string => {
  if (!IDENTIFIER.test(name)) throw storageErrors.bad_write(`"${name}" is not a column or table name`);
  return name;
};

/** Beyond 2^53 a number of JavaScript is not exact: it is neither written nor read, rather than changed in silence. */
export const isExact = (value: number): boolean => value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;

export const storableNumber = (value: unknown): number => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw storageErrors.bad_write(`a value is ${typeof value === 'number' ? String(value) : typeof value}; only text, finite numbers and null are stored`);
  if (!isExact(value)) throw storageErrors.number_too_large(String(value));
  return value;
};

/** In brackets when negative: behind a minus two of them would begin a comment. */
export const numberText = (value: number): string => (value < 0 ? `(${value})` : String(value));
