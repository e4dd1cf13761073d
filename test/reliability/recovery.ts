/** Runs that a death interrupted, and what comes in the way of their recovery: a restart of the database, a second daemon, a rolling restart. */
import { randomUUID } from 'node:crypto';
import type { PostgresCluster } from '@svc/testing/postgres/cluster';
import { type Account, type Story, settle } from '../crash/account/account.js';
import { readLedger, unfinishedRuns } from '../crash/account/ledger.js';
import { markdownTable } from '../crash/account/markdown-table.js';
import { readEffects } from '../crash/countable-tools.js';
import { until } from '../crash/daemon-life.js';
import { ensureAgent, send } from '../crash/entry-points.js';
import type { PlannedModel } from '../crash/planned-model.js';
import { count, storyOf } from '../crash/scenario.js';
import { type Fleet, type Member, startAgain, startFleet, urlOf } from './fleet.js';

/** How long whatever is waited for may take on a busy machine. */
const PATIENCE_MS = 180_000;
const AT_ONCE = 25;
/** Calls of the model that go before a run hangs for good: a run in four hangs at each. */
const HANGS_AT = 4;

export interface Trial {
  readonly what: string;
  readonly runs: number;
  /** Unfinished when the death came. */
  readonly interrupted: number;
  /** Restarts of PostgreSQL while runs were recovered. */
  readonly restarts: number;
  readonly stranded: number;
  readonly account: Account;
}

type Deal = (trial: { readonly fleet: Fleet; readonly cluster: PostgresCluster; readonly left: () => Promise<number>; readonly interrupted: number }) => Promise<number>;

/** The ways to recover; each gives how often the database was restarted meanwhile. */
const WAYS: Readonly<Record<string, { readonly daemons: number; readonly recover: Deal }>> = {
  'one daemon, PostgreSQL restarted twice during recovery': {
    daemons: 1,
    recover: async ({ cluster, fleet, interrupted, left }) => {
      const [only] = fleet.members as [Member];
      only.life.kill();
      await startAgain(only);
      for (const share of [0.9, 0.5]) {
        await until(async () => (await left()) <= interrupted * share, PATIENCE_MS);
        await cluster.crash();
        await cluster.start();
      }
      return 2;
    },
  },
  'two daemons that recover at once, PostgreSQL restarted': {
    daemons: 2,
    recover: async ({ cluster, fleet, interrupted, left }) => {
      for (const { life } of fleet.members) life.kill();
      await Promise.all(fleet.members.map(startAgain));
      await until(async () => (await left()) <= interrupted * 0.8, PATIENCE_MS);
      await cluster.crash();
      await cluster.start();
      return 1;
    },
  },
  'two daemons that overlap: one is stopped while the other starts': {
    daemons: 2,
    recover: async ({ fleet }) => {
      const [first, second] = fleet.members as [Member, Member];
      second.life.kill();
      first.life.signal('SIGTERM');
      await startAgain(second);
      await startAgain(first);
      return 0;
    },
  },
  'a rolling restart of three daemons': {
    daemons: 3,
    recover: async ({ fleet }) => {
      for (const member of fleet.members) {
        member.life.signal('SIGTERM');
        await startAgain(member);
      }
      return 0;
    },
  },
};

export const WAYS_TO_RECOVER: readonly string[] = Object.keys(WAYS);

/** `runs` messages are accepted and hang at some step; then comes what `what` says, and the model answers again. */
export const recoverFrom = async (what: string, model: PlannedModel, cluster: PostgresCluster, runs: number): Promise<Trial> => {
  const way = WAYS[what];
  if (!way) throw new Error(`There is no trial "${what}".`);
  const fleet = await startFleet(model, await cluster.fresh(), way.daemons);
  const left = (): Promise<number> => unfinishedRuns(fleet.place.database).catch(() => Number.POSITIVE_INFINITY); // the server is away
  try {
    const hanging = hangRuns(model);
    const stories = Array.from({ length: runs }, () => storyOf('rest', randomUUID(), [[count('never'), count('keyed')], [count('never')]]));
    const sent = Promise.all(stories.map((story, index) => sendOnce(fleet.members[index % way.daemons] ?? fleet.members[0], story)));
    await until(() => hanging.count() >= runs, PATIENCE_MS);
    const interrupted = await left();
    hanging.release();
    const restarts = await way.recover({ fleet, cluster, left, interrupted });
    await sent;
    await until(async () => (await left()) === 0, PATIENCE_MS);
    const stranded = await left();
    return { what, runs, interrupted, restarts, stranded, account: await accountOf(fleet, stories) };
  } finally {
    model.onRequest(undefined);
    await fleet.close();
  }
};

/** Each run goes some steps and then waits for a model that never answers, until `release`. */
const hangRuns = (model: PlannedModel) => {
  let asked = 0;
  let hanging = 0;
  model.onRequest(({ body }) => {
    const messages = body.messages as ReadonlyArray<{ readonly tool_calls?: readonly unknown[] }>;
    const isLast = messages.filter((message) => message.tool_calls !== undefined).length > 1;
    asked += 1;
    if (!isLast && asked % HANGS_AT !== 0) return undefined;
    hanging += 1;
    return { hang: true };
  });
  return { count: () => hanging, release: () => model.onRequest(undefined) };
};

const sendOnce = async (member: Member | undefined, story: Story): Promise<void> => {
  if (!member) return;
  const url = await urlOf(member);
  story.seen.push(await send(url, await ensureAgent(url), story.message));
};

/** Every client comes back with its key and is told what became of its message. */
const accountOf = async (fleet: Fleet, stories: readonly Story[]): Promise<Account> => {
  const waiting = [...stories];
  const client = async (number: number): Promise<void> => {
    for (let story = waiting.shift(); story; story = waiting.shift()) await sendOnce(fleet.members[number % fleet.members.length], story);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => client(number)));
  return settle(stories, await readLedger(fleet.place.database), readEffects(fleet.place.effects));
};

const HEAD = ['what happened', 'runs', 'interrupted', 'restarts', 'stranded', 'lost', 'answered twice', 'repeated', 'told unknown'];

export const recoveryTable = (trials: readonly Trial[]): string =>
  markdownTable(
    HEAD,
    trials.map(({ account, interrupted, restarts, runs, stranded, what }) => [
      what,
      ...[runs, interrupted, restarts, stranded, account.lost, account.answeredTwice, account.repeated, account.unknownReported].map(String),
    ]),
  );
