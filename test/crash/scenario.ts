/**
 * The story that every crash point is put to: four messages by four adapters, whose answers need tools of every kind.
 * The daemon dies once on the way; its second life is sent the same messages under the same keys, each twice at once.
 */
import { randomUUID } from 'node:crypto';
import { type Account, type Story, emptyAccount, settle } from './account/account.js';
import { linesOf, readEffects } from './countable-tools.js';
import { type Life, type Place, beginLife, createPlace, until } from './daemon-life.js';
import { type EntryPoint, type Message, ensureAgent, send } from './entry-points.js';
import { readLedger, unfinishedRuns } from './account/ledger.js';
import { answerTo, type Plan, type PlannedCall, type PlannedModel, planText } from './planned-model.js';

const SETTLED_MS = 30_000;

/** The other agent, which `agent_send` asks. */
const HELPER = 'helper';
/** What runs beside each other does not come in one order: a point that was not reached is tried again. */
const TRIES = 4;

export interface Death {
  /** How often the daemon was killed. */
  readonly kills: number;
  readonly account: Account;
}

/** All points that the story reaches when nothing goes wrong, in order. */
export const enumeratePoints = async (model: PlannedModel): Promise<string[]> => {
  const place = await createPlace(model.url);
  try {
    const life = beginLife(place, 1);
    const stories = storiesOf(model);
    await notifyOnce(life, stories);
    life.kill();
    const { errors } = await life.gone;
    const missing = stories.find(({ seen }) => seen[0]?.answer === undefined);
    if (missing) throw new Error(`without any crash, ${missing.message.entryPoint} was not answered: ${missing.seen[0]?.problem} ${errors}`);
    return linesOf(place.points(1));
  } finally {
    place.clean();
  }
};

/** Dies at each of `points`, a life each, lives again, and counts. Undefined when the first was never reached. */
export const dieAndReturn = async (model: PlannedModel, points: readonly string[]): Promise<Death | undefined> => {
  for (let tries = 0; tries < TRIES; tries++) {
    const place = await createPlace(model.url);
    try {
      const stories = storiesOf(model);
      if (!(await dieAt(place, 1, stories, points[0]))) continue;
      let kills = 1;
      for (const [index, point] of points.slice(1).entries()) if (await dieAt(place, index + 2, stories, point)) kills += 1;
      return { kills, account: await liveAgain(place, points.length + 1, stories) };
    } finally {
      place.clean();
    }
  }
  return undefined;
};

/** True when it died there; when all was said and done before, the life is ended all the same. */
const dieAt = async (place: Place, number: number, stories: readonly Story[], point: string | undefined): Promise<boolean> => {
  const life = beginLife(place, number, point);
  await Promise.race([notifyOnce(life, stories), life.gone]);
  // The last points (a commit that has answered, the end of a body) may be a moment away.
  const isReached = await until(() => life.isOver(), 300);
  life.kill();
  const { signal, code, errors } = await life.gone;
  if (signal !== 'SIGKILL') throw new Error(`the daemon ended by itself with code ${code}: ${errors}`);
  return isReached;
};

/** The last life: everything is sent again, everything ends, every session answers; then the books are read. */
const liveAgain = async (place: Place, number: number, stories: readonly Story[]): Promise<Account> => {
  const life = beginLife(place, number);
  const url = await life.url;
  if (url === undefined) throw new Error(`the daemon did not start again: ${(await life.gone).errors}`);
  try {
    const agentId = await ensureAgent(url);
    await ensureAgent(url, HELPER);
    for (const story of stories) {
      if (story.message.key === undefined) continue;
      story.seen.push(...(await Promise.all([send(url, agentId, story.message), send(url, agentId, story.message)])));
    }
    return await closeBooks(place, url, agentId, stories);
  } finally {
    life.kill();
    await life.gone;
  }
};

/** Waits until nothing runs, asks each session once more, and counts. */
export const closeBooks = async (place: Place, url: string, agentId: string, stories: readonly Story[]): Promise<Account> => {
  const before = emptyAccount();
  const isSettled = await until(async () => (await unfinishedRuns(place.database)) === 0, SETTLED_MS);
  if (!isSettled) before.problems.push('not every run came to its end');
  const last: Story[] = [];
  for (const sessionId of new Set(stories.map(({ message }) => message.sessionId))) {
    const next = storyOf('rest', sessionId, []);
    const seen = await send(url, agentId, next.message);
    next.seen.push(seen);
    last.push(next);
    if (seen.answer === answerTo(next.plan.mark)) continue;
    before.stuck += 1;
    before.problems.push(`stuck: session ${sessionId} does not answer the next message: ${seen.problem ?? seen.answer}`);
  }
  const account = settle([...stories, ...last], await readLedger(place.database), readEffects(place.effects));
  account.acknowledged -= last.length;
  account.stuck += before.stuck;
  account.problems.push(...before.problems);
  return account;
};

/** Sends the messages one after another, as far as the daemon lives; what has no key is not sent again once it is acknowledged. */
const notifyOnce = async (life: Life, stories: readonly Story[]): Promise<void> => {
  const url = await life.url;
  if (url === undefined) return;
  // It may die before there is an agent: nobody has been told anything then.
  const agentId = await ensureAgent(url)
    .then(async (id) => {
      await ensureAgent(url, HELPER);
      return id;
    })
    .catch(() => undefined);
  if (agentId === undefined) return;
  for (const story of stories) {
    if (life.isOver()) return;
    if (story.message.key === undefined && story.seen.length > 0) continue;
    story.seen.push(await send(url, agentId, story.message));
  }
};

const storiesOf = (model: PlannedModel): Story[] => {
  const write: PlannedCall = { name: 'file_write', args: { path: 'notes.txt', content: 'counted' } };
  const shell: PlannedCall = { name: 'shell_exec', args: { command: 'echo counted' } };
  const page: PlannedCall = { name: 'web_fetch', args: { url: `${model.url}/v1/models` } };
  const ask: PlannedCall = { name: 'agent_send', args: { agent_id: HELPER, message: planText({ mark: `helped-${randomUUID()}`, rounds: [[count('never')]] }) } };
  return [
    storyOf('rest', randomUUID(), [[count('never'), count('keyed', 4), count('safe'), count('safe', 2), count('never')], [write]]),
    storyOf('sse', randomUUID(), [[count('never')], [shell, count('never')]]),
    storyOf('ws', randomUUID(), [[count('keyed'), count('keyed', 3)], [count('never')]]),
    storyOf('openai', undefined, [[count('never'), page], [ask]]),
  ];
};

/** A counted call under a mark of its own. */
export const count = (replay: 'never' | 'keyed' | 'safe', pauseMs?: number): PlannedCall => ({
  name: `count_${replay}`,
  args: { mark: `${replay}-${randomUUID()}`, ...(pauseMs === undefined ? {} : { pause_ms: pauseMs }) },
});

/** A message with a plan of its own; every channel but the socket takes a key. */
export const storyOf = (entryPoint: EntryPoint, sessionId: string | undefined, rounds: Plan['rounds']): Story => {
  const plan: Plan = { mark: `${entryPoint}-${randomUUID()}`, rounds };
  const message: Message = { entryPoint, text: planText(plan), ...(sessionId === undefined ? {} : { sessionId }), ...(entryPoint === 'ws' ? {} : { key: `key-${plan.mark}` }) };
  return { message, plan, seen: [] };
};
