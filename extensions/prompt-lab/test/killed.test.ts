/** The daemon is killed between drawing the arm of a session and answering. */
import { beginLife, createPlace, endLives, httpOf, type Place, until } from '@svc/test/crash/daemon-life';
import { ensureAgent } from '@svc/test/crash/entry-points';
import { answerTo, type PlannedModel, planText, startPlannedModel } from '@svc/test/crash/planned-model';
import { expect } from 'chai';

const NEVER_MS = 60_000;
const PROMPTS = ['You are arm one.', 'You are arm two.'];

describe('an experiment in a daemon that is killed', function () {
  this.timeout(120_000);
  let model: PlannedModel;
  let place: Place;
  before(async () => {
    model = await startPlannedModel();
    place = await createPlace(model.url, '[prompt_intelligence]\nenabled = true\n');
  });
  afterEach(endLives);
  after(async () => {
    await model.close();
    place.clean();
  });

  it('P1 P2 keeps the arm that was drawn, and counts the run once', async () => {
    const first = beginLife(place, 1);
    const url = (await first.url) ?? '';
    const agent = await ensureAgent(url);
    const versions = await Promise.all(PROMPTS.map(async (system_prompt) => (await httpOf(url).expect(200, 'POST', `/agents/${agent}/prompts/versions`, { system_prompt })).body.id));
    const variants = versions.map((prompt_version_id, at) => ({ name: `arm ${at + 1}`, prompt_version_id }));
    const { id } = (await httpOf(url).expect(200, 'POST', `/agents/${agent}/prompts/experiments`, { name: 'killed', variants, traffic_split: [50, 50] })).body;
    await httpOf(url).expect(200, 'POST', `/prompts/experiments/${id}/start`);

    const seen: string[] = [];
    let waitMs = NEVER_MS;
    model.onRequest(({ body }) => {
      const text = JSON.stringify(body.messages);
      const arm = PROMPTS.find((prompt) => text.includes(prompt));
      if (arm === undefined) return undefined;
      seen.push(arm);
      return { eventDelayMs: waitMs };
    });
    const send = (base: string) => httpOf(base).post(`/api/agents/${agent}/message`, { message: planText({ mark: 'killed', rounds: [] }) }, { 'idempotency-key': 'killed-between' });
    const cut = send(url).catch(() => undefined);
    await until(() => seen.length > 0, NEVER_MS);
    first.kill();
    await Promise.all([first.gone, cut]);

    waitMs = 0;
    const second = beginLife(place, 2);
    const again = (await second.url) ?? '';
    const { body } = await send(again);
    expect(body.response).to.equal(answerTo('killed'));
    expect(seen.length).to.be.greaterThan(1);
    expect(new Set(seen).size, 'one arm in both lives').to.equal(1);
    const metrics = async () => (await httpOf(again).expect(200, 'GET', `/prompts/experiments/${id}/metrics`)).body.metrics;
    await until(async () => (await metrics()).some(({ impressions }: { impressions: number }) => impressions > 0), NEVER_MS);
    expect((await metrics()).map(({ impressions }: { impressions: number }) => impressions)).to.deep.equal(PROMPTS.map((prompt) => (prompt === seen[0] ? 1 : 0)));
  });
});
