/** What agents propose, on the page: read, approved and rejected. */
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

describe('the page of proposed skills', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  before(async () => {
    world = await bootWithModel(undefined, { config: `lazy_tools_above = 500\n${OPEN_RATE}` });
    const agent = (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'learner', capabilities: { skills_propose: true } } })).body.agent_id;
    await world.http.expect(200, 'POST', '/api/skills/create', { name: 'greeting', description: 'Says how to greet.', prompt_context: 'Say ahoy.' });
    for (const [name, args] of [
      ['skill_evolve_patch', { skill: 'greeting', old_string: 'ahoy', new_string: 'hello', changelog: 'Friendlier on land.' }],
      ['skill_evolve_create', { name: 'farewell', description: 'Says how to part.', prompt_context: 'Say goodbye.', changelog: 'For the end of a letter.' }],
    ] as const) {
      world.model.beginAnew([{ toolCalls: [{ name, args }] }, { text: 'done' }]);
      await world.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'learn' });
    }
    expect((await pending()).length).to.equal(2);
  });
  after(stopModelKernels);
  const pending = async () => (await world.http.expect(200, 'GET', '/api/skills/pending')).body.candidates;

  it('shows each with its change; approved it takes effect, rejected it does not', async () => {
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/skill-proposals`);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('greeting').getByText('Friendlier on land.').waitFor();
    await row('greeting').getByText('+Say hello.').first().waitFor();
    await expectWellMade(page, 'the page of proposed skills');
    for (const [name, verb] of [
      ['greeting', 'Approve'],
      ['farewell', 'Reject'],
    ] as const) {
      await page.getByRole('button', { name: `${verb} ${name}` }).click();
      await row(name).waitFor({ state: 'detached' });
    }
    await until(async () => (await pending()).length === 0);
    expect((await world.http.expect(200, 'GET', '/api/skills/greeting')).body.prompt_context).to.equal('Say hello.');
    await world.http.expect(404, 'GET', '/api/skills/farewell');
    expect(mistakes).to.deep.equal([]);
  });
});
