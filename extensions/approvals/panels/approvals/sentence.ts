/** What a request would do, in one sentence: made from its preview, never from what the agent says of it. */
import type { Approval } from './preview.js';
import { t } from './words.js';

const MAX_COMMAND_CHARS = 80;
const MAX_NAMED_FILES = 3;

const lines = (count: number): string => (count === 1 ? t('lines_one') : t('lines_many', { count }));

export const sentenceOf = ({ agent_name: agent, tool_name: tool, preview }: Pick<Approval, 'agent_name' | 'tool_name' | 'preview'>): string => {
  if (preview.kind === 'diff') return ofFiles(agent, preview.files) ?? t('wants', { agent, tool });
  if (preview.kind === 'command') return preview.line.length <= MAX_COMMAND_CHARS && !preview.line.includes('\n') ? t('wants_run', { agent, command: preview.line }) : t('wants_command', { agent });
  if (preview.kind === 'request') return t('wants_request', { agent, method: preview.method, host: preview.host });
  return t('wants', { agent, tool });
};

type Files = Extract<Approval['preview'], { kind: 'diff' }>['files'];

const ofFiles = (agent: string, files: Files): string | undefined => {
  const [file, ...rest] = files;
  if (!file) return undefined;
  if (rest.length > 0) {
    const paths = files.slice(0, MAX_NAMED_FILES).map(({ path }) => path);
    return t('wants_files', { agent, count: files.length, paths: [...paths, ...(files.length > MAX_NAMED_FILES ? ['…'] : [])].join(', ') });
  }
  const { path, change, added, removed } = file;
  if (change === 'create') return t('wants_create', { agent, path, lines: lines(added) });
  if (change === 'delete') return t('wants_delete', { agent, path, lines: lines(removed) });
  return t('wants_update', { agent, path, added: lines(added), removed: lines(removed) });
};
