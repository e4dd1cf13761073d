/** A tool call in one line, as a person would tell it: `Write notes.txt · 5 bytes · 3 ms`. */
import { bytesText, duration, oneLine, printable } from '@svc/cli/area';
import { isTable } from '@svc/api';

export interface ToolCall {
  readonly tool: string;
  readonly input?: unknown;
  readonly result?: string;
  readonly isError?: boolean;
  readonly ms?: number;
}

/** What a tool does, and which of its arguments says to what. */
const SAID: Readonly<Record<string, { readonly verb: string; readonly of: readonly string[] }>> = {
  file_read: { verb: 'Read', of: ['path'] },
  file_write: { verb: 'Write', of: ['path'] },
  file_list: { verb: 'List', of: ['path'] },
  apply_patch: { verb: 'Patch', of: [] },
  code_search: { verb: 'Search', of: ['query', 'path'] },
  shell_exec: { verb: 'Run', of: ['command'] },
  process_start: { verb: 'Start', of: ['command'] },
  process_poll: { verb: 'Check process', of: ['process_id'] },
  process_write: { verb: 'Write to process', of: ['process_id'] },
  process_kill: { verb: 'End process', of: ['process_id'] },
  process_list: { verb: 'List processes', of: [] },
  web_fetch: { verb: 'Fetch', of: ['url'] },
  web_search: { verb: 'Search the web for', of: ['query'] },
  agent_send: { verb: 'Ask', of: ['agent_id'] },
  agent_spawn: { verb: 'Spawn', of: ['name'] },
  agent_list: { verb: 'List agents', of: [] },
  agent_find: { verb: 'Find agents', of: ['query'] },
  agent_kill: { verb: 'Kill', of: ['agent_id'] },
  system_time: { verb: 'Check the time', of: [] },
};

const MAX_SUBJECT_CHARS = 200;

/** Without colour, on one line, of any width: whoever shows it cuts it. */
export const toolLine = (call: ToolCall): string => [title(call), amount(call), call.ms === undefined ? undefined : timeText(call.ms)].filter((part) => part !== undefined).join(' · ');

const title = ({ tool, input }: ToolCall): string => {
  const said = SAID[tool];
  const args = isTable(input) ? input : {};
  const subject = oneLine((said?.of ?? Object.keys(args)).flatMap((name) => (args[name] === undefined ? [] : [textOf(args[name])])).join(' '), MAX_SUBJECT_CHARS);
  if (tool === 'apply_patch') return `Patch ${patchedFiles(args.patch)}`;
  return `${said?.verb ?? printable(tool)}${subject === '' ? '' : ` ${subject}`}`;
};

/** Files that a patch names, in the order it names them. */
const patchedFiles = (patch: unknown): string => {
  const names = [...String(patch ?? '').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, name]) => (name ?? '').trim());
  return oneLine(names.join(', '), MAX_SUBJECT_CHARS) || 'files';
};

const amount = ({ tool, input, result, isError }: ToolCall): string | undefined => {
  if (isError) return oneLine(result ?? 'failed', MAX_SUBJECT_CHARS);
  const args = isTable(input) ? input : {};
  if (tool === 'file_write' && typeof args.content === 'string') return bytesText(Buffer.byteLength(args.content));
  if (result === undefined || result === '') return undefined;
  if (tool === 'file_read') return bytesText(Buffer.byteLength(result));
  const lines = result.split('\n').length;
  return lines > 1 ? `${lines} lines` : undefined;
};

const timeText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms / 1_000));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
