/** Lines of the workspace that match a pattern. */
import { type AnyTool, type Clock, defineTool, type Dir, encodingOf, isSvcError, type ToolCall, Type, type Workers } from '@svc/api';
import { pathIn, type Workspaces } from '../builtin/workspace.js';
import { toolErrors } from '../errors.js';
import { SearchLines, type FoundLine, type SearchInput } from '../workers/search-workers.js';
import { walk, type WalkLimits } from './walk.js';

const MAX_QUERY_CHARS = 1_000;
const DEFAULT_RESULTS = 50;
const MAX_RESULTS = 200;
const MAX_CONTEXT = 10;
/** Larger files are hardly what somebody wrote. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** A NUL among so many bytes: no text. */
const SNIFFED_BYTES = 8_192;
/** Files that are read at the same time, and searched in one go. */
const AT_ONCE = 8;
const BATCH_CHARS = 4 * 1024 * 1024;
const BATCH_FILES = 500;
/** After that the search ends with what it has. */
const SEARCH_MS = 30_000;
const TIMEOUT_MS = 45_000;
/** Of the text that is shown; the rest is counted. */
const MAX_SHOWN_CHARS = 45_000;
/** What a worker says of a pattern that cannot be borne. */
const TOO_COSTLY = new Set(['workers_timeout', 'workers_out_of_memory']);

export interface CodeSearchDeps {
  readonly workspaces: Workspaces;
  readonly workers: Workers;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly limits?: WalkLimits;
}

export const codeSearchTool = (deps: CodeSearchDeps): AnyTool =>
  defineTool({
    name: 'code_search',
    description:
      'Searches the text files of your workspace with a regular expression, and returns matching lines with file, line number and surrounding lines. Skips files in .gitignore and .ignore, links and files that are not text. Uses RE2 syntax: no look-around, no back references. A query without special characters is plain text.',
    params: Type.Object({
      query: Type.String({ minLength: 1, maxLength: MAX_QUERY_CHARS, description: 'Regular expression, matched within single lines' }),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'File or folder to search; by default, the whole workspace' })),
      glob: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Only files that match, such as *.ts or src/**/*.md' })),
      case_sensitive: Type.Optional(Type.Boolean({ description: 'Default false' })),
      max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS, description: `Matching lines to show. Default ${DEFAULT_RESULTS}` })),
      context: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_CONTEXT, description: 'Lines to show before and after each. Default 1' })),
    }),
    risk: 'read',
    openWorld: false,
    capabilities: ['file_system'],
    needs: ({ path }) => [{ capability: 'file_system', target: path ?? '.' }],
    replay: 'safe',
    parallel: true,
    timeoutMs: TIMEOUT_MS,
    run: async ({ query, path = '.', glob = null, case_sensitive = false, max_results = DEFAULT_RESULTS, context = 1 }, call) => {
      const dir = deps.workspaces.of(call);
      const place = pathIn(dir, path);
      const ask = { query, isCaseSensitive: case_sensitive, context };
      const ending = endAfter(deps.clock, SEARCH_MS, call);
      const search: Search = { dir, workers: deps.workers, signal: ending.signal, ask, room: max_results, found: [], more: 0, looked: 0, binaries: 0, large: 0 };
      try {
        // Validates the query before a file is read.
        await searchBatch(search, []);
        const { files, isCut } = await filesAt(deps, search, place, path, glob);
        await searchFiles(search, files);
        return report(search, isCut ? `[there are more files than are searched: only the first ${files.length}; give a path]` : undefined);
      } catch (error) {
        if (ending.isLate() && !call.signal.aborted)
          return report(search, `[stopped after ${SEARCH_MS / 1000} s, before all files were searched: give the path of a folder, or a simpler query or glob]`);
        throw isSvcError(error) && TOO_COSTLY.has(error.code) ? toolErrors.search_too_costly().with({ cause: error }) : error;
      } finally {
        ending.leave();
      }
    },
  });

interface Search {
  readonly dir: Dir;
  readonly workers: Workers;
  readonly signal: AbortSignal;
  readonly ask: Pick<SearchInput, 'query' | 'isCaseSensitive' | 'context'>;
  readonly room: number;
  readonly found: FoundLine[];
  more: number;
  looked: number;
  binaries: number;
  large: number;
}

