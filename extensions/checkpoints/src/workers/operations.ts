/** What the thread of snapshots is asked, and what it answers. One entry, several operations: each has its name. */
import { Nullable, OneOf, type Plain, Type, defineWorker } from '@svc/api';

const Path = Type.String({ description: 'From the working folder, with slashes' });
const At = {
  gitdir: Type.String({ description: 'Absolute, real path of the snapshot repository' }),
  folder: Type.String({ description: 'Absolute, real path of the working folder' }),
};
const Now = { atMs: Type.Number(), id: Type.String({ description: 'Unique; names temporary files' }) };

export const Why = OneOf(['too_large', 'not_a_file', 'through_a_link', 'not_readable', 'excluded', 'bad_path', 'not_tracked', 'folder_in_place', 'disk_full', 'not_writable', 'too_many'], {
  description:
    '`too_large`: more than 50 KB. `not_tracked`: svc had not written it before. `through_a_link`: a folder on the way is a link. `folder_in_place`: there is a folder of that name now. `too_many`: one call changed more than 64 MB.',
});
export type Why = Plain<typeof Why>;
export const LeftOutPath = Type.Object({ path: Path, why: Why });
export type LeftOutPath = Plain<typeof LeftOutPath>;

const Failed = Type.Object({ failed: OneOf(['no_repository', 'unknown_commit', 'ambiguous_commit', 'bad_root', 'broken']), detail: Type.String() });
export type Failed = Plain<typeof Failed>;

const Taken = Type.Object({
  commit: Type.String(),
  left_out: Type.Array(LeftOutPath),
  objects: Type.Integer({ description: 'Loose objects, roughly: what says when to compact' }),
  bytes: Type.Integer({ description: 'Of the repository with the first one of a process, then what this one added' }),
  moved_aside: Nullable(Type.String({ description: 'Where the repository went that could not be read' })),
  is_followed: Type.Boolean({ description: 'False where the folder has more entries than are looked at' }),
});
export type Taken = Plain<typeof Taken>;

const Followed = Type.Object({
  created: Type.Integer(),
  changed: Type.Integer(),
  removed: Type.Integer(),
  bytes: Type.Integer(),
  left_out: Type.Integer({ description: 'Because there were too many' }),
});
export type Followed = Plain<typeof Followed>;

/** Before a tool writes `paths`, or runs a program (`command`: the id of the call). */
export const TakeSnapshot = defineWorker('checkpoints.take', {
  input: Type.Object({
    op: Type.Literal('take'),
    ...At,
    ...Now,
    paths: Type.Array(Path),
    command: Nullable(Type.String()),
    scope: OneOf(['written', 'workspace']),
    message: Type.String(),
    is_first: Type.Boolean({ description: 'The first one of this process: files that were written since the last snapshot are looked for' }),
  }),
  output: Type.Union([Taken, Failed]),
});

/** After it: what it wrote is tracked from now on. */
export const FollowChanges = defineWorker('checkpoints.follow', {
  input: Type.Object({ op: Type.Literal('follow'), ...At, ...Now, paths: Type.Array(Path), command: Nullable(Type.String()), tool: Type.String() }),
  output: Type.Union([Followed, Failed]),
});

export const RestoreFiles = defineWorker('checkpoints.restore', {
  input: Type.Object({ op: Type.Literal('restore'), ...At, ...Now, commit: Type.String(), message: Type.String() }),
  output: Type.Union([
    Type.Object({
      commit: Type.String(),
      safety_commit: Type.String(),
      restored: Type.Array(Path),
      unchanged: Type.Integer(),
      skipped: Type.Array(LeftOutPath),
      not_kept: Type.Array(LeftOutPath, { description: 'Changed by commands since, and in no snapshot' }),
      not_kept_more: Type.Integer(),
    }),
    Failed,
  ]),
});

export const Snapshot = Type.Object({ commit: Type.String(), created_at: Type.String(), message: Type.String() });

export const ListSnapshots = defineWorker('checkpoints.list', {
  input: Type.Object({ op: Type.Literal('list'), ...At, limit: Type.Integer(), offset: Type.Integer() }),
  output: Type.Union([Type.Object({ snapshots: Type.Array(Snapshot), total: Type.Integer() }), Failed]),
});

export const FileDifference = Type.Object({
  path: Path,
  state: OneOf(['same', 'changed', 'missing'], { description: 'Of the file in the folder now, beside the snapshot. Restoring brings back changed and missing ones' }),
  is_executable: Type.Boolean(),
  diff: Nullable(Type.String({ description: 'Unified, from the file as it is now to the snapshot; null for binary files and beyond 200 KB in all' })),
});
export const CompareFiles = defineWorker('checkpoints.compare', {
  input: Type.Object({ op: Type.Literal('compare'), ...At, commit: Type.String() }),
  output: Type.Union([
    Type.Object({
      commit: Type.String(),
      created_at: Type.String(),
      files: Type.Array(FileDifference),
      total: Type.Integer(),
      created_later: Type.Array(Path),
      created_later_more: Type.Integer(),
    }),
    Failed,
  ]),
});

/** Packs what the newest snapshots need into one file and drops the rest, oldest first, until it is below the limit. */
export const CompactRepository = defineWorker('checkpoints.compact', {
  input: Type.Object({ op: Type.Literal('compact'), ...At, max_bytes: Type.Integer() }),
  output: Type.Union([Type.Object({ bytes: Type.Integer(), snapshots: Type.Integer(), dropped: Type.Integer() }), Failed]),
});

/** Starts the thread and loads its code, so that the next snapshot does not wait for them. */
export const BeReady = defineWorker('checkpoints.ready', { input: Type.Object({ op: Type.Literal('ready') }), output: Type.Object({}) });

export const OPERATIONS = [TakeSnapshot, FollowChanges, RestoreFiles, ListSnapshots, CompareFiles, CompactRepository] as const;
export const WORKERS = [...OPERATIONS, BeReady] as const;
export type OperationInput = Plain<(typeof OPERATIONS)[number]['input']>;
