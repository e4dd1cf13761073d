/**
 * The story that every crash point is put to: four messages by four adapters, whose answers need tools of every kind.
 * The daemon dies once on the way; its second life is sent the same messages under the same keys, each twice at once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Account, type Story, emptyAccount, settle } from './account/account.js';
import { linesOf, readEffects } from './countable-tools.js';
import { type Life, type Place, beginLife, createPlace, until } from './daemon-life.js';
import { type EntryPoint, type Message, ensureAgent, send } from './entry-points.js';
import { readLedger, unfinishedRuns } from './account/ledger.js';
import { answerTo, type Plan, type PlannedCall, type PlannedModel, planText } from './planned-model.js';

const SETTLED_MS = 30_000;

/** Who is talked to, and the other agent, which `agent_send` asks. */
interface Cast {
  readonly agent: string;
  readonly helper: string;
}
const FIRST: Cast = { agent: 'counter', helper: 'helper' };
/** Each story of one home has agents of its own: what is written for new ones is among its points. */
const castOf = (number: number): Cast => ({ agent: `counter ${number}`, helper: `helper ${number}` });
/** What runs beside each other does not come in one order: a point that was not reached is tried again. */
const TRIES = 4;
/** What was said is read for searches a second after it was said: its points belong to the story too. */
const REST_MS = 1_500;
/** A life that has answered everything may still reach its point for so long: on a slow machine what rests comes later. */
const LAST_POINT_MS = 2 * REST_MS;

export interface Death {
  /** How often the daemon was killed. */
  readonly kills: number;
  readonly account: Account;
}