const endAfter = (clock: Pick<Clock, 'sleep'>, ms: number, call: ToolCall) => {
  const late = new AbortController();
  const over = new AbortController();
  void clock.sleep(ms, over.signal).then(
    () => late.abort(new Error('the search took too long')),
    () => undefined, // it ended in time
  );
  return { signal: AbortSignal.any([call.signal, late.signal]), isLate: () => late.signal.aborted, leave: () => over.abort() };
};

/** A file that is named is searched whatever ignore files say of it. */
const filesAt = async ({ workers, limits }: CodeSearchDeps, { dir, signal }: Search, place: string, asked: string, glob: string | null) => {
  const found = await dir.stat(place);
  if (!found && place !== '.') throw toolErrors.no_file(asked);
  if (found && found.kind === 'file') return { files: [place], isCut: false };
  if (found && found.kind !== 'dir') throw toolErrors.not_a_folder(asked);
  return walk({ dir, workers, signal, glob }, place, limits);
};

type Text = SearchInput['files'][number];

const searchFiles = async (search: Search, paths: readonly string[]): Promise<void> => {
  let batch: Text[] = [];
  let chars = 0;
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    search.signal.throwIfAborted();
    const read = await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => readOne(search, path)));
    for (const one of read.flat()) {
      batch.push(one);
      chars += one.text.length;
    }
    if (chars < BATCH_CHARS && batch.length < BATCH_FILES && at + AT_ONCE < paths.length) continue;
    await searchBatch(search, batch);
    batch = [];
    chars = 0;
  }
};

/** None where it is too large, no text, or has gone or been locked meanwhile. */
const readOne = async (search: Search, path: string): Promise<Text[]> => {
  try {
    const bytes = await search.dir.read(path, { maxBytes: MAX_FILE_BYTES });
    const encoding = encodingOf(bytes);
    if (encoding !== 'utf-8' || !bytes.subarray(0, SNIFFED_BYTES).includes(0)) return [{ path, text: new TextDecoder(encoding).decode(bytes) }];
    search.binaries += 1;
    return [];
  } catch (error) {
    if (!isSvcError(error)) throw error;
    if (error.code === 'file_too_large') search.large += 1;
    return [];
  }
};

const searchBatch = async (search: Search, files: readonly Text[]): Promise<void> => {
  const { problem, found, more } = await search.workers.run(SearchLines, { ...search.ask, room: search.room - search.found.length, files }, { signal: search.signal });
  if (problem !== undefined) throw toolErrors.bad_arguments('code_search', `query is not a valid regular expression: ${problem.slice(0, 300)}`);
  search.found.push(...found);
  search.more += more;
  search.looked += files.length;
};

const report = ({ found, more, looked, binaries, large, ask }: Search, note: string | undefined): string => {
  const blocks: string[] = [];
  let chars = 0;
  for (const one of found) {
    const block = shown(one);
    if (chars + block.length > MAX_SHOWN_CHARS) break;
    blocks.push(block);
    chars += block.length + 4;
  }
  const unseen = more + found.length - blocks.length;
  const skipped = [...(large > 0 ? [`${large} larger than ${MAX_FILE_BYTES} bytes`] : []), ...(binaries > 0 ? [`${binaries} that are no text`] : [])];
  return [
    blocks.length === 0 ? `[nothing matches in ${looked} files]` : blocks.join(ask.context > 0 ? '\n--\n' : '\n'),
    ...(unseen > 0 ? [`[${unseen} more lines match: narrow the query, or give a path or glob]`] : []),
    ...(skipped.length > 0 ? [`[not searched: ${skipped.join(', ')}]`] : []),
    ...(note === undefined ? [] : [note]),
  ].join('\n');
};

const shown = ({ path, line, before, after }: FoundLine): string =>
  [...before.map(({ number, text }) => `${path}-${number}-${text}`), `${path}:${line.number}:${line.text}`, ...after.map(({ number, text }) => `${path}-${number}-${text}`)].join('\n');
