/**
 * What happens to messages while an experiment runs.
 *
 * P1  A session keeps its arm: it is drawn by a hash of experiment and session, and stored.
 * P2  Each run of an experiment is counted once, for the arm that answered it.
 * P3  While no experiment runs, a message costs nothing.
 */
import { createHash } from 'node:crypto';
import { RunEnded, RunPrompt, RunRated, type RunsService } from '@svc/ext-runs/contract';
import type { Disposable, ExtensionContext } from '@svc/api';
import type { ExperimentRow, Variant, VersionRow } from './contract.js';

const HASH_BYTES = 6;

export const drawn = (experiment: string, session: string, variants: readonly Variant[], split: readonly number[]): Variant | undefined => {
  const point = (createHash('sha256').update(`${experiment}:${session}`).digest().readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES)) * 100;
  let upTo = 0;
  return variants.find((_, at) => {
    upTo += split[at] ?? 0;
    return point < upTo;
  });
};

export const createArms = (ctx: ExtensionContext, runs: Pick<RunsService, 'get'>) => {
  const { db, clock, events, hooks, journal, actors } = ctx;
  let open: Disposable[] = [];
  let running = new Map<string, ExperimentRow>();
  const answer = async (question: { agent: { id: string; ownerId: string }; runId: string; sessionId: string }) => {
    const experiment = running.get(question.agent.id);
    if (!experiment) return undefined;
    const variants = JSON.parse(experiment.variants) as Variant[];
    const id = `${experiment.id}:${question.sessionId}`;
    const reads = db.system('the arm of a session');
    const kept = await reads.first<{ variant_id: string }>({ from: 'prompt_arms', where: { id } });
    const arm = kept ? variants.find((one) => one.id === kept.variant_id) : drawn(experiment.id, question.sessionId, variants, JSON.parse(experiment.traffic_split) as number[]);
    const version = arm && (await reads.first<VersionRow>({ from: 'prompt_versions', where: { id: arm.prompt_version_id } }));
    if (!arm || !version) return undefined;
    const whose = { owner_id: question.agent.ownerId, agent_id: question.agent.id, experiment_id: experiment.id, variant_id: arm.id };
    const trial = { id: question.runId, ...whose, status: 'running', created_at: clock.iso(), meets: 0, tool_errors: 0, rating: null, cost_usd: 0, latency_ms: 0 };
    await db.commit([...(kept ? [] : [db.upsert('prompt_arms', ['id'], [{ id, ...whose }])]), db.upsert('prompt_trials', ['id'], [trial])]);
    return { text: version.system_prompt, source: `experiment ${experiment.name}: ${arm.name}, version ${version.version}`.slice(0, 200) };
  };
  const ended = async (runId: string, ownerId: string, status: string): Promise<void> => {
    const trial = await db.system('a run of an experiment ended').first<{ created_at: string }>({ from: 'prompt_trials', where: { id: runId } });
    if (!trial) return;
    const actor = actors.of(ownerId);
    const [run, steps] = await Promise.all([runs.get(actor, runId), journal.steps(actor, runId)]);
    const failed = steps.filter((step) => step.kind === 'tool' && step.status === 'failed').length;
    const figures = { meets: (run.result?.response ?? '').trim() === '' ? 0 : 1, tool_errors: failed, cost_usd: run.result?.cost_usd ?? 0, latency_ms: clock.now() - Date.parse(run.createdAt) };
    await db.commit([db.update('prompt_trials', ['id'], [{ id: runId, status, ...figures }])]);
  };
  const close = (): void => {
    for (const one of open) one.dispose();
    open = [];
  };
  return {
    /** Which experiments run may have changed. */
    refresh: async (): Promise<void> => {
      const rows = await db.system('which experiments run').select<ExperimentRow>({ from: 'prompt_experiments', where: { status: 'running' }, limit: 10_000 });
      running = new Map(rows.map((row) => [row.agent_id, row]));
      if (running.size === 0) return close();
      if (open.length > 0) return undefined;
      open = [
        hooks.tap(RunPrompt, answer),
        events.on(RunEnded, ({ runId, ownerId, status }) => ended(runId, ownerId, status)),
        events.on(RunRated, async ({ runId, value }) => {
          await db.commit([db.update('prompt_trials', ['id'], [{ id: runId, rating: value ?? null }])]);
        }),
      ];
      return undefined;
    },
  };
};