/** All points that are reached when nothing goes wrong, in order: by a new home with its first story, and by each later story. */
export const enumeratePoints = async (model: PlannedModel): Promise<{ readonly first: string[]; readonly later: string[] }> => {
  const place = await createPlace(model.url);
  try {
    const life = beginLife(place, 1);
    const stories = storiesOf(model);
    await notifyOnce(life, stories);
    await setTimeout(REST_MS);
    await life.watch({ file: place.points(2) });
    const later = storiesOf(model, castOf(2));
    await notifyOnce(life, later, castOf(2));
    await setTimeout(REST_MS);
    stories.push(...later);
    life.kill();
    const { errors } = await life.gone;
    const missing = stories.find(({ seen }) => seen[0]?.answer === undefined);
    if (missing) throw new Error(`without any crash, ${missing.message.entryPoint} was not answered: ${missing.seen[0]?.problem} ${errors}`);
    return { first: linesOf(place.points(1)), later: linesOf(place.points(2)) };
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
  const isReached = await endsOf(life, stories);
  life.kill();
  await wasKilled(life);
  return isReached;
};

/** Whether the life ends while it is told the stories. */
const endsOf = async (life: Life, stories: readonly Story[], cast?: Cast): Promise<boolean> => {
  await Promise.race([notifyOnce(life, stories, cast), life.gone]);
  return until(() => life.isOver(), LAST_POINT_MS);
};

const wasKilled = async (life: Life): Promise<void> => {
  const { signal, code, errors } = await life.gone;
  if (signal !== 'SIGKILL') throw new Error(`the daemon ended by itself with code ${code}: ${errors}`);
};

/** The last life. */
const liveAgain = async (place: Place, number: number, stories: readonly Story[]): Promise<Account> => {
  const life = beginLife(place, number);
  try {
    return await takeUp(place, life, stories);
  } finally {
    life.kill();
    await life.gone;
  }
};

/** Everything is sent again, everything ends, every session answers; then the books are read. */
const takeUp = async (place: Place, life: Life, stories: readonly Story[], cast = FIRST, earlier: Story[] = []): Promise<Account> => {
  const url = await life.url;
  if (url === undefined) throw new Error(`the daemon did not start again: ${(await life.gone).errors}`);
  const agentId = await ensureAgent(url, cast.agent);
  await ensureAgent(url, cast.helper);
  for (const story of stories) {
    if (story.message.key === undefined) continue;
    story.seen.push(...(await Promise.all([send(url, agentId, story.message), send(url, agentId, story.message)])));
  }
  return closeBooks(place, url, agentId, stories, earlier);
};

/**
 * One life after another in one home: each takes up what the death before it has left, its books are read, and then it dies at
 * the next point, in a story of its own. So a death costs one start of a daemon. `next` gives the points; `report` is given of each
 * the problems that were not there before, or undefined when it was never reached.
 */
export const dieInTurn = async (model: PlannedModel, next: () => string | undefined, report: (point: string, problems: readonly string[] | undefined) => void): Promise<void> => {
  const place = await createPlace(model.url);
  const earlier: Story[] = [];
  const known = new Set<string>();
  let lives = 1;
  let life = beginLife(place, lives);
  try {
    for (let point = next(); point !== undefined; point = next()) {
      const last = await sendUntilDeath(model, place, life, point, earlier);
      if (last === undefined) {
        report(point, undefined);
        continue;
      }
      await wasKilled(life);
      lives += 1;
      life = beginLife(place, lives);
      const { problems } = await takeUp(place, life, last.stories, last.cast, earlier);
      report(
        point,
        problems.filter((problem) => !known.has(problem)),
      );
      for (const problem of problems) known.add(problem);
    }
  } finally {
    life.kill();
    await life.gone;
    place.clean();
  }
};

/** The stories in which it died; those that it survived are added to `earlier`. */
const sendUntilDeath = async (model: PlannedModel, place: Place, life: Life, killAt: string, earlier: Story[]): Promise<{ readonly stories: Story[]; readonly cast: Cast } | undefined> => {
  for (let tries = 0; tries < TRIES; tries++) {
    if ((await life.url) === undefined) throw new Error(`the daemon did not start: ${(await life.gone).errors}`);
    const cast = castOf(earlier.length);
    const stories = storiesOf(model, cast);
    await life.watch({ file: place.points(0), killAt });
    if (await endsOf(life, stories, cast)) return { stories, cast };
    earlier.push(...stories);
  }
  return undefined;
};

/** Waits until nothing runs, asks each session once more, and counts. All that was ever said there is counted; `earlier` is given what this adds to it. */
export const closeBooks = async (place: Place, url: string, agentId: string, stories: readonly Story[], earlier: Story[] = []): Promise<Account> => {
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
  earlier.push(...stories, ...last);
  const account = settle(earlier, await readLedger(place.database), readEffects(place.effects));
  account.acknowledged = stories.filter(({ seen }) => seen.some(({ acknowledged }) => acknowledged)).length;
  account.stuck += before.stuck;
  account.problems.push(...before.problems);
  return account;
};

/** Sends the messages one after another, as far as the daemon lives; what has no key is not sent again once it is acknowledged. */
const notifyOnce = async (life: Life, stories: readonly Story[], { agent, helper } = FIRST): Promise<void> => {
  const url = await life.url;
  if (url === undefined) return;
  // It may die before there is an agent: nobody has been told anything then.
  const agentId = await ensureAgent(url, agent)
    .then(async (id) => {
      await ensureAgent(url, helper);
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

const storiesOf = (model: PlannedModel, { helper } = FIRST): Story[] => {
  const write: PlannedCall = { name: 'file_write', args: { path: 'notes.txt', content: 'counted' } };
  const shell: PlannedCall = { name: 'shell_exec', args: { command: 'echo counted' } };
  const page: PlannedCall = { name: 'web_fetch', args: { url: `${model.url}/v1/models` } };
  const ask: PlannedCall = { name: 'agent_send', args: { agent_id: helper, message: planText({ mark: `helped-${randomUUID()}`, rounds: [[count('never')]] }) } };
  return [
    storyOf('rest', randomUUID(), [[count('never'), count('keyed', 4), count('safe'), count('safe', 2), count('never')], [write]]),
    storyOf('sse', randomUUID(), [[count('never')], [shell, count('never')]]),
    storyOf('ws', randomUUID(), [[...pairOf('keyed', 'keyed'), count('safe', 20)], [count('never')]]),
    storyOf('openai', undefined, [[count('never'), page], [ask]]),
  ];
};

/** A counted call under a mark of its own. */
export const count = (replay: 'never' | 'keyed' | 'safe', pauseMs?: number, pair?: string): PlannedCall => ({
  name: `count_${replay}`,
  args: { mark: `${replay}-${randomUUID()}`, ...(pauseMs === undefined ? {} : { pause_ms: pauseMs }), ...(pair === undefined ? {} : { pair }) },
});

type Parallel = 'keyed' | 'safe';
/** Two that end together: one commit has both results. */
export const pairOf = (one: Parallel, other: Parallel, pair: string = randomUUID()): PlannedCall[] => [count(one, undefined, pair), count(other, undefined, pair)];

/** A message with a plan of its own; every channel but the socket takes a key. */
export const storyOf = (entryPoint: EntryPoint, sessionId: string | undefined, rounds: Plan['rounds']): Story => {
  const plan: Plan = { mark: `${entryPoint}-${randomUUID()}`, rounds };
  const message: Message = { entryPoint, text: planText(plan), ...(sessionId === undefined ? {} : { sessionId }), ...(entryPoint === 'ws' ? {} : { key: `key-${plan.mark}` }) };
  return { message, plan, seen: [] };
};
