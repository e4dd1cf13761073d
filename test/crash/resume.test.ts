/** A client that comes back after the daemon died: what it had stays, what it missed comes, the open step comes anew. */
import { randomUUID } from 'node:crypto';
import { type SseEvent, TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { type Life, type Place, beginLife, createPlace, endLives } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { answerTo, type PlannedModel, planText, startPlannedModel } from './planned-model.js';
import { count } from './scenario.js';

/** Long enough between two pieces of text for a kill to fall between them. */
const SLOW_MS = 250;

describe('a stream that the death of the daemon cut', () => {
  const mark = `resumed-${randomUUID()}`;
  const text = planText({ mark, rounds: [[count('safe')], [count('never')]] });
  const whole = ['round 0 ', 'use count_safe', 'result count_safe', 'round 1 ', 'use count_never', 'result count_never', answerTo(mark)];
  let model: PlannedModel;
  let place: Place;

  before(async () => {
    model = await startPlannedModel();
  });
  after(() => model.close());
  beforeEach(async () => {
    place = await createPlace(model.url);
  });
  afterEach(async () => {
    model.onRequest(undefined);
    await endLives();
    place.clean();
  });

  const begin = async (life: number): Promise<{ life: Life; http: TestHttp; path: string }> => {
    const begun = beginLife(place, life);
    const url = await begun.url;
    if (url === undefined) throw new Error((await begun.gone).errors);
    return { life: begun, http: new TestHttp(url), path: `/api/agents/${await ensureAgent(url)}/message/stream` };
  };

  /** Reads until `enough`, then the daemon is killed. Gives what had come by then. */
  const cutAt = async (enough: (event: SseEvent) => boolean): Promise<SseEvent[]> => {
    const { life, http, path } = await begin(1);
    const events = await http.events('POST', path, { message: text }, {}, enough);
    life.kill();
    await life.gone;
    return events;
  };

  const back = (http: TestHttp, path: string, seen: readonly SseEvent[]): Promise<SseEvent[]> => http.events('POST', path, { message: text }, { 'last-event-id': seen.at(-1)?.id ?? '' });

  it('goes on in the middle of an answer: the open step is voided and comes anew, nothing before it comes twice', async () => {
    model.onRequest((request) => (request.body.messages.length > 5 ? { eventDelayMs: SLOW_MS } : undefined));
    const seen = await cutAt((event) => event.data.content === 'answered ');
    model.onRequest(undefined);

    const { http, path } = await begin(2);
    const rest = await back(http, path, seen);

    expect(rest[0]?.data).to.include({ phase: 'restarted', attempt: 2 });
    expect(rest.filter((event) => event.data.phase === 'restarted')).to.have.length(1);
    expect(rest.filter((event) => event.event.startsWith('tool_'))).to.deep.equal([]);
    expect(received([...seen, ...rest])).to.deep.equal(whole);
    expect(rest.at(-1)?.event).to.equal('done');
  });

  it('gives a client that left early every step it missed, from wherever it left, as often as it asks', async () => {
    model.onRequest((request) => (request.body.messages.length > 5 ? { eventDelayMs: SLOW_MS } : undefined));
    const all = await cutAt((event) => event.data.content === 'answered ');
    model.onRequest(undefined);
    const { http, path } = await begin(2);

    for (let left = 1; left <= all.length; left++) {
      const seen = all.slice(0, left);
      const rest = await back(http, path, seen);
      expect(received([...seen, ...rest]), `after ${seen.at(-1)?.event} ${seen.at(-1)?.id}`).to.deep.equal(whole);
    }
  });

  it('can be cut again while it catches up', async () => {
    model.onRequest((request) => (request.body.messages.length > 5 ? { eventDelayMs: SLOW_MS } : undefined));
    const seen = (await cutAt((event) => event.data.content === 'answered ')).slice(0, 3);
    model.onRequest(undefined);
    const { http, path } = await begin(2);
    const rest = await back(http, path, seen);

    for (let left = 1; left < rest.length; left++) {
      const again = [...seen, ...rest.slice(0, left)];
      expect(received([...again, ...(await back(http, path, again))]), `after ${again.at(-1)?.event} ${again.at(-1)?.id}`).to.deep.equal(whole);
    }
  });

  it('tells the client, as it tells the model, that the outcome of a call is not known', async () => {
    const slow = planText({ mark, rounds: [[count('never', 60_000)]] });
    const { life, http, path } = await begin(1);
    const seen = await http.events('POST', path, { message: slow }, {}, (event) => event.event === 'tool_use');
    life.kill();
    await life.gone;

    const second = await begin(2);
    const rest = await back(second.http, second.path, seen);

    const result = rest.find((event) => event.event === 'tool_result');
    expect(result?.data.is_error).to.equal(true);
    expect(result?.data.result).to.contain('unknown whether it took effect');
    expect(rest.at(-1)?.event).to.equal('done');
  });
});

/** What a client shows: text joined, `restarted` voiding the text after the last tool frame, a call begun twice shown once. */
const received = (events: readonly SseEvent[]): string[] => {
  const shown: Array<{ kind: 'text' | 'use' | 'result'; words: string; id?: string }> = [];
  for (const { event, data } of events) {
    const last = shown.at(-1);
    if (event === 'phase' && data.phase === 'restarted' && last?.kind === 'text') shown.pop();
    if (event === 'chunk' && last?.kind === 'text') last.words += data.content;
    else if (event === 'chunk') shown.push({ kind: 'text', words: data.content });
    if (event === 'tool_use' && !shown.some((one) => one.kind === 'use' && one.id === data.id)) shown.push({ kind: 'use', words: `use ${data.tool}`, id: data.id });
    if (event === 'tool_result') shown.push({ kind: 'result', words: `result ${data.tool}` });
  }
  return shown.map(({ words }) => words);
};
