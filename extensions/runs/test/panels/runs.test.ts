/** The panel of runs, used as a person uses it, with a model that answers what was said. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, modelConfig, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { configure, logInAs, person } from '@svc/test/page/callers';
import { OPEN_RATE } from '@svc/testing';

/** `fail` fails, `hang` goes on for ever, `tool` writes a note first. */
const script: Script = ({ body }) => {
  const said = JSON.stringify(body.messages.findLast(({ role }: { role: string }) => role === 'user').content).match(/(\w+)\W*$/)?.[1];
  if (said === 'fail') return { status: 400, message: 'this is refused' };
  if (said === 'hang') return { hang: true };
  if (said === 'tool' && body.messages.at(-1).role !== 'tool')
    return { text: 'I note that.', toolCalls: [{ id: 'call_1', name: 'file_write', args: { path: 'notes.txt', content: 'hello <b>there</b>' } }], usage: { input: 900, output: 40 } };
  return { text: 'ok', usage: { input: 1_000, output: 5 } };
};

describe('the panel of runs', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  /** Only the first claim finds no runs at all. */
  let svc: ModelKernel;
  /** Each claim has one of its own. */
  let agent: { readonly id: string; readonly session_id: string };
  before(async () => {
    svc = await bootWithModel(script);
  });
  beforeEach(async () => {
    agent = await made('assistant');
  });
  after(stopModelKernels);

  let count = 0;
  const made = async (name: string): Promise<typeof agent> => {
    const { agent_id: id } = (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: `${name}-${++count}` } })).body;
    return (await svc.http.expect(200, 'GET', `/api/agents/${id}`)).body;
  };
  const say = (message: string, more: object = {}) => svc.http.post(`/api/agents/${agent.id}/message`, { message, ...more });
  const at = (place = ''): string => `${svc.kernel.url}/#/runs${place}`;
  const newest = async () => (await svc.http.expect(200, 'GET', '/api/runs?limit=1')).body.runs[0];
  const rows = (page: Page) => page.getByRole('region', { name: 'Runs, newest first' }).getByRole('row');

  it('lists what was done, and narrows it by what stands in the address', async () => {
    const { page, mistakes } = await chromium.open(at());
    await page.getByText('No runs yet').waitFor();
    await expectWellMade(page, 'no runs');
    await say('hello');
    await say('fail');
    await rows(page).nth(2).waitFor();
    await rows(page).nth(1).getByText('failed', { exact: true }).waitFor();
    await rows(page).nth(2).getByText('done', { exact: true }).waitFor();
    await expectWellMade(page, 'runs');
    await page.getByLabel('State').selectOption('failed');
    await rows(page).nth(2).waitFor({ state: 'detached' });
    expect(page.url()).to.contain('state=failed');
    await page.reload();
    await rows(page).nth(1).getByText('failed', { exact: true }).waitFor();
    expect(await rows(page).count()).to.equal(2);
    await page.getByLabel('State').selectOption('waiting');
    await page.getByText('No matching runs').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Started', { exact: true }).selectOption('1h');
    await page.getByLabel('Agent', { exact: true }).selectOption(agent.id);
    await rows(page).nth(2).waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('shows one with its steps as bars of time, tokens and money, what its tools were asked, and its conversation', async () => {
    await say('tool');
    const run = await newest();
    const { page } = await chromium.open(at());
    await rows(page).nth(1).getByRole('link').click();
    const timeline = page.getByRole('list', { name: 'Timeline' });
    await timeline.getByText('openai/gpt-4o').first().waitFor();
    await timeline.getByText('file_write').click();
    await timeline.getByText('"content": "hello <b>there</b>"', { exact: false }).waitFor();
    await timeline.getByText('I note that.').waitFor();
    await expectWellMade(page, 'a run');
    await page.getByLabel('Show', { exact: true }).selectOption('tokens');
    await timeline.getByText('1,005').waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption('money');
    expect(page.url()).to.contain(run.run_id).and.contain('by=money');
    await expectWellMade(page, 'a run by what it cost');
    const table = page.getByRole('region', { name: 'Steps as a table' });
    expect(await table.getByRole('row').count()).to.equal(4);
    await table.getByRole('button', { name: 'Input tokens' }).click();
    await page.getByRole('link', { name: 'Open conversation' }).click();
    await page.getByText('ok', { exact: true }).waitFor();
    expect(page.url()).to.contain(`#/chat/${agent.id}/${agent.session_id}`);
  });

  it('says why one failed and what to do about that', async () => {
    await say('fail');
    const { error, run_id } = await newest();
    const { page } = await chromium.open(at(`/${run_id}`));
    await page.getByRole('heading', { name: 'Error' }).waitFor();
    for (const text of [error.message, error.hint, error.code]) await page.getByText(text, { exact: true }).first().waitFor();
    await expectWellMade(page, 'a run that failed');
  });

  it('follows one that goes on, and stops it when that is confirmed', async () => {
    const { page } = await chromium.open(at(`?agent=${agent.id}`));
    await page.getByText('No matching runs').waitFor();
    const before = svc.model.requests.length;
    const going = say('hang');
    await until(() => svc.model.requests.length === before + 1);
    await rows(page).nth(1).getByText('running', { exact: true }).waitFor();
    await rows(page).nth(1).getByRole('link').click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog').getByText('This stops assistant', { exact: false }).waitFor();
    await expectWellMade(page, 'a run that goes on');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Run stopped.').waitFor();
    await going;
    await page.getByText('stopped', { exact: true }).first().waitFor();
    expect(await newest()).to.include({ status: 'cancelled' });
    expect(await page.getByRole('button', { name: 'Stop' }).count()).to.equal(0);
  });

  it('goes back as far as one likes', async () => {
    await Promise.all(Array.from({ length: 53 }, () => say('hello', { incognito: true })));
    const { page } = await chromium.open(at(`?agent=${agent.id}`));
    await page.getByRole('button', { name: 'Show older runs' }).click();
    await rows(page).nth(53).waitFor();
    expect(await page.getByRole('button', { name: 'Show older runs' }).count()).to.equal(0);
  });

  it('lets a viewer see theirs and stop none', async () => {
    await say('hello');
    const { run_id: theirs } = await newest();
    await configure(svc.kernel, OPEN_RATE + person('vera', 'viewer') + modelConfig(svc.model.url));
    try {
      const { page } = await chromium.open(at());
      await logInAs(page, 'vera');
      await page.getByText('No runs yet').waitFor();
      await page.goto(at(`/${theirs}`));
      await page.getByRole('alert').getByText(/run/).waitFor();
      await expectWellMade(page, 'a run of somebody else');
    } finally {
      await configure(svc.kernel, OPEN_RATE + modelConfig(svc.model.url));
    }
  });

  it('shows what models and people write as the text that it is', async () => {
    agent = await made(`x-${'w'.repeat(60)}`);
    expect((await say('tool')).status).to.equal(200);
    const { page } = await chromium.open(at(`/${(await newest()).run_id}`));
    await page.getByRole('list', { name: 'Timeline' }).getByText('file_write').click();
    await page.getByText('hello <b>there</b>', { exact: false }).first().waitFor();
    expect(await page.locator('b').count()).to.equal(0);
    await expectWellMade(page, 'long names');
  });
});
