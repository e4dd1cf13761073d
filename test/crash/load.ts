/**
 * Many clients at once, and a daemon that is killed again and again at random moments, on one home all the while.
 * A client that gets no answer waits for the next life and sends the same again under the same key.
 */
import { randomUUID } from 'node:crypto';
import { seededIds } from '@svc/platform/clock/ids';
import type { Account, Story } from './account/account.js';
import { type Life, type Place, beginLife, createPlace } from './daemon-life.js';
import { ensureAgent, send } from './entry-points.js';
import type { PlannedModel } from './planned-model.js';
import { closeBooks, count, storyOf } from './scenario.js';

const ADAPTERS = ['rest', 'sse', 'rest', 'sse'] as const;
/** Kills fall between the start of the process and this much later: during boot, recovery and work alike. */
const LONGEST_LIFE_MS = 1_800;

export interface LoadOptions {
  readonly kills: number;
  readonly clients: number;
  /** A number in [0, 1) for each kill. */
  random(): number;
}

/** Another one in each run, printed, so that the deaths of a failure can be had again: SVC_TEST_SEED=… */
export const randomOfRun = (): (() => number) => {
  const seed = process.env.SVC_TEST_SEED ?? randomUUID().slice(0, 8);
  console.log(`      SVC_TEST_SEED=${seed}`);
  return seededIds(seed).random;
};

export interface LoadResult {
  readonly account: Account;
  readonly messages: number;
  readonly kills: number;
}

interface Town {
  readonly place: Place;
  readonly stories: Story[];
  /** The address of the life that is on, or of the next one. */
  address: Promise<string | undefined>;
  isClosing: boolean;
}

export const killUnderLoad = async (model: PlannedModel, options: LoadOptions): Promise<LoadResult> => {
  const place = await createPlace(model.url);
  const town: Town = { place, stories: [], address: Promise.resolve(undefined), isClosing: false };
  try {
    const clients: Array<Promise<void>> = [];
    for (let number = 1; number <= options.kills; number++) {
      const life = beginLife(place, number);
      town.address = life.url;
      if (number === 1) for (let client = 0; client < options.clients; client++) clients.push(talk(town, client));
      await dieLater(life, options.random() * LONGEST_LIFE_MS);
    }
    const last = beginLife(place, options.kills + 1);
    town.address = last.url;
    town.isClosing = true;
    await Promise.all(clients);
    return { account: await readBooks(town, last), messages: town.stories.length, kills: options.kills };
  } finally {
    place.clean();
  }
};

const readBooks = async (town: Town, life: Life): Promise<Account> => {
  const url = await life.url;
  if (url === undefined) throw new Error(`the daemon did not start again: ${(await life.gone).errors}`);
  const account = await closeBooks(town.place, url, await ensureAgent(url), town.stories);
  life.kill();
  await life.gone;
  return account;
};

const dieLater = async (life: Life, ms: number): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  life.kill();
  const { signal, code, errors } = await life.gone;
  if (signal !== 'SIGKILL') throw new Error(`the daemon ended by itself with code ${code}: ${errors}`);
};

/** One client in a session of its own: the next message when the last one is answered, until the last life. */
const talk = async (town: Town, client: number): Promise<void> => {
  const sessionId = randomUUID();
  while (!town.isClosing) {
    const story = storyOf(ADAPTERS[client % ADAPTERS.length] ?? 'rest', sessionId, [[count('never'), count('keyed', 2), count('keyed', 5), count('safe', 1)], [count('never')]]);
    town.stories.push(story);
    await untilAnswered(town, story);
  }
};

const untilAnswered = async (town: Town, story: Story): Promise<void> => {
  for (let tries = 0; tries < 400; tries++) {
    const url = await town.address;
    // It may die before the agent is known to this client: nothing was sent then.
    const agentId = url === undefined ? undefined : await ensureAgent(url).catch(() => undefined);
    if (url !== undefined && agentId !== undefined) {
      const seen = await send(url, agentId, story.message);
      story.seen.push(seen);
      // An error that the daemon itself gave is an answer too, unless it says that it is only starting or stopping.
      if (seen.answer !== undefined || (seen.status !== undefined && seen.status !== 503 && !seen.acknowledged)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
};
