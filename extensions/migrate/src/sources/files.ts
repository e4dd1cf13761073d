/** Reading what may not be there, and text that may be of any length. */
import { type ForeignDatabase, type ForeignDir, isSvcError } from '@svc/api';
import { isTable, type SourceFile, type SourceMemory, type Table, tableOf } from './model.js';

const MAX_JSON_BYTES = 64 * 1_048_576;
const MAX_LINE_CHARS = 32 * 1_048_576;
const MAX_LISTED = 100_000;
const MAX_MEMORY_CHARS = 8_000;

export const textAt = async (dir: ForeignDir, path: string, maxBytes = MAX_JSON_BYTES): Promise<string | undefined> => {
  const found = await dir.stat(path).catch(() => undefined);
  return found?.kind === 'file' ? dir.readText(path, { maxBytes }) : undefined;
};

/** Undefined where it is not there; throws where it is no JSON. */
export const jsonAt = async (dir: ForeignDir, path: string): Promise<unknown> => {
  const text = await textAt(dir, path);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
};

export const namesIn = async (dir: ForeignDir, path: string, kind: 'file' | 'dir'): Promise<string[]> => {
  const found = await dir.stat(path).catch(() => undefined);
  if (found?.kind !== 'dir') return [];
  return (await dir.list(path, { limit: MAX_LISTED }))
    .filter((entry) => entry.kind === kind)
    .map(({ name }) => name.split('/').at(-1) ?? name)
    .sort();
};

/** Lines of a file, one in memory at a time. */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) throw new Error(`a line has more than ${MAX_LINE_CHARS} characters`);
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/** Each line that is a JSON object; one that is cut off is left out. */
export const tablesIn = (text: string): Table[] =>
  text.split('\n').flatMap((line) => {
    const table = tableIn(line);
    return table ? [table] : [];
  });

export const tableIn = (line: string): Table | undefined => {
  if (line.trim() === '') return undefined;
  try {
    const value = JSON.parse(line) as unknown;
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const columnsOf = async (database: ForeignDatabase, table: string): Promise<ReadonlySet<string>> =>
  new Set((await database.all<{ name: string }>('SELECT name FROM pragma_table_info(?)', [table])).map(({ name }) => name));

export const reasonOf = (error: unknown): string => (isSvcError(error) || error instanceof Error ? error.message.replace(/\.$/, '') : String(error)).slice(0, 300);

/** NAME=value lines, with or without `export` and quotes. */
export const envLines = (text: string): Array<[name: string, value: string]> =>
  text.split('\n').flatMap((line) => {
    const [, name, raw] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || raw === undefined) return [];
    const value = /^(["'])(.*)\1$/.exec(raw)?.[2] ?? raw;
    return value === '' ? [] : [[name, value] as [string, string]];
  });

const PROVIDERS: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    ANTHROPIC_API_KEY: 'anthropic',
    OPENAI_API_KEY: 'openai',
    GEMINI_API_KEY: 'gemini',
    GOOGLE_API_KEY: 'gemini',
    GROQ_API_KEY: 'groq',
    OPENROUTER_API_KEY: 'openrouter',
    DEEPSEEK_API_KEY: 'deepseek',
    MISTRAL_API_KEY: 'mistral',
    XAI_API_KEY: 'xai',
    TOGETHER_API_KEY: 'together',
  }),
);
export const providerOfVariable = (name: string): string | null => PROVIDERS.get(name) ?? null;

/** MEMORY.md and its like: each paragraph or item of a list is one memory. */
export const memoriesIn = (text: string, file: string): SourceMemory[] => {
  const chunks = text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .split(/\n\s*\n|\n(?=\s*[-*] )|\n\u00a7\n/)
    .map((chunk) => chunk.replace(/^\s*[-*] /, '').trim())
    .filter((chunk) => chunk !== '' && !/^#+ [^\n]*$/.test(chunk));
  return chunks.map((content, index) => ({ key: `${file}#${index}:${content.slice(0, 80)}`, content: content.slice(0, MAX_MEMORY_CHARS) }));
};

const IDENTITY = ['SOUL.md', 'IDENTITY.md', 'USER.md', 'TOOLS.md', 'AGENTS.md', 'BOOTSTRAP.md', 'HEARTBEAT.md'];

export interface WorkspaceFound {
  readonly files: readonly SourceFile[];
  readonly memories: readonly SourceMemory[];
  readonly skills: ReadonlyArray<{ readonly name: string; readonly path: string }>;
}

/** A workspace folder: who the agent is, what it remembers, its skills. */
export const readWorkspace = async (dir: ForeignDir, path: string): Promise<WorkspaceFound> => {
  const names = await namesIn(dir, path, 'file');
  const files = IDENTITY.filter((name) => names.includes(name)).map((name) => ({ path: `${path}/${name}`, to: `.identity/${name}` }));
  const memories: SourceMemory[] = [];
  if (names.includes('MEMORY.md')) memories.push(...memoriesIn((await textAt(dir, `${path}/MEMORY.md`)) ?? '', 'MEMORY.md'));
  for (const name of await namesIn(dir, `${path}/memory`, 'file')) {
    if (!name.endsWith('.md')) continue;
    const day = /^(\d{4}-\d\d-\d\d)/.exec(name)?.[1];
    memories.push(
      ...memoriesIn((await textAt(dir, `${path}/memory/${name}`)) ?? '', `memory/${name}`).map((memory) => ({ ...memory, ...(day === undefined ? {} : { createdAt: `${day}T12:00:00.000Z` }) })),
    );
  }
  return { files, memories, skills: await skillsIn(dir, `${path}/skills`) };
};

export const skillsIn = async (dir: ForeignDir, path: string): Promise<Array<{ name: string; path: string }>> => {
  const found: Array<{ name: string; path: string }> = [];
  for (const name of await namesIn(dir, path, 'dir')) {
    if (await isFile(dir, `${path}/${name}/SKILL.md`)) found.push({ name, path: `${path}/${name}` });
    else for (const inner of await namesIn(dir, `${path}/${name}`, 'dir')) if (await isFile(dir, `${path}/${name}/${inner}/SKILL.md`)) found.push({ name: inner, path: `${path}/${name}/${inner}` });
  }
  return found;
};

export const isFile = async (dir: ForeignDir, path: string): Promise<boolean> => (await dir.stat(path).catch(() => undefined))?.kind === 'file';
export const isFolder = async (dir: ForeignDir, path: string): Promise<boolean> => (await dir.stat(path).catch(() => undefined))?.kind === 'dir';

/** `anthropic/claude-x` in its two parts. */
export const modelOf = (value: unknown): { provider: string | null; model: string | null } => {
  const text = typeof value === 'string' ? value : typeof tableOf(value).primary === 'string' ? String(tableOf(value).primary) : undefined;
  if (text === undefined || text === '') return { provider: null, model: null };
  const [provider = '', ...rest] = text.split('/');
  return rest.length === 0 ? { provider: null, model: text } : { provider, model: rest.join('/') };
};

/** Who holds the file or says by a pid file that it runs. */
export const holdersOf = async (dir: ForeignDir, paths: readonly string[]): Promise<number[]> => {
  const found = await Promise.all(paths.map((path) => dir.heldBy(path).catch((): number[] => [])));
  return [...new Set(found.flat())];
};
