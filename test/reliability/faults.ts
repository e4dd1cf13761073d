/**
 * Faults short of death, at every step of a run: a commit that is refused once, one that takes effect and does not say so,
 * a disk that is full or a server that is away for a second, a model that never answers, a clock that jumps. The steps are the points of
 * test/crash, found by running; each fault meets a message of its own in one daemon that goes on living.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { standardFactories } from '@svc/daemon';
import { filesErrors } from '@svc/platform/adapters/errors';
import { systemClock, type TimerClock } from '@svc/platform/clock/clock';
import { storageErrors } from '@svc/platform/storage/contract/errors';
import { bootTestKernel, type TestKernel } from '@svc/testing';
import { type Account, type Story, settle } from '../crash/account/account.js';
import { markdownTable } from '../crash/account/markdown-table.js';
import { readLedger, unfinishedRuns } from '../crash/account/ledger.js';
import { countableTools, readEffects } from '../crash/countable-tools.js';
import { type CrashPoints, crashingFactories } from '../crash/crash-points.js';
import { createPlace, type Place, until } from '../crash/daemon-life.js';
import { ensureAgent, send } from '../crash/entry-points.js';
import type { PlannedModel } from '../crash/planned-model.js';
import { count, pairOf, storyOf } from '../crash/scenario.js';

/** Steps of the run itself: what the kernel and the audit trail write beside it comes at any time. */
const STEP = /commit (journal|sessions|llm)|fetch model|effect/;
const LASTS_MS = 1_000;
const JUMP_MS = 2 * 3_600_000;
const JUMP_LASTS = 4;
const TRIES = 400;
/** What runs beside each other does not come in one order, and may end in one commit: a point that a message does not reach is tried with the next. */
const MEETINGS = 4;
const SETTLED_MS = 60_000;

/** What happens at a point, by name; `points` says at which. */
const KINDS = {
  'commit refused once': /^before commit/,
  'commit done, answer lost': /^after commit/,
  'disk full for a second': /^before (commit|file write)/,
  'database away for a second': /^before commit/,
  'provider hangs': /^before fetch model$/,
  'clock two hours ahead, then back': /./,
  'clock two hours back, then right': /./,
} as const;

export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as readonly FaultKind[]; // the names above

export interface Fault {
  readonly kind: FaultKind;
  /** `name #turn` within one message. */
  readonly point: string;
}

export interface FaultyDaemon {
  readonly place: Place;
  readonly kernel: TestKernel;
  readonly agent: string;
  /** Every point that one message reaches. */
  pointsOfMessage(): Promise<string[]>;
  /** Sends one message that meets the fault. False when it was never met. */
  meet(fault: Fault): Promise<{ readonly story: Story; readonly isMet: boolean }>;
  close(): Promise<void>;
}

