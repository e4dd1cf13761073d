import { type AnyTool, type Clock, defineTool, type ExtensionContext, Type } from '@svc/api';
import { applyPatchTool } from './apply-patch.js';
import { grantedReach, type ReachOf } from './command-start.js';
import { codeSearchTool } from '../code-search/code-search.js';
import { fileTools } from './file-tools.js';
import { shellTool } from './shell-exec.js';
import { webFetchTool } from './web-fetch.js';
import { webFetchToFileTool } from './web-fetch-to-file.js';
import { createWorkspaces } from './workspace.js';

export const builtinTools = (ctx: Pick<ExtensionContext, 'files' | 'exec' | 'fetch' | 'workers' | 'clock'>, reachOf: ReachOf = grantedReach): AnyTool[] => {
  const workspaces = createWorkspaces(ctx.files.root('workspaces'));
  return [
    ...fileTools(workspaces),
    applyPatchTool(workspaces),
    codeSearchTool({ workspaces, workers: ctx.workers, clock: ctx.clock }),
    shellTool(workspaces, (command, args, options) => ctx.exec(command, args, options), reachOf),
    webFetchTool({ fetch: (url, init) => ctx.fetch(url, init), workers: ctx.workers, clock: ctx.clock }),
    webFetchToFileTool(workspaces, (url, init) => ctx.fetch(url, init)),
    clockTool(ctx.clock),
  ];
};

const clockTool = (clock: Clock): AnyTool =>
  defineTool({
    name: 'system_time',
    description: 'The time now: UTC in ISO 8601, milliseconds since 1970, and the weekday.',
    params: Type.Object({}),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async () => {
      const now = clock.now();
      const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(now);
      return JSON.stringify({ utc: new Date(now).toISOString(), unix_ms: now, weekday });
    },
  });
