/** Homes of LibreFang and OpenFang. */
import { encode } from '@msgpack/msgpack';
import { database, insert, put } from './write.js';

export const AGENT = '11111111-aaaa-4bbb-8ccc-000000000001';
export const SESSION = '22222222-aaaa-4bbb-8ccc-000000000001';
export const JSON_SESSION = '22222222-aaaa-4bbb-8ccc-000000000002';

const SCHEMA = `
CREATE TABLE agents (id TEXT PRIMARY KEY, name TEXT NOT NULL, manifest BLOB NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE sessions (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, messages BLOB NOT NULL, context_window_tokens INTEGER DEFAULT 0, label TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE kv_store (agent_id TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, version INTEGER NOT NULL DEFAULT 1, updated_at TEXT NOT NULL, PRIMARY KEY (agent_id, key));
CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, content TEXT NOT NULL, source TEXT NOT NULL, scope TEXT NOT NULL DEFAULT 'episodic', confidence REAL NOT NULL DEFAULT 1.0, metadata TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL, accessed_at TEXT NOT NULL, access_count INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0);
PRAGMA user_version=17;
`;
const WHEN = '2025-06-01T08:00:00+00:00';

export const MESSAGES = [
  { role: 'system', content: 'You are helpful.' },
  { role: 'user', content: 'what grows on the xylophone tree' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 't1', name: 'web_fetch', input: { url: 'https://example.org' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', tool_name: 'web_fetch', content: 'nothing', is_error: true }] },
  { role: 'assistant', content: 'Nothing grows there.' },
];

const memory = (id: string, content: string, deleted = 0): string => insert('memories', { id, agent_id: AGENT, content, source: 'conversation', created_at: WHEN, accessed_at: WHEN, deleted });

export const writeLibreFang = async (root: string, file = 'data/librefang.db'): Promise<void> => {
  const manifest = {
    name: 'helper',
    description: 'Helps',
    model: { provider: 'anthropic', model: 'claude-sonnet-4', system_prompt: 'You help.', max_tokens: 4_096, temperature: 0.7 },
    capabilities: { network: ['*'], shell: ['cat *'], memory_read: ['*'], memory_write: ['self.*'] },
  };
  await put(root, 'config.toml', 'config_version = "3"\n[channels.telegram]\nbot_token_env = "TELEGRAM_BOT_TOKEN"\n');
  await put(root, 'secrets.env', 'GROQ_API_KEY="gsk-of-the-source"\nexport TELEGRAM_BOT_TOKEN=123:abc\n');
  await put(
    root,
    'workspaces/agents/helper/agent.toml',
    `name = "helper"\ndescription = "Helps with things"\n[model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4"\nsystem_prompt = "You help."\n[capabilities]\nnetwork = ["*"]\nshell = ["cat *"]\nmemory_read = ["*"]\n`,
  );
  await put(root, 'workspaces/agents/helper/SOUL.md', 'Kind.');
  await put(root, 'data/cron_jobs.json', [
    { job: { id: 'c1', agent_id: AGENT, name: 'Tidy', enabled: false, schedule: { kind: 'every', every_secs: 3_600 }, action: { kind: 'agent_turn', message: 'Tidy up' } }, one_shot: false },
  ]);
  await database(root, file, [
    SCHEMA,
    insert('agents', { id: AGENT, name: 'helper', manifest: encode(manifest), state: 'running', created_at: WHEN, updated_at: WHEN }),
    insert('sessions', { id: SESSION, agent_id: AGENT, messages: encode(MESSAGES), label: 'Trees', created_at: WHEN, updated_at: WHEN }),
    insert('sessions', {
      id: JSON_SESSION,
      agent_id: AGENT,
      messages: Buffer.from(JSON.stringify([{ role: 'user', content: 'plain json', timestamp: '2025-06-02T09:00:00Z' }])),
      label: null,
      created_at: WHEN,
      updated_at: WHEN,
    }),
    insert('sessions', { id: '22222222-aaaa-4bbb-8ccc-000000000003', agent_id: 'gone', messages: encode([]), label: null, created_at: WHEN, updated_at: WHEN }),
    insert('kv_store', { agent_id: AGENT, key: 'city', value: Buffer.from('"Bremen"'), updated_at: WHEN }),
    insert('kv_store', { agent_id: AGENT, key: 'packed', value: encode({ deep: [1, 2] }), updated_at: WHEN }),
    memory('m1', 'The user lives in Bremen'),
    memory('m2', 'The user has two cats'),
    memory('m3', 'forgotten', 1),
  ]);
};
