/** What agents may do with the workflows of their owner. */
import { type AnyTool, type Clock, defineTool, type Events, Type } from '@svc/api';
import type { RunsService } from '@svc/ext-runs/contract';
import { WorkflowRows, type WorkflowRow } from './contract.js';
import type { Db } from '@svc/api';
import { jsonOf } from './driver.js';
import { workflowErrors } from './errors.js';
import type { WorkflowRules } from './service.js';
import { endOfRun } from './waiting.js';

export interface ToolDeps {
  readonly rules: WorkflowRules;
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
  readonly runs: Pick<RunsService, 'get'>;
}

const WorkflowId = Type.String({ minLength: 1, maxLength: 200, description: 'Id or name of the workflow' });
const Input = Type.Optional(Type.String({ maxLength: 100_000 }));
const RunId = Type.String({ format: 'uuid' });
const MAX_LISTED = 100;

export const workflowTools = (deps: ToolDeps): AnyTool[] => {
  const { rules, db } = deps;
  const starts = {
    risk: 'agent',
    openWorld: false,
    capabilities: ['agent_message'],
    needs: ({ workflow_id: id }: { readonly workflow_id: string }) => [{ capability: 'agent_message', target: id }],
    parallel: true,
  } as const;
  const reads = { risk: 'read', openWorld: false, replay: 'safe', parallel: true } as const;
  return [
    defineTool({
      name: 'workflow_run',
      description: 'Runs a workflow and waits for its output.',
      params: Type.Object({ workflow_id: WorkflowId, input: Input }),
      ...starts,
      replay: 'keyed',
      timeoutMs: 86_400_000,
      run: async ({ workflow_id: id, input }, call) => {
        const begun = await rules.start(call.actor, { workflow: id, input: input ?? '', key: `call:${call.runId}:${call.callId}`, parentRunId: call.runId, depth: call.depth + 1 });
        const row = await endOfRun(deps, call.actor, begun.id, call.signal);
        if (row.state === 'completed') return { content: row.output ?? '', origin: { labels: ['UntrustedAgent'], source: `the workflow ${row.workflow_name}`, sessionId: call.sessionId } };
        return {
          content:
            row.state === 'failed' ? `The workflow failed: ${row.error ?? ''}` : `The workflow is ${row.state === 'running' ? 'waiting for a person or a time' : row.state}; its run is ${row.id}.`,
          isError: row.state === 'failed',
        };
      },
    }),
    defineTool({
      name: 'workflow_start',
      description: 'Starts a workflow and does not wait for it. workflow_status shows how it does.',
      params: Type.Object({ workflow_id: WorkflowId, input: Input }),
      ...starts,
      replay: 'keyed',
      run: async ({ workflow_id: id, input }, call) =>
        `Started the run ${(await rules.start(call.actor, { workflow: id, input: input ?? '', key: `call:${call.runId}:${call.callId}`, parentRunId: call.runId, depth: call.depth + 1 })).id}.`,
    }),
    defineTool({
      name: 'workflow_list',
      description: 'Lists the workflows that you can run.',
      params: Type.Object({}),
      ...reads,
      run: async (_args, { actor }) => {
        const rows = await db.as(actor).select<WorkflowRow>({ from: WorkflowRows.name, order: [{ column: 'name' }], limit: MAX_LISTED });
        return rows.map(({ id, name, description }) => `${id}  ${name}${description === '' ? '' : `: ${description}`}`).join('\n') || 'There are no workflows.';
      },
    }),
    defineTool({
      name: 'workflow_describe',
      description: 'Shows the steps of a workflow.',
      params: Type.Object({ workflow_id: WorkflowId }),
      ...reads,
      run: async ({ workflow_id: id }, { actor }) => {
        const row = await rules.find(actor, id);
        if (!row) throw workflowErrors.not_found(id);
        return JSON.stringify({ name: row.name, description: row.description, steps: jsonOf<unknown>(row.steps) }, null, 2);
      },
    }),
    defineTool({
      name: 'workflow_status',
      description: 'Shows how a run of a workflow does.',
      params: Type.Object({ run_id: RunId }),
      ...reads,
      run: async ({ run_id: id }, { actor }) => {
        const row = await rules.run(actor, id);
        const steps = await rules.steps(row);
        return [
          `${row.workflow_name}: ${row.state}`,
          ...steps.map(({ step, state, error }) => `${step}: ${state}${error === null ? '' : ` (${error})`}`),
          ...(row.output === null ? [] : [`output: ${row.output}`]),
        ].join('\n');
      },
    }),
    defineTool({
      name: 'workflow_cancel',
      description: 'Cancels a run of a workflow.',
      params: Type.Object({ run_id: RunId }),
      risk: 'write',
      openWorld: false,
      replay: 'safe',
      parallel: false,
      run: async ({ run_id: id }, { actor }) => `Cancelled the run ${(await rules.cancel(actor, id)).id}.`,
    }),
  ];
};
