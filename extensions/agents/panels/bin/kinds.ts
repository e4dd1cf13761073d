/** What the bin holds: conversations, agents and files, each with its own calls. */
import { bytes, type ChangeKind, daemon, count } from '@svc/kit';
import { t } from './words.js';

export interface Binned {
  readonly id: string;
  readonly name: string;
  /** What else tells it from others. */
  readonly about: string;
  readonly deletedAt: string;
  readonly until: string;
  /** Of a file: under another name, where its own is taken. */
  readonly restore: (elsewhere?: string) => Promise<unknown>;
  readonly erase: () => Promise<unknown>;
}

export interface Kind {
  readonly id: 'conversations' | 'agents' | 'files';
  readonly permission: string;
  readonly changes: readonly ChangeKind[];
  load(signal: AbortSignal): Promise<readonly Binned[]>;
}

const MOST = 200;
const MOST_AGENTS = 500;

const conversations: Kind = {
  id: 'conversations',
  permission: 'sessions.write',
  changes: ['session', 'agent'],
  load: async (signal) => {
    const { sessions } = await daemon.call('listSessions', { deleted: 'only', limit: MOST }, { signal });
    return sessions.map(({ session_id: id, label, agent_name: agent, message_count: messages, deleted_at: at = '', restorable_until: until = '' }) => ({
      id,
      name: label ?? t('no_words'),
      about: t('said_to', { agent: agent ?? '', messages: count(messages) }),
      deletedAt: at,
      until,
      restore: () => daemon.call('archiveSession', { id, body: { archived: false } }),
      erase: () => daemon.call('deleteSession', { id, all_versions: true, erase: true }),
    }));
  },
};

const agents: Kind = {
  id: 'agents',
  permission: 'agents.write',
  changes: ['agent'],
  load: async (signal) => {
    const found = await daemon.call('listAgents', { deleted: 'only', limit: MOST }, { signal });
    return found.agents.map(({ id, name, description, deleted_at: at = '', restorable_until: until = '' }) => ({
      id,
      name,
      about: description,
      deletedAt: at,
      until,
      restore: () => daemon.call('resumeAgent', { id }),
      erase: () => daemon.call('killAgent', { id, erase: true }),
    }));
  },
};

const files: Kind = {
  id: 'files',
  permission: 'files.write',
  changes: ['files', 'agent'],
  load: async (signal) => {
    const [{ rows }, { agents: all }] = await Promise.all([daemon.call('listUploads', { deleted: 'only', limit: MOST }, { signal }), daemon.call('listAgents', { limit: MOST_AGENTS }, { signal })]);
    const names = new Map(all.map(({ id, name }) => [id, name]));
    return rows.map(({ file_id: id, filename, path = filename, agent_id: agentId, size, deleted_at: at = '', restorable_until: until = '' }) => ({
      id,
      name: path,
      about: t('file_of', { agent: names.get(agentId ?? '') ?? '', size: bytes(size) }),
      deletedAt: at,
      until,
      restore: (elsewhere = path) => daemon.call('putAgentFile', { id: agentId ?? '', filename: elsewhere, body: { restore: id } }),
      erase: () => daemon.call('deleteUpload', { file_id: id }),
    }));
  },
};

export const KINDS = [conversations, agents, files] as const;
