/**
 * Daemons under load to whom everything happens that can: killed, paused for longer than their lease, cut from the
 * database or from NATS with a closed connection or with a silent one. Clients go to another daemon when one fails them, with the
 * same key.
 */
import { randomUUID } from 'node:crypto';
import type { NatsServer } from '@svc/testing/nats/server';
import { type Account, emptyAccount, type Story } from '../crash/account/account.js';
import { openReadOnly } from '../crash/account/ledger.js';
import { markdownTable } from '../crash/account/markdown-table.js';
import { until } from '../crash/daemon-life.js';
import { ensureAgent, send } from '../crash/entry-points.js';
import type { PlannedModel } from '../crash/planned-model.js';
import { closeBooks, count, storyOf } from '../crash/scenario.js';
import { type Fleet, LEASE_MS, type Member, startAgain, startFleet, urlOf } from './fleet.js';

const DAEMONS = 3;
const PATIENCE_MS = 180_000;
/** Answered messages between two blows, so that each meets a fleet at work. */
const BETWEEN = 4;
/** Longer than a lease, by so much that others have looked since it ran out. */
const AWAY_MS = LEASE_MS * 2;
const MOST_TIMER_MS = 4_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What happens to one daemon, from its beginning to the moment when it may work again. */
type Blow = (member: Member, fleet: Fleet) => Promise<void>;
const BLOWS: Readonly<Record<string, Blow>> = {
  'killed (SIGKILL)': async (member) => {
    member.life.kill();
    await startAgain(member);
  },
  'paused past its lease (SIGSTOP)': async ({ life }) => {
    life.signal('SIGSTOP');
    await pause(AWAY_MS);
    life.signal('SIGCONT');
  },
  'database connections closed': async ({ way }) => {
    await way.cut();
    await pause(AWAY_MS);
    await way.restore();
  },
  'database connections silent': async ({ way }) => {
    way.silence();
    await pause(AWAY_MS);
    await way.restore();
  },
};

/** What happens besides where the daemons hear each other over NATS. */
const NATS_BLOWS: Readonly<Record<string, Blow>> = {
  'NATS connection closed': async ({ busWay }) => {
    await busWay?.cut();
    await pause(AWAY_MS);
    await busWay?.restore();
  },
  'NATS connection silent': async ({ busWay }) => {
    busWay?.silence();
    await pause(AWAY_MS);
    await busWay?.restore();
  },
  'nats-server stopped and started (for all)': async (_, { nats }) => {
    await nats?.stop();
    await pause(AWAY_MS);
    await nats?.start();
  },
};
const ALL_BLOWS = { ...BLOWS, ...NATS_BLOWS };

export const kindsOfBlow = (nats: boolean): readonly string[] => Object.keys(nats ? ALL_BLOWS : BLOWS);

export interface ChaosOptions {
  /** Kinds of blows in order; the daemon that each hits is chance. */
  readonly blows: readonly string[];
  readonly clients: number;
  /** By which the daemons hear each other, in the place of LISTEN and NOTIFY. */
  readonly nats?: NatsServer;
  /** A number in [0, 1) for each choice. */
  random(): number;
}

export interface Chaos {
  readonly blows: ReadonlyMap<string, number>;
  readonly messages: number;
  readonly account: Account;
  readonly timers: { readonly set: number; readonly rung: number; readonly twice: number; readonly never: number };
}

export const strike = async (model: PlannedModel, databaseUrl: string, options: ChaosOptions): Promise<Chaos> => {
  const fleet = await startFleet(model, databaseUrl, DAEMONS, options.nats);
  const stories: Story[] = [];
  let isOver = false;
  try {
    const [first] = fleet.members as [Member];
    const agent = await ensureAgent(await urlOf(first));
    const answered = (): number => stories.filter(({ seen }) => seen.some(({ answer }) => answer !== undefined)).length;
    const clients = Array.from({ length: options.clients }, async (_, client) => {
      const sessionId = randomUUID();
      while (!isOver) {
        const story = storyFor(sessionId, client);
        stories.push(story);
        await untilAnswered(fleet, agent, story, client);
      }
    });
    const done = Promise.all(clients);
    const blows = new Map<string, number>();
    for (const blow of options.blows) {
      const before = answered();
      await until(() => answered() >= before + BETWEEN, PATIENCE_MS);
      const member = fleet.members[Math.floor(options.random() * DAEMONS)] ?? first;
      await ALL_BLOWS[blow]?.(member, fleet);
      blows.set(blow, (blows.get(blow) ?? 0) + 1);
    }
    isOver = true;
    await done;
    const account = await closeBooks(fleet.place, await urlOf(first), agent, stories);
    return { blows, messages: stories.length, account, timers: await countTimers(fleet, stories, account) };
  } finally {
    isOver = true;
    await fleet.close();
  }
};

const storyFor = (sessionId: string, client: number): Story =>
  storyOf(client % 2 === 0 ? 'rest' : 'sse', sessionId, [
    [count('never'), count('keyed', 20), { name: 'set_timer', args: { mark: `timer-${randomUUID()}`, in_ms: (client * 977) % MOST_TIMER_MS } }],
    [count('never', 50)],
  ]);

/** One daemon after another, until one answers. */
const untilAnswered = async (fleet: Fleet, agent: string, story: Story, client: number): Promise<void> => {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const member = fleet.members[(client + tries) % DAEMONS];
    const url = member?.life.isOver() ? undefined : await member?.life.url;
    if (url !== undefined) {
      const seen = await send(url, agent, story.message);
      story.seen.push(seen);
      if (seen.answer !== undefined) return;
    }
    await pause(50);
  }
};

/** Each timer that was said to be set has to ring once: a row of its mark, in the commit that ended it. */
const countTimers = async (fleet: Fleet, stories: readonly Story[], account: Account): Promise<Chaos['timers']> => {
  const marks = stories.flatMap(({ plan }) => plan.rounds.flat().flatMap(({ args }) => (typeof args.mark === 'string' && args.mark.startsWith('timer-') ? [args.mark] : [])));
  const db = await openReadOnly(fleet.place.database);
  try {
    const rung = (): Promise<Array<{ mark: string }>> => db.all('SELECT mark FROM durable_timers__rung');
    await until(async () => new Set((await rung()).map(({ mark }) => mark)).size >= marks.length, PATIENCE_MS);
    const rows = (await rung()).map(({ mark }) => mark);
    const different = new Set(rows);
    const never = marks.filter((mark) => !different.has(mark));
    if (rows.length > different.size) account.problems.push(`${rows.length - different.size} timers rang twice`);
    if (never.length > 0) account.problems.push(`${never.length} timers never rang: ${never.slice(0, 3).join(', ')}`);
    return { set: marks.length, rung: different.size, twice: rows.length - different.size, never: never.length };
  } finally {
    await db.close();
  }
};

const HEAD = ['what happened to one of three daemons', 'times', 'messages', 'lost', 'answered twice', 'repeated', 'told unknown', 'timers', 'rang twice', 'never rang'];

export const chaosTable = ({ account = emptyAccount(), blows, messages, timers }: Chaos): string =>
  markdownTable(HEAD, [
    ...[...blows].map(([blow, times]) => [blow, String(times), ...Array<string>(HEAD.length - 2).fill('')]),
    [
      'all, in one run',
      ...[
        [...blows.values()].reduce((sum, times) => sum + times, 0),
        messages,
        account.lost,
        account.answeredTwice,
        account.repeated,
        account.unknownReported,
        timers.set,
        timers.twice,
        timers.never,
      ].map(String),
    ],
  ]);
