/** What a call changes in the working folder of its agent is announced before and after it, so that it can be undone. */
import { type AnyTool, type CheckpointTake, type HookHandle, isSvcError } from '@svc/api';
import { pathIn, type Workspaces } from './builtin/workspace.js';
import type { CallRequest } from './contract.js';

export interface CheckpointDeps {
  readonly checkpoint: HookHandle<typeof CheckpointTake>;
  readonly workspaces: Pick<Workspaces, 'of'>;
}

/** Runs the call between its two announcements. The hook is best effort: it never fails a call (its policy is `open`). */
export const withCheckpoint = async <T>(deps: CheckpointDeps, tool: AnyTool, request: CallRequest, run: () => Promise<T>): Promise<T> => {
  const { call } = request;
  if (tool.writes === undefined || call.agentId === '' || deps.checkpoint.isEmpty()) return run();
  const folder = deps.workspaces.of(call);
  const paths = tool.writes === 'unknown' ? null : pathsOf(tool, request, folder);
  const announced = { folder: folder.path, paths, tool: tool.name, call };
  await deps.checkpoint.call({ moment: 'before', ...announced });
  try {
    return await run();
  } finally {
    await deps.checkpoint.call({ moment: 'after', ...announced });
  }
};

/** A path that leads nowhere in the folder is refused by the call itself. */
const pathsOf = (tool: AnyTool, { args }: CallRequest, folder: Parameters<typeof pathIn>[0]): string[] => {
  // The arguments were checked against `params`, which is what `writes` is typed by.
  const named = typeof tool.writes === 'function' ? tool.writes(args as Parameters<typeof tool.writes>[0]) : [];
  return named.flatMap((path) => {
    try {
      return [pathIn(folder, path)];
    } catch (error) {
      if (isSvcError(error)) return [];
      throw error;
    }
  });
};
