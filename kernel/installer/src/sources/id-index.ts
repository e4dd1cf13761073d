/**
 * The index of bare ids: a JSON document at the configured address that names the source of each extension.
 * `{"format": 1, "extensions": {"acme-weather": {"source": "npm:@acme/weather@^1"}}}`
 */
import { isTable } from '@svc/api';
import { installErrors } from '../errors.js';
import { downloadJson } from './download.js';
import type { FetchContext } from './fetching.js';
import { parseSource, type Source, withoutSecrets } from './source.js';

export type RemoteSource = Extract<Source, { readonly kind: 'npm' | 'url' | 'git' }>;

export interface Named {
  readonly source: RemoteSource;
  /** The index, where what it names has to be public: it belongs to others. */
  readonly namedBy: string | undefined;
}

/** An id that the index does not name is not looked for elsewhere: somebody else may have taken the name there. */
export const sourceOfId = async (id: string, index: string, context: FetchContext): Promise<Named> => {
  const shown = withoutSecrets(index);
  context.onProgress({ step: 'resolve', what: id });
  const found = await downloadJson(index, `The index ${shown}`, context);
  if (!isTable(found) || found.format !== 1 || !isTable(found.extensions)) throw installErrors.download(`The index ${shown}`, 'it has another form');
  const entry = Object.hasOwn(found.extensions, id) ? found.extensions[id] : undefined;
  if (!isTable(entry) || typeof entry.source !== 'string') throw installErrors.not_found(`extension ${id}`, `in the index ${shown}`);
  // A repository or a port of this machine is nothing that an index of others may name; one of this machine may.
  const isOwn = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])[:/]/.test(index);
  const source = (isOwn ? /^(?:npm:|https?:|git\+)/ : /^(?:npm:|https:|git\+https:)/).test(entry.source) ? await parseSource(entry.source) : undefined;
  if (source?.kind === 'npm' || source?.kind === 'url' || source?.kind === 'git') return { source, namedBy: isOwn ? undefined : index };
  throw installErrors.source(`the index ${shown} names ${JSON.stringify(entry.source)} for ${id}`);
};
