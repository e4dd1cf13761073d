import { Agents } from '@svc/ext-agents/contract';
import { createRunEnds, RunEnded, RunHalt, Runs, wakeAsleep } from '@svc/ext-runs/contract';
import { StartWorkflow } from '@svc/ext-schedules/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { defineExtension, KernelReady } from '@svc/api';
import { workflowTables } from '../migrations/0001_tables.js';
import { commands, commandWords } from './commands.js';
import { WorkflowsSection } from './config.js';
import * as contract from './contract.js';
import type { WorkflowRunRow } from './contract.js';
import { type DriverDeps, driveRun, wakeKey } from './driver.js';
import { runRoutes } from './routes/runs.js';
import { templateRoutes } from './routes/templates.js';
import { workflowRoutes } from './routes/workflows.js';
import { createWorkflows } from './service.js';
import { createTemplates } from './templates/templates.js';
import { workflowTools } from './tools.js';

const stateOf = ({ id, workflow_id: workflowId, state, output, error }: WorkflowRunRow) => ({
  runId: id,
  workflowId,
  state: state as (typeof contract.RUN_STATES)[number],
  output: output ?? '',
  error,
});

export default defineExtension({
  contract,
  tables: [contract.WorkflowRows, contract.WorkflowRunRows, contract.StepRows, contract.TemplateRows],
  migrations: [workflowTables],
  config: [WorkflowsSection],
  commands,
  commandWords,
  activate(ctx) {
    const { db, events, journal, clock, ids, log, actors } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const settings = () => ctx.config.get(WorkflowsSection);
    const deps: DriverDeps = {
      db,
      events,
      journal,
      clock,
      ids,
      log,
      actors,
      agents,
      runs,
      sessions: ctx.services.require(Sessions),
      ends: createRunEnds((ended) => events.on(RunEnded, ended), log, 'A workflow was not woken at the end of a step; it looks again within half a minute.'),
      closing: ctx.signal,
      maxSecs: () => settings().max_run_secs,
    };
    const worker = journal.worker(contract.WorkflowRun, { concurrency: () => settings().concurrency, drive: (run) => driveRun(deps, run) });
    const rules = createWorkflows({ ...deps, poke: () => worker.poke(), take: (run) => void worker.take(run) });
    ctx.services.provide(contract.Workflows, {
      start: async (actor, request) => stateOf(await rules.start(actor, request)),
      state: async (actor, id) => stateOf(await rules.run(actor, id)),
      find: async (actor, name) => {
        const found = await rules.find(actor, name);
        return found && { id: found.id, name: found.name };
      },
    });
    ctx.hooks.tap(StartWorkflow, async ({ actor, workflow, input, key, parentRunId, origin }) => {
      const found = await rules.find(actor, workflow);
      if (!found) return undefined;
      if (key === undefined) return { workflowId: found.id, runId: null, status: 'known' as const, output: '', error: null };
      const { id, state, output, error } = await rules.start(actor, {
        workflow: found.id,
        input,
        key: `cron:${key}`,
        ...(parentRunId === undefined ? {} : { parentRunId }),
        ...(origin === undefined ? {} : { origin }),
      });
      const status = state === 'completed' ? ('done' as const) : state === 'failed' || state === 'cancelled' ? state : ('running' as const);
      return { workflowId: found.id, runId: id, status, output: output ?? '', error };
    });
    ctx.hooks.tap(KernelReady, () => wakeAsleep(journal, actors, contract.WorkflowRun.name, wakeKey));
    // A workflow that a stopped run began ends with it.
    ctx.hooks.tap(RunHalt, async ({ actor, runId, isRoot, why }) => {
      const begun = await journal.list({ actor, kind: contract.WorkflowRun.name, status: ['queued', 'running', 'waiting'], ...(isRoot ? { rootId: runId } : { parentId: runId }) });
      for (const { id } of begun) await rules.cancel(actor, id, why);
      return begun.length;
    });
    ctx.routes.add(...workflowRoutes(rules, db), ...runRoutes({ rules, db, events, clock, runs, agents }), ...templateRoutes(createTemplates({ db, ids, clock, agents, rules })));
    ctx.tools.add(...workflowTools({ rules, db, events, clock, runs }));
  },
});
