/** Errors as they cross: what may be shown of one that has a code, the sentence alone of any other. */
import { isSvcError, SvcError } from '@svc/api';
import { describing } from './answer-headers.js';
import { holdsBytes } from './packed.js';

export interface WireError {
  readonly name: string;
  readonly message: string;
  /** Of an error that may be shown. */
  readonly code?: string;
  readonly status?: number;
  readonly retry?: boolean;
  readonly hint?: string;
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const toWire = (error: unknown): WireError => {
  if (isSvcError(error)) {
    const { name, message, code, status, retry, hint, details, headers } = error;
    return { name, message, code, status, retry, ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }), headers: { ...headers } };
  }
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: 'Error', message: String(error) };
};

const MAX_TEXT = 10_000;
const STATUS = { least: 400, most: 599 };
const CODE = /^[\w.:-]{1,100}$/;

/** Whatever came is an error: what does not look like one is told as such, and what no answer may hold is left out. */
export const fromWire = (value: unknown): Error => {
  const { name, message, code, status, retry, hint, details, headers } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<keyof WireError, unknown>>;
  const text = typeof message === 'string' ? message.slice(0, MAX_TEXT) : 'It failed without a reason.';
  if (typeof code !== 'string' || !CODE.test(code) || typeof status !== 'number' || !Number.isInteger(status) || status < STATUS.least || status > STATUS.most) {
    const plain = new Error(text);
    if (typeof name === 'string') plain.name = name.slice(0, 100);
    return plain;
  }
  return new SvcError(code, text, {
    status,
    retry: retry === true,
    ...(typeof hint === 'string' ? { hint: hint.slice(0, MAX_TEXT) } : {}),
    details: holdsBytes(details) ? undefined : details,
    headers: describing(textsOf(headers)),
  });
};

const textsOf = (headers: unknown): Record<string, string> =>
  typeof headers === 'object' && headers !== null ? Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')) : {};
