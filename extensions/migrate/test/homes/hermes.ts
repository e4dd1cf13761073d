/** A home of Hermes: a compressed chain, a branch, and a message that was rewound. */
import { database, insert, put } from './write.js';

const SCHEMA = `
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (12);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, reasoning TEXT, active INTEGER NOT NULL DEFAULT 1);
`;
const START = Date.UTC(2025, 7, 1, 7) / 1_000;

const session = (id: string, minute: number, more: { parent?: string; reason?: string; title?: string } = {}): string =>
  insert('sessions', { id, source: 'telegram', title: more.title ?? null, parent_session_id: more.parent ?? null, started_at: START + minute * 60, ended_at: null, end_reason: more.reason ?? null });
const message = (of: string, minute: number, role: string, content: string, more: Readonly<Record<string, string | number | null>> = {}): string =>
  insert('messages', { session_id: of, role, content, timestamp: START + minute * 60 + 0.25, ...more });

const CALLS = JSON.stringify([{ id: 'h1', type: 'function', function: { name: 'terminal', arguments: '{"command":"ls"}' } }]);

export const writeHermes = async (root: string): Promise<void> => {
  await put(root, 'config.yaml', 'model:\n  default: anthropic/claude-opus-4\nplatforms:\n  telegram:\n    enabled: true\n');
  await put(root, '.env', 'OPENROUTER_API_KEY=sk-or-of-the-source\n');
  await put(root, 'SOUL.md', 'Swift.');
  await put(root, 'memories/MEMORY.md', 'The server is called heron.\n§\nDeploys on Fridays are forbidden.');
  await put(root, 'skills/ops/deploying/SKILL.md', '---\nname: deploying\ndescription: How to deploy.\n---\n# Deploying\nNever on Fridays.');
  await database(root, 'state.db', [
    SCHEMA,
    session('20250801_070000_aa', 0, { reason: 'compression', title: 'Herons' }),
    session('20250801_080000_bb', 60, { parent: '20250801_070000_aa', title: 'Herons 2' }),
    session('20250801_090000_cc', 120, { parent: '20250801_080000_bb' }),
    message('20250801_070000_aa', 1, 'user', 'where do herons nest'),
    message('20250801_070000_aa', 2, 'assistant', '', { tool_calls: CALLS, reasoning: 'look first' }),
    message('20250801_070000_aa', 3, 'tool', 'nests.txt', { tool_call_id: 'h1', tool_name: 'terminal' }),
    message('20250801_070000_aa', 4, 'assistant', 'In trees.'),
    message('20250801_070000_aa', 5, 'user', 'a rewound question', { active: 0 }),
    message('20250801_080000_bb', 61, 'user', 'and pelicans'),
    // The branch begins with copies of the whole chain.
    message('20250801_090000_cc', 120, 'user', 'where do herons nest'),
    message('20250801_090000_cc', 120, 'assistant', '', { tool_calls: CALLS, reasoning: 'look first' }),
    message('20250801_090000_cc', 120, 'tool', 'nests.txt', { tool_call_id: 'h1', tool_name: 'terminal' }),
    message('20250801_090000_cc', 121, 'user', 'what about cormorants'),
  ]);
};
