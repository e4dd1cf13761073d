/** Prompt versions and experiments on the page, and the hooks of a run on the page of the run. */
import { writeFile } from 'node:fs/promises';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { expect } from 'chai';

describe('prompts on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  let versions: string[];
  let experiment: string;
  let run: string;
  after(stopModelKernels);
  before(async () => {
    world = await bootWithModel({ text: 'Fine.' }, { config: `${OPEN_RATE}[prompt_intelligence]\nenabled = true\n[context_engine]\nplugin = "clock"\n` });
    await world.http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'clock', runtime: 'bash' });
    await writeFile(`${world.kernel.home}/plugins/clock/plugin.toml`, 'name = "clock"\n[hooks]\nruntime = "bash"\ningest = "hooks/ingest.sh"\n');
    const agent = world.agent.id;
    const save = async (system_prompt: string): Promise<string> => (await world.http.expect(200, 'POST', `/agents/${agent}/prompts/versions`, { system_prompt })).body.id;
    versions = [await save('You are calm.\nBe brief.'), await save('You are calm.\nBe long.')];
    const variants = versions.map((prompt_version_id, at) => ({ name: `arm ${at + 1}`, prompt_version_id }));
    experiment = (await world.http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, { name: 'length', variants, traffic_split: [0, 100] })).body.id;
    await world.http.expect(200, 'POST', `/prompts/experiments/${experiment}/start`);
    for (let at = 0; at < 31; at += 1) run = (await world.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: `Hello ${at}.` })).body.run_id;
    await until(async () => (await world.http.expect(200, 'GET', `/prompts/experiments/${experiment}/metrics`)).body.metrics[1].impressions === 31);
  });

  it('a version is shown with what differs from another', async () => {
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/prompts/${versions[1]}`);
    const difference = page.getByRole('region', { name: /What differs from version/ });
    await difference.getByText('Be long.').waitFor();
    await difference.getByText('Be brief.').waitFor();
    await expectWellMade(page, 'a version of a prompt');
    expect(mistakes).to.deep.equal([]);
  });

  it('an experiment is shown with its arms, their intervals and their course', async () => {
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/experiments/${experiment}`);
    await page.getByRole('cell', { name: '89 % – 100 %' }).waitFor();
    await page.getByText('Share of wins of arm 2, all runs so far').first().waitFor();
    await expectWellMade(page, 'an experiment');
    expect(mistakes).to.deep.equal([]);
  });

  it('a run names the hooks that ran in it', async () => {
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/runs/${run}`);
    await page.getByRole('link', { name: 'clock ingest' }).waitFor();
    expect(mistakes).to.deep.equal([]);
  });
});
