/** A client whose daemon dies between the calls of its tools and their results. */
import { expect } from 'chai';
import { httpOf, beginLife, createPlace, endLives, type Life, type Place } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { answerTo, planText, type PlannedModel, startPlannedModel } from './planned-model.js';

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const QUESTION = { role: 'user', content: planText({ mark: 'looked', rounds: [[{ name: 'look', args: {} }]] }) };

describe('a client that runs tools, and whose daemon is killed before it has their results', () => {
  let model: PlannedModel;
  let place: Place;
  let asked = 0;

  before(async () => {
    model = await startPlannedModel();
    place = await createPlace(model.url);
    model.onRequest(() => {
      asked += 1;
      return undefined;
    });
  });
  after(async () => {
    await endLives();
    place.clean();
    await model.close();
  });

  const begin = async (number: number): Promise<{ life: Life; post: (messages: readonly object[]) => ReturnType<ReturnType<typeof httpOf>['post']> }> => {
    const life = beginLife(place, number);
    const url = await life.url;
    if (url === undefined) throw new Error((await life.gone).errors);
    const agent = await ensureAgent(url);
    return { life, post: (messages) => httpOf(url).post('/v1/chat/completions', { model: agent, messages, tools: [TOOL] }) };
  };

  it('is answered by the next one, in the same run, once', async () => {
    const first = await begin(1);
    const called = await first.post([QUESTION]);
    const { message, finish_reason: reason } = called.body.choices[0];
    expect(reason).to.equal('tool_calls');
    first.life.kill();
    await first.life.gone;

    const second = await begin(2);
    const messages = [QUESTION, message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'seen' }];
    for (const { body, headers } of await Promise.all([second.post(messages), second.post(messages)])) {
      expect(body.choices[0].message.content).to.equal(answerTo('looked'));
      expect(headers.get('x-svc-run')).to.equal(called.headers.get('x-svc-run'));
    }
    expect([asked, model.faults]).to.deep.equal([2, []]);
  });
});
