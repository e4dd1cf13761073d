/** What whoever changes a file believes it to be: If-Match and If-None-Match (RFC 9110, 13.1), or `expected` of a body. */
import { fileErrors } from '../errors.js';
import type { Expects } from './service.js';

interface Asked {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The `rev` that was read; null: there was no such file. */
  readonly expected?: string | null | undefined;
}

export const expectationsOf = ({ headers, expected }: Asked): Expects => {
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  return (path, rev) => {
    if (match !== undefined && !names(match, rev)) throw fileErrors.precondition_failed(path, rev);
    if (noneMatch !== undefined && names(noneMatch, rev)) throw fileErrors.precondition_failed(path, rev);
    if (expected !== undefined && expected !== (rev ?? null)) throw fileErrors.changed(path, rev);
  };
};

/** Strong comparison: a tag that begins with W/ names no version. `*` is any that is there. */
const names = (tags: string, rev: string | undefined): boolean => rev !== undefined && tags.split(',').some((tag) => tag.trim() === '*' || tag.trim() === `"${rev}"`);