export const faultsAt = (points: readonly string[], kinds: readonly FaultKind[] = FAULT_KINDS): Fault[] =>
  kinds.flatMap((kind) => points.filter((point) => KINDS[kind].test(point.replace(/ #\d+$/, ''))).map((point) => ({ kind, point })));

export const bootFaulty = async (model: PlannedModel): Promise<FaultyDaemon> => {
  const place = await createPlace(model.url, '[llm]\nidle_timeout_secs = 1\nretry_base_ms = 1\n');
  const state = { seen: [] as string[], turns: new Map<string, number>(), fault: undefined as Fault | undefined, isMet: false, awayUntilMs: 0, aheadMs: 0, jumpEnds: 0 };
  const fail = (name: string): void => {
    const { kind } = state.fault ?? {};
    if (kind === 'commit refused once') throw storageErrors.busy();
    if (kind === 'commit done, answer lost') throw storageErrors.io();
    if (kind === 'disk full for a second' || kind === 'database away for a second') state.awayUntilMs = performance.now() + LASTS_MS;
    if (kind === 'provider hangs') hangOnce(model);
    if (kind === 'clock two hours ahead, then back') state.aheadMs = JUMP_MS;
    if (kind === 'clock two hours back, then right') state.aheadMs = -JUMP_MS;
    state.jumpEnds = JUMP_LASTS;
    failIfAway(name);
  };
  const failIfAway = (name: string): void => {
    const { kind } = state.fault ?? {};
    if (kind === undefined || performance.now() >= state.awayUntilMs || !KINDS[kind].test(name)) return;
    if (kind === 'database away for a second') throw storageErrors.unreachable('the database', 'nothing answers at this address');
    throw name.startsWith('before commit') ? storageErrors.full() : filesErrors.disk_full('a file');
  };
  const points: CrashPoints = {
    reach: (name) => {
      const turn = (state.turns.get(name) ?? 0) + 1;
      state.turns.set(name, turn);
      state.seen.push(`${name} #${turn}`);
      state.jumpEnds -= 1;
      if (state.jumpEnds === 0) state.aheadMs = 0;
      failIfAway(name);
      if (state.isMet || state.fault?.point !== `${name} #${turn}`) return;
      state.isMet = true;
      fail(name);
    },
  };
  const kernel = await bootTestKernel({
    home: place.home,
    config: readFileSync(`${place.home}/config.toml`, 'utf8'),
    env: { OPENAI_API_KEY: 'sk-fault-test' },
    clock: jumpingClock(() => state.aheadMs),
    extra: [countableTools(points, place.effects)],
    factories: crashingFactories(points, standardFactories),
  });
  const agent = await ensureAgent(kernel.url);
  const sendOne = async (fault?: Fault) => {
    Object.assign(state, { seen: [], turns: new Map(), fault, isMet: false, awayUntilMs: 0, aheadMs: 0 });
    const story = storyOf('rest', randomUUID(), [[count('never'), ...pairOf('keyed', 'safe'), count('never')], [count('never')]]);
    await untilTold(kernel.url, agent, story);
    Object.assign(state, { fault: undefined, awayUntilMs: 0, aheadMs: 0 });
    return { story, isMet: state.isMet };
  };
  return {
    place,
    kernel,
    agent,
    pointsOfMessage: async () => {
      // The first ones make what is made once.
      for (let warm = 0; warm < 3; warm += 1) await sendOne();
      const before = new Set(state.seen);
      await sendOne();
      // What only one of two messages reached is chance, such as a timer's commit.
      return state.seen.filter((point) => STEP.test(point) && before.has(point));
    },
    meet: sendOne,
    close: async () => {
      await kernel.stop();
      place.clean();
    },
  };
};

const hangOnce = (model: PlannedModel): void =>
  model.onRequest(() => {
    model.onRequest(undefined);
    return { hang: true };
  });

const jumpingClock = (aheadMs: () => number): TimerClock => {
  const real = systemClock();
  return { ...real, now: () => real.now() + aheadMs(), iso: () => new Date(real.now() + aheadMs()).toISOString() };
};

/** As a client that is told to try again: under the same key, until it has an answer or a refusal that is final. */
const untilTold = async (url: string, agent: string, story: Story): Promise<void> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = await send(url, agent, story.message);
    story.seen.push(seen);
    if (seen.answer !== undefined || seen.runId !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};

export interface FaultRow {
  readonly kind: FaultKind;
  readonly points: number;
  readonly missed: number;
  /** Answered as if nothing had happened. */
  readonly answered: number;
  /** Ended as failed, with an error that names the fault, told to the client. */
  readonly told: number;
  readonly account: Account;
}

/** The error that a fault may end a run with. */
const NAMED = /"code":"(storage_\w+|llm_\w+|provider_\w+)"/;

/** Meets each fault, and counts. Whatever ended as failed goes on with the next message of its session. */
export const countFaults = async (daemon: FaultyDaemon, faults: readonly Fault[]): Promise<FaultRow[]> => {
  const met: Array<{ fault: Fault; story: Story; next: Story; isMet: boolean }> = [];
  const missed: Fault[] = [];
  for (const fault of faults) {
    let isMet = false;
    for (let meetings = 0; meetings < MEETINGS && !isMet; meetings += 1) {
      const meeting = await daemon.meet(fault);
      isMet = meeting.isMet;
      const next = storyOf('rest', meeting.story.message.sessionId, []);
      await untilTold(daemon.kernel.url, daemon.agent, next);
      met.push({ fault, story: meeting.story, next, isMet });
    }
    if (!isMet) missed.push(fault);
  }
  await until(async () => (await unfinishedRuns(daemon.place.database)) === 0, SETTLED_MS);
  const ledger = await readLedger(daemon.place.database);
  const failedBy = new Map(ledger.runs.filter(({ status, error }) => status === 'failed' && NAMED.test(error ?? '')).map((run) => [run.request_key, run]));
  const rows = new Map<FaultKind, FaultRow>();
  for (const kind of new Set(met.map(({ fault }) => fault.kind))) {
    const own = met.filter(({ fault }) => fault.kind === kind);
    const told = own.filter(({ story }) => failedBy.has(story.message.key ?? ''));
    const others = own.filter((one) => !told.includes(one));
    const keys = new Set(own.flatMap(({ story, next }) => [story.message.key, next.message.key]));
    const runs = ledger.runs.filter(({ request_key: key }) => key !== null && keys.has(key));
    // A run that failed may leave calls without a result: the model's next message shows whether its session goes on.
    const ids = new Set(runs.filter(({ request_key: key }) => !failedBy.has(key)).map(({ id }) => id));
    const entries = ledger.entries.filter(({ run_id: id }) => id !== null && ids.has(id));
    const account = settle(
      [...others.map(({ story }) => story), ...own.map(({ next }) => next)],
      { ...ledger, runs, entries, steps: ledger.steps.filter(({ run_id: id }) => ids.has(id)) },
      readEffects(daemon.place.effects),
    );
    for (const { fault, story } of told) if (!story.seen.some(({ problem }) => problem !== undefined)) account.problems.push(`${fault.kind} at ${fault.point}: the run failed and nobody was told`);
    const [points, never] = [faults, missed].map((all) => all.filter((fault) => fault.kind === kind).length) as [number, number];
    rows.set(kind, { kind, points, missed: never, answered: others.filter(({ isMet }) => isMet).length, told: told.length, account });
  }
  return [...rows.values()];
};

const HEAD = ['fault, at each step of a run', 'points', 'answered', 'failed, told', 'lost', 'repeated', 'told unknown', 'stuck', 'answered twice'];

export const faultTable = (rows: readonly FaultRow[]): string =>
  markdownTable(
    HEAD,
    rows.map(({ account, answered, kind, points, told }) => [
      kind,
      ...[points, answered, told, account.lost, account.repeated, account.unknownReported, account.stuck, account.answeredTwice].map(String),
    ]),
  );
