/**
 * The story that every crash point is put to: four messages by four doors, whose answers need tools of every kind.
 * The daemon dies once on the way; its second life is sent the same messages under the same keys, each twice at once.
 */
import { randomUUID } from 'node:crypto';
import { type Account, type Story, emptyAccount, settle } from './account.js';
import { linesOf, readEffects } from './countable-tools.js';
import { type Life, type Place, beginLife, createPlace, until } from './daemon-life.js';
import { type ClientDoor, type Message, ensureAgent, send } from './doors.js';
import { readLedger, unfinishedRuns } from './ledger.js';
import { answerTo, type Plan, type PlannedCall, type PlannedModel, planText } from './planned-model.js';

const SETTLED_MS = 30_000;

export interface Death {
  /** The point it died at; undefined when it was never reached. */
  readonly point: string | undefined;
  readonly account: Account;
}

/** All points that the story reaches when nothing goes wrong, in order. */
export const enumeratePoints = async (model: PlannedModel): Promise<string[]> => {
  const place = createPlace(model.url);
  try {
    const life = beginLife(place, 1);
    const stories = storiesOf();
    await tellOnce(life, stories);
    life.kill();
    await life.gone;
    const missing = stories.find(({ seen }) => seen[0]?.answer === undefined);
    if (missing) throw new Error(`without any crash, ${missing.message.door} was not answered: ${missing.seen[0]?.problem}`);
    return linesOf(place.points(1));
  } finally {
    place.clean();
  }
};

/** Dies at point number `crashAt`, lives again, and counts. */
export const dieAndReturn = async (model: PlannedModel, crashAt: number): Promise<Death> => {
  const place = createPlace(model.url);
  try {
    const stories = storiesOf();
    const first = beginLife(place, 1, crashAt);
    await Promise.race([tellOnce(first, stories), first.gone]);
    // A point after the last answer (the end of a body) may be a moment away.
    await until(() => first.isOver(), 1_000);
    const isReached = first.isOver();
    first.kill();
    const { signal, code, errors } = await first.gone;
    if (signal !== 'SIGKILL') throw new Error(`the daemon ended by itself with code ${code}: ${errors}`);
    const point = isReached ? linesOf(place.points(1)).at(-1) : undefined;
    return { point, account: await liveAgain(place, stories) };
  } finally {
    place.clean();
  }
};

/** The second life: everything is sent again, everything ends, every session answers; then the books are read. */
const liveAgain = async (place: Place, stories: Story[]): Promise<Account> => {
  const life = beginLife(place, 2);
  const url = await life.url;
  if (url === undefined) throw new Error(`the daemon did not start again: ${(await life.gone).errors}`);
  try {
    const agentId = await ensureAgent(url);
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
export const closeBooks = async (place: Place, url: string, agentId: string, stories: Story[]): Promise<Account> => {
  const stuck = emptyAccount();
  const isSettled = await until(async () => (await unfinishedRuns(place.database)) === 0, SETTLED_MS);
  if (!isSettled) stuck.problems.push('not every run came to its end');
  for (const sessionId of new Set(stories.map(({ message }) => message.sessionId))) {
    const next = storyOf('rest', sessionId, []);
    next.seen.push(await send(url, agentId, next.message));
    stories.push(next);
    if (next.seen[0]?.answer === answerTo(next.plan.mark)) continue;
    stuck.stuck += 1;
    stuck.problems.push(`stuck: session ${sessionId} does not answer the next message: ${next.seen[0]?.problem ?? next.seen[0]?.answer}`);
  }
  const account = settle(stories, await readLedger(place.database), readEffects(place.effects));
  account.stuck += stuck.stuck;
  account.problems.push(...stuck.problems);
  return account;
};

/** Sends the messages one after another, each once, as far as the daemon lives. */
const tellOnce = async (life: Life, stories: readonly Story[]): Promise<void> => {
  const url = await life.url;
  if (url === undefined) return;
  const agentId = await ensureAgent(url).catch(() => undefined);
  if (agentId === undefined) return;
  for (const story of stories) {
    if (life.isOver()) return;
    story.seen.push(await send(url, agentId, story.message));
  }
};

const storiesOf = (): Story[] => {
  const never = (mark: string): PlannedCall => ({ name: 'count_never', args: { mark: `${mark}-${randomUUID()}` } });
  const keyed = (mark: string): PlannedCall => ({ name: 'count_keyed', args: { mark: `${mark}-${randomUUID()}` } });
  const safe: PlannedCall = { name: 'count_safe', args: { mark: 'safe' } };
  const write: PlannedCall = { name: 'file_write', args: { path: 'notes.txt', content: 'counted' } };
  const shell: PlannedCall = { name: 'shell_exec', args: { command: 'echo counted' } };
  return [
    storyOf('rest', randomUUID(), [[never('a'), keyed('b'), safe, never('c')], [write]]),
    storyOf('sse', randomUUID(), [[never('d')], [shell, never('e')]]),
    storyOf('ws', randomUUID(), [[keyed('f'), keyed('g')], [never('h')]]),
    storyOf('openai', undefined, [[never('i'), { name: 'web_fetch', args: { url: 'http://127.0.0.1:9/' } }]]),
  ];
};

/** A message with a plan of its own; every door but the socket takes a key. */
export const storyOf = (door: ClientDoor, sessionId: string | undefined, rounds: Plan['rounds']): Story => {
  const plan: Plan = { mark: `${door}-${randomUUID()}`, rounds };
  const message: Message = { door, text: planText(plan), ...(sessionId === undefined ? {} : { sessionId }), ...(door === 'ws' ? {} : { key: `key-${plan.mark}` }) };
  return { message, plan, seen: [] };
};
