/**
 * What happens to messages while an experiment runs.
 *
 * P1  A session keeps its arm: it is drawn by a hash of experiment and session, and stored.
 * P2  Each run of an experiment is counted once, for the arm that answered it, also after a pause or a restart.
 * P3  While no experiment runs, a message costs nothing.
 */
import { createHash } from 'node:crypto';
import { RunEnded, RunPrompt, RunRated } from '@svc/ext-runs/contract';
import type { Disposable, ExtensionContext } from '@svc/api';
import type { ExperimentRow, Variant, VersionRow } from './contract.js';
import type { Trials } from './trials.js';

const HASH_BYTES = 6;
const MAX_OPEN = 10_000;

export const drawn = <V extends Pick<Variant, 'id'>>(experiment: string, session: string, variants: readonly V[], split: readonly number[]): V | undefined => {
  const point = (createHash('sha256').update(`${experiment}:${session}`).digest().readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES)) * 100;
  let upTo = 0;
  return variants.find((_, at) => {
    upTo += split[at] ?? 0;
    return point < upTo;
  });
};

/** An experiment as messages need it: its versions never change. */
interface Running {
  readonly id: string;
  readonly name: string;
  readonly variants: readonly Variant[];
  readonly split: readonly number[];
  readonly versions: ReadonlyMap<string, VersionRow>;
}

export const createArms = (ctx: ExtensionContext, trials: Trials) => {
  const { db, clock, events, hooks, log } = ctx;
  const reads = db.system('the arms of running experiments');
  let open: Disposable[] = [];
  let running = new Map<string, Running>();
  /** Agents with an experiment that runs or is paused: their runs still end, and are rated. */
  let watched = new Set<string>();
  let queue: Promise<void> = Promise.resolve();
  const answer = async (question: { agent: { id: string; ownerId: string }; runId: string; sessionId: string }) => {
    const experiment = running.get(question.agent.id);
    if (!experiment) return undefined;
    const id = `${experiment.id}:${question.sessionId}`;
    const kept = await reads.first<{ variant_id: string }>({ from: 'prompt_arms', where: { id } });
    const arm = kept ? experiment.variants.find((one) => one.id === kept.variant_id) : drawn(experiment.id, question.sessionId, experiment.variants, experiment.split);
    const version = arm && experiment.versions.get(arm.prompt_version_id);
    if (!arm || !version) return undefined;
    const whose = { owner_id: question.agent.ownerId, agent_id: question.agent.id, experiment_id: experiment.id, variant_id: arm.id };
    const trial = { id: question.runId, ...whose, status: 'running', created_at: clock.iso(), meets: 0, tool_errors: 0, rating: null, cost_usd: 0, latency_ms: 0 };
    await db.commit([...(kept ? [] : [db.upsert('prompt_arms', ['id'], [{ id, ...whose }])]), db.upsert('prompt_trials', ['id'], [trial])]);
    return { text: version.system_prompt, source: `experiment ${experiment.name}: ${arm.name}, version ${version.version}`.slice(0, 200) };
  };
  const close = (): void => {
    for (const one of open) one.dispose();
    open = [];
  };
  const listen = (): Disposable[] => [
    hooks.tap(RunPrompt, answer),
    events.on(RunEnded, async ({ agentId, ownerId, runId }) => {
      if (watched.has(agentId)) await trials.settle(ownerId, runId);
    }),
    events.on(RunRated, async ({ agentId, runId, value }) => {
      if (watched.has(agentId)) await db.commit([db.update('prompt_trials', ['id'], [{ id: runId, rating: value ?? null }])]);
    }),
  ];
  const look = async (): Promise<void> => {
    const rows = await reads.select<ExperimentRow>({ from: 'prompt_experiments', where: { status: ['running', 'paused'] }, limit: MAX_OPEN });
    const live = rows.filter(({ status }) => status === 'running').map((row) => ({ row, variants: JSON.parse(row.variants) as Variant[] }));
    const ids = live.flatMap(({ variants }) => variants.map((one) => one.prompt_version_id));
    const versions = ids.length === 0 ? [] : await reads.select<VersionRow>({ from: 'prompt_versions', where: { id: [...new Set(ids)] }, limit: MAX_OPEN });
    const byId = new Map(versions.map((one) => [one.id, one]));
    running = new Map(live.map(({ row, variants }) => [row.agent_id, { id: row.id, name: row.name, variants, split: JSON.parse(row.traffic_split) as number[], versions: byId }]));
    watched = new Set(rows.map((row) => row.agent_id));
    if (watched.size === 0) close();
    else if (open.length === 0) open = listen();
  };
  const refresh = (): Promise<void> => {
    const work = queue.then(look);
    queue = work.catch(() => undefined); // whoever asked hears of it
    return work;
  };
  return {
    /** Messages from now on follow the experiments that run now. */
    refresh,
    /** The same, where nobody waits for it. */
    refreshLater: (): Promise<void> => refresh().catch((error: unknown) => log.warn('experiments wait for the next look', { error })),
    close: (): void => {
      close();
      running = new Map();
      watched = new Set();
    },
  };
};
