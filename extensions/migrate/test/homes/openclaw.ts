/** Homes of OpenClaw, of both layouts. */
import { database, insert, lines, put } from './write.js';

const at = (minute: number): string => new Date(Date.UTC(2025, 4, 6, 10, minute)).toISOString();
const message = (id: string, parentId: string | null, minute: number, body: object): object => ({
  type: 'message',
  id,
  parentId,
  timestamp: at(minute),
  message: { ...body, timestamp: Date.parse(at(minute)) },
});
const said = (text: string): object => ({ role: 'user', content: [{ type: 'text', text }] });
const answered = (text: string): object => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'quietly' },
    { type: 'text', text },
  ],
  usage: { input: 10, output: 5, cost: { total: 0.002 } },
});

export const OLD_SESSION = '0b6b5a3e-1111-4d6e-9a55-0123456789ab';
export const DELETED_SESSION = '0b6b5a3e-2222-4d6e-9a55-0123456789ab';
export const NEW_SESSION = '0b6b5a3e-3333-4d6e-9a55-0123456789ab';
export const ARCHIVED_SESSION = '0b6b5a3e-4444-4d6e-9a55-0123456789ab';

/** Four messages, of which the last two are another branch of the second. */
export const talkEvents = (id = OLD_SESSION): object[] => [
  { type: 'session', version: 3, id, timestamp: at(0), cwd: '/tmp' },
  message('a1', null, 1, said('where did the zanzibar invoice go')),
  message('a2', 'a1', 2, {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'toolCall', id: 'call-1', name: 'read', arguments: { path: 'invoices.md' } },
    ],
  }),
  message('a3', 'a2', 3, { role: 'toolResult', toolCallId: 'call-1', toolName: 'read', content: [{ type: 'text', text: 'zanzibar: paid' }], isError: false }),
  message('b4', 'a3', 4, answered('The first branch.')),
  message('a4', 'a3', 5, answered('It was paid in May.')),
  { type: 'custom', id: 'a5', parentId: 'a4', timestamp: at(6), customType: 'x' },
];

const CONFIG = `{
  // comments and commas, as people write JSON5
  meta: { lastTouchedVersion: '2026.1.5' },
  agents: {
    defaults: { model: { primary: 'anthropic/claude-sonnet-4-5' } },
    list: [{ id: 'main', name: 'Clawd' }, { id: 'work', name: '../../etc/"work" [x]', tools: { allow: ['exec', 'read'] } }],
  },
  channels: { telegram: { botToken: '123:secret-of-telegram' } },
  bindings: [{ agentId: 'work', match: { channel: 'telegram' } }],
}`;

/** Agents main and work, two logs in files, a workspace, a skill, two jobs. */
export const writeOlder = async (root: string): Promise<void> => {
  await put(root, 'openclaw.json', CONFIG);
  await put(root, 'agents/main/sessions/sessions.json', { 'agent:main:telegram:direct:7': { sessionId: OLD_SESSION, displayName: 'Invoices', lastChannel: 'telegram', updatedAt: Date.parse(at(6)) } });
  await put(root, `agents/main/sessions/${OLD_SESSION}.jsonl`, lines(talkEvents()));
  await put(
    root,
    `agents/main/sessions/${DELETED_SESSION}.jsonl.deleted.2025-05-07T00-00-00.000Z`,
    lines([{ type: 'session', id: DELETED_SESSION, timestamp: at(20) }, message('d1', null, 21, said('an old question about quokkas'))]),
  );
  await put(root, 'agents/main/agent/auth-profiles.json', { version: 1, profiles: { 'anthropic:default': { type: 'api_key', provider: 'anthropic', key: 'sk-ant-of-the-source' } } });
  await put(root, 'agents/work/sessions/sessions.json', {});
  await put(root, 'workspace/SOUL.md', '# Soul\nCalm.');
  await put(root, 'workspace/MEMORY.md', '# Memory\n\n- The cat is called Miso.\n- Likes tea.');
  await put(root, 'workspace/memory/2025-05-01.md', 'Bought a bike.');
  await put(root, 'workspace/skills/brewing/SKILL.md', '---\nname: brewing\ndescription: How to brew tea.\n---\n# Brewing\nUse water.');
  await put(root, 'cron/jobs.json', {
    version: 1,
    jobs: [
      { id: 'j1', agentId: 'main', name: 'Morning', enabled: true, schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }, payload: { kind: 'agentTurn', message: 'What is new?' } },
      { id: 'j2', agentId: 'main', name: 'Broken', enabled: true, schedule: { kind: 'moon' }, payload: { kind: 'agentTurn', message: 'x' } },
    ],
  });
};

const SCHEMA = `
CREATE TABLE schema_meta (meta_key TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, schema_version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL, created_at INTEGER, label TEXT, display_name TEXT, archived_at INTEGER) STRICT;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL, session_key TEXT NOT NULL, reason TEXT NOT NULL, encoding TEXT NOT NULL, archive_blob BLOB NOT NULL, archive_sha256 TEXT NOT NULL, archive_name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, generation)) STRICT;
`;

export interface Database {
  readonly userVersion?: number;
  /** Sessions in it, with their events. */
  readonly sessions: ReadonlyMap<string, readonly object[]>;
  readonly archives?: ReadonlyMap<string, { readonly encoding: string; readonly blob: Uint8Array }>;
  readonly stays?: boolean;
}

export const eventRows = (id: string, events: readonly object[], from = 0): string[] =>
  events.map((event, index) => insert('transcript_events', { session_id: id, seq: from + index, event_json: JSON.stringify(event), created_at: Date.parse(at(0)) + from + index }));

export const writeDatabase = (root: string, agent: string, { userVersion = 23, sessions, archives = new Map(), stays = false }: Database): Promise<() => Promise<void>> => {
  const now = Date.parse(at(30));
  const statements = [SCHEMA, `PRAGMA user_version=${userVersion};`];
  for (const [id, events] of sessions) {
    const key = `agent:${agent}:${id}`;
    statements.push(
      insert('session_nodes', {
        session_key: key,
        current_session_id: id,
        entry_json: JSON.stringify({ sessionId: id, lastChannel: 'discord' }),
        updated_at: now,
        created_at: Date.parse(at(0)),
        label: `Talk ${id.slice(9, 13)}`,
        display_name: null,
        archived_at: null,
      }),
      insert('session_windows', { session_id: id, session_key: key, created_at: now, updated_at: now }),
      ...eventRows(id, events),
    );
  }
  for (const [id, { encoding, blob }] of archives)
    statements.push(
      insert('session_transcript_archives', {
        session_id: id,
        generation: 'g1',
        session_key: `agent:${agent}:gone`,
        reason: 'deleted',
        encoding,
        archive_blob: blob,
        archive_sha256: '0'.repeat(64),
        archive_name: `${id}.jsonl`,
        created_at: now,
      }),
    );
  return database(root, `agents/${agent}/agent/openclaw-agent.sqlite`, statements, stays);
};
