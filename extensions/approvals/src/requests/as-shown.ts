/**
 * The tap of tool.start: what a person approved is what happens.
 *
 * A4  A call that was approved runs only if it would still do what was shown: the files that its preview was made of are the same, by their hashes.
 *     One whose files already are as it wants them changes nothing, and runs.
 */
import type { FileChange, ToolPreview, ToolRequest, Verdict } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import type { RequestStore } from './store.js';
import type { Approval } from '../config.js';
import { isAskedOf } from '../policy/agent-rules.js';
import { agentOf, BY_REMEMBERED } from './asking.js';

export interface AsShownDeps {
  readonly store: Pick<RequestStore, 'ofCall'>;
  readonly tools: Pick<ToolsService, 'preview'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly settings: () => Approval;
}

export const createAsShown =
  (deps: AsShownDeps) =>
  async (request: ToolRequest): Promise<Verdict | undefined> =>
    // Another policy may have asked for a call that no rule of [approval] names.
    request.call.runId !== '' && (request.tool.risk === 'write' || isAskedOf(deps.settings(), await agentOf(deps, request))) ? verdictOn(deps, request) : undefined;

const verdictOn = async ({ store, tools }: AsShownDeps, { tool, args, call }: ToolRequest): Promise<Verdict | undefined> => {
  const row = await store.ofCall(call.runId, call.callId);
  // What is remembered is approved whatever the files hold.
  if (row?.state !== 'approved' || row.decided_by === BY_REMEMBERED) return undefined;
  const shown = JSON.parse(row.preview) as ToolPreview; // written by `rowOf` as a preview
  if (!dependsOnFiles(shown)) return undefined;
  const now = await tools.preview({ name: tool.name, args, call, earlier: [] });
  const changed = changedSince(shown, now);
  if (changed === undefined) return undefined;
  return {
    deny: `This call of ${tool.name} was approved, but it did not run: ${changed} since the person looked at it, so it would do something else than they saw. Read it again, then call ${tool.name} anew with what you want now; the person is asked again.`,
  };
};

/** The others are made of the arguments alone, which are compared by their digest. */
const dependsOnFiles = (preview: ToolPreview): boolean => preview.kind === 'diff' || (preview.kind === 'arguments' && preview.problem !== undefined);

/** What is another now, as a part of a sentence. */
export const changedSince = (shown: ToolPreview, now: ToolPreview): string | undefined => {
  if (now.kind === 'diff' && now.files.every(isUnchanged)) return undefined;
  if (shown.kind === 'arguments') return now.kind === 'arguments' && now.problem === shown.problem ? undefined : 'the files changed';
  if (shown.kind !== 'diff' || now.kind !== 'diff') return shown.kind === now.kind ? undefined : 'the files changed';
  const before = new Map(shown.files.map((file) => [file.path, fingerprintOf(file)]));
  const other = now.files.find((file) => before.get(file.path) !== fingerprintOf(file));
  if (other) return `${other.path} changed`;
  return now.files.length === shown.files.length ? undefined : 'the files changed';
};

/** By the file that the difference was made of; for a tool that does not say which, by the difference. */
const fingerprintOf = ({ before, change, diff }: FileChange): string => (before === undefined ? `${change} ${diff}` : `${change} ${before ?? ''}`);

const isUnchanged = ({ change, added, removed, truncated }: FileChange): boolean => change === 'update' && added === 0 && removed === 0 && !truncated;
