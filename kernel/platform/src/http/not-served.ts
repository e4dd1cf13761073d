/** What a request gets that no route answers. */
import type { SvcError } from '@svc/api';
import { httpErrors } from './errors.js';

/** The extension that would answer this if it ran. */
export type OffExtension = (method: string, path: string) => string | undefined;

export const notServed = ({ offExtension }: { readonly offExtension: OffExtension }, method: string, path: string): SvcError => {
  const id = offExtension(method === 'HEAD' ? 'GET' : method, path);
  return id === undefined ? httpErrors.not_found(path) : httpErrors.extension_off(path, id);
};
