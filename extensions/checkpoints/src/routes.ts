/** Checkpoints over HTTP. */
import { ABSOLUTE_PATH, COMMIT_ID, Nullable, OneOf, reply, type RouteDecl, routeGroup, TextOf, Type, UuidText } from '@svc/api';
import { readMessage } from './message.js';
import type { Checkpoints } from './service.js';
import { FileDifference, LeftOutPath } from './workers/operations.js';

const route = routeGroup({ area: 'checkpoints', errors: [404] });

const Commit = (description: string) => TextOf(COMMIT_ID, { description, examples: ['3f2a91c'] });
const Folder = Type.String({ description: 'Absolute path of the working folder' });
const AgentQuery = { agent_id: UuidText('Agent id') };

const Checkpoint = Type.Object(
  {
    commit: Type.String({ description: 'Whole commit id in the snapshot repository' }),
    short: Type.String({ description: 'Its first digits, enough for people' }),
    created_at: Type.String(),
    title: Type.String({ description: 'What was about to happen' }),
    tool: Type.String(),
    path: Type.String({ description: 'What the tool was about to write; empty for a command' }),
    session_id: Nullable(Type.String()),
    run_id: Nullable(Type.String()),
    message: Type.String(),
  },
  { 'x-name': 'Checkpoint' },
);

const SHORT_DIGITS = 10;
const EXAMPLE_FOLDER = '/home/ada/.svc/workspaces/6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e';

export const checkpointRoutes = (checkpoints: Checkpoints): RouteDecl[] => [
  route({
    id: 'listCheckpoints',
    method: 'GET',
    path: '/api/checkpoints',
    summary: 'List checkpoints of an agent',
    description: 'Newest first. A checkpoint holds the files of the working folder that svc has written, as they were before a tool call.',
    cost: 2,
    errors: [409],
    query: Type.Object({ ...AgentQuery, limit: Type.Optional(Type.Integer({ minimum: 1, default: 50, description: 'At most 500' })), offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })) }),
    responses: { 200: Type.Object({ checkpoints: Type.Array(Checkpoint), items: Type.Array(Checkpoint), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer(), working_dir: Folder }) },
    handler: async ({ actor, query }) => {
      const page = { limit: Math.min(query.limit ?? 50, 500), offset: query.offset ?? 0 };
      const { folder, snapshots, total } = await checkpoints.list(actor, query.agent_id, page);
      const items = snapshots.map(shown);
      return reply(200, { checkpoints: items, items, total, ...page, working_dir: folder });
    },
  }),
  route({
    id: 'previewCheckpoint',
    method: 'GET',
    path: '/api/checkpoints/{commit}',
    summary: 'Preview a restore',
    description: 'Each file of the checkpoint beside the file in the working folder now, those that differ first, at most 500.',
    cost: 5,
    params: Type.Object({ commit: Commit('Whole or abbreviated commit id') }),
    query: Type.Object(AgentQuery),
    errors: [409],
    responses: {
      200: Type.Object({
        commit: Type.String(),
        created_at: Type.String(),
        working_dir: Folder,
        files: Type.Array(FileDifference),
        total: Type.Integer(),
        created_later: Type.Array(Type.String(), { description: 'Files that tools and commands created since. A restore leaves them' }),
        created_later_more: Type.Integer({ description: 'More of them than are listed, at most' }),
      }),
    },
    handler: async ({ actor, params, query }) => {
      const { folder, result } = await checkpoints.compare(actor, query.agent_id, params.commit);
      return reply(200, { ...result, working_dir: folder });
    },
  }),
  route({
    id: 'restoreCheckpoint',
    method: 'POST',
    path: '/api/checkpoints/restore',
    summary: 'Restore files from a checkpoint',
    description:
      'Copies the files of the checkpoint back into the working folder, with their executable bits and links. Files that were created later stay. The present state becomes a checkpoint first (`safety_commit`), so a restore can be undone. `skipped` lists files of the checkpoint that could not be written; `not_kept` lists files that commands changed or deleted since and that no checkpoint holds.',
    cost: 10,
    audit: 'checkpoint_restored',
    body: Type.Object({
      working_dir: TextOf(ABSOLUTE_PATH, { maxLength: 4_096, description: 'Absolute path of the working folder' }),
      commit: Commit('Whole or abbreviated commit id, at least 4 digits'),
    }),
    examples: {
      'by an abbreviated id': { working_dir: EXAMPLE_FOLDER, commit: '3f2a91c0de' },
      'by the whole id': { working_dir: EXAMPLE_FOLDER, commit: '3f2a91c0de5b7a9e8d6c4b2a1908f7e6d5c4b3a2' },
      'to undo a restore': { working_dir: EXAMPLE_FOLDER, commit: 'a90b1c2d3e' },
    },
    errors: [409],
    responses: {
      200: Type.Object(
        {
          status: OneOf(['restored', 'partly_restored'], { description: '`partly_restored`: `skipped` is not empty' }),
          working_dir: Folder,
          commit: Type.String(),
          safety_commit: Type.String({ description: 'The state before the restore' }),
          files_restored: Type.Integer(),
          files: Type.Array(Type.String(), { description: 'What was written' }),
          files_unchanged: Type.Integer(),
          skipped: Type.Array(LeftOutPath),
          not_kept: Type.Array(LeftOutPath),
          not_kept_more: Type.Integer({ description: 'More of them than are listed' }),
        },
        { 'x-name': 'CheckpointRestored' },
      ),
    },
    handler: async ({ actor, body }) => {
      const { folder, result } = await checkpoints.restore(actor, body.working_dir, body.commit);
      const { commit, safety_commit, restored, unchanged, skipped, not_kept, not_kept_more } = result;
      return reply(200, {
        status: skipped.length === 0 ? ('restored' as const) : ('partly_restored' as const),
        working_dir: folder,
        commit,
        safety_commit,
        files_restored: restored.length,
        files: restored,
        files_unchanged: unchanged,
        skipped,
        not_kept,
        not_kept_more,
      });
    },
  }),
];

const shown = ({ commit, created_at, message }: { commit: string; created_at: string; message: string }) => {
  const { title, tool, path, sessionId, runId } = readMessage(message);
  return { commit, short: commit.slice(0, SHORT_DIGITS), created_at, title, tool, path, session_id: sessionId === '' ? null : sessionId, run_id: runId === '' ? null : runId, message };
};
