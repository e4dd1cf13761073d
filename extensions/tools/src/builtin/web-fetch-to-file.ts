/** A page or a file of the web becomes a file of the workspace, whatever its type; the model reads none of it here. */
import { type AnyTool, defineTool, type ExtensionContext, type FetchResponse, Type } from '@svc/api';
import { requestPreview } from './previews.js';
import { type Workspaces, writablePath } from './workspace.js';

/** It is held in memory until it is whole. */
const MAX_BYTES = 50 * 1024 * 1024;
const DEFAULT_BYTES = 10 * 1024 * 1024;
/** The adapter ends an exchange at `[web.fetch] timeout_secs`. */
const TIMEOUT_MS = 3_630_000;

export const webFetchToFileTool = (workspaces: Workspaces, fetch: ExtensionContext['fetch']): AnyTool =>
  defineTool({
    name: 'web_fetch_to_file',
    description: 'Fetches an address with GET and saves what it answers, of any type, as a file of your workspace. Only hosts you were granted can be reached. Use file_read to read a text file.',
    params: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 4_000, description: 'http or https' }),
      dest_path: Type.String({ minLength: 1, maxLength: 4_096, description: 'Path from the workspace; an existing file is replaced' }),
      max_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BYTES, description: `More than this is an error; by default ${DEFAULT_BYTES}` })),
    }),
    risk: 'network',
    capabilities: ['file_system'],
    needs: ({ dest_path, url }) => [
      { capability: 'network', target: url },
      { capability: 'file_system', target: dest_path },
    ],
    writes: ({ dest_path }) => [dest_path],
    // GET only, and the file is replaced as a whole.
    replay: 'safe',
    parallel: false,
    timeoutMs: TIMEOUT_MS,
    preview: ({ url }) => requestPreview(url),
    run: async ({ dest_path, max_bytes: maxBytes = DEFAULT_BYTES, url }, call) => {
      const dir = workspaces.of(call);
      const target = writablePath(dir, dest_path);
      const response = await fetch(url, { purpose: 'tool', signal: call.signal, maxBytes, allowHosts: call.capabilities.network });
      if (response.status >= 400) {
        response.cancel();
        return { content: `[${response.status} ${response.url}]\nNothing was saved.`, isError: true };
      }
      const data = await wholeOf(response);
      await dir.write(target, data, { noLinks: true });
      return `[${response.status} ${response.url}]\nSaved ${data.length} bytes (${(response.headers['content-type'] ?? 'of unknown type').slice(0, 100)}) as ${target}.`;
    },
  });

const wholeOf = async (response: FetchResponse): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  // More than `maxBytes` of the request ends the exchange.
  await response.each((piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
};
