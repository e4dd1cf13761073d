/** The `mcpServers` of other clients (Claude Desktop, Cursor, VS Code …), as entries of svc. */
import { isTable } from '@svc/api';

/** As the body of `addMcpServer`. */
export interface ImportedServer {
  name: string;
  transport: { type: 'stdio'; command: string; args: string[]; cwd?: string } | { type: 'http' | 'sse'; url: string };
  env?: string[];
  headers?: string[];
  enabled?: boolean;
}

/** Or why the text cannot be used, as the end of a sentence. */
export const entriesOfClient = (text: string): ImportedServer[] | string => {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const servers = isTable(raw) ? (raw.mcpServers ?? raw.servers ?? (isTable(raw.mcp) ? raw.mcp.servers : undefined) ?? raw) : undefined;
  if (!isTable(servers) || Object.keys(servers).length === 0) return 'it has no "mcpServers"';
  const entries: ImportedServer[] = [];
  for (const [key, value] of Object.entries(servers)) {
    const entry = isTable(value) ? entryOf(key, value) : 'it is no table';
    if (typeof entry === 'string') return `"${key}": ${entry}`;
    entries.push(entry);
  }
  return entries;
};

const entryOf = (key: string, { command, args, env, url, serverUrl, type, transport, headers, cwd, disabled }: Readonly<Record<string, unknown>>): ImportedServer | string => {
  const name = key
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  if (name === '') return 'its name has no letter';
  const off = disabled === true ? { enabled: false } : {};
  const address = url ?? serverUrl;
  if (typeof address === 'string') {
    const kind: 'http' | 'sse' = type === 'sse' || transport === 'sse' ? 'sse' : 'http';
    return { name, transport: { type: kind, url: address }, headers: pairs(headers, ': '), ...off };
  }
  if (typeof command !== 'string') return 'it has neither "command" nor "url"';
  const words = Array.isArray(args) ? args.map(String) : [];
  return { name, transport: { type: 'stdio', command, args: words, ...(typeof cwd === 'string' ? { cwd } : {}) }, env: pairs(env, '='), ...off };
};

const pairs = (table: unknown, between: string): string[] => (isTable(table) ? Object.entries(table).map(([name, value]) => `${name}${between}${String(value)}`) : []);
