/** The bin, used as a person uses it; what it did is seen at the API. */
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';

describe('the bin on the page', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let agent: string;
  before(async () => {
    kernel = await bootTestKernel();
    agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  });
  after(stopTestKernels);

  const said = async (message: string): Promise<string> => {
    const { session_id } = (await kernel.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body;
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message, session_id });
    return session_id;
  };
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
  const rows = async (path: string): Promise<unknown[]> => {
    const { body } = await kernel.http.expect(200, 'GET', path);
    return body.sessions ?? body.agents ?? body.rows;
  };

  it('restores a conversation, an agent and a file, also beside one of its name, and deletes several for good', async () => {
    const [kept, ...others] = [await said('what is the time'), await said('a second one'), await said('a third one')];
    for (const id of [kept, ...others]) await kernel.http.expect(200, 'DELETE', `/api/sessions/${id}`);
    const { agent_id: owl } = (await kernel.http.expect(201, 'POST', '/api/agents', { name: 'owl' })).body;
    await kernel.http.expect(200, 'DELETE', `/api/agents/${owl}`);
    for (const content of ['first', 'second']) {
      await kernel.http.expect(200, 'PUT', `/api/agents/${agent}/files/plan.md`, { content });
      if (content === 'first') await kernel.http.expect(200, 'DELETE', `/api/agents/${agent}/files/plan.md`);
    }

    const { page } = await chromium.open(`${kernel.url}/#/bin`);
    await row(page, 'what is the time').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('what is the time is back.').waitFor();
    await kernel.http.expect(200, 'GET', `/api/sessions/${kept}`);
    await row(page, 'a third one').waitFor();
    await expectWellMade(page, 'bin');
    for (const name of ['a second one', 'a third one']) await page.getByLabel(name).check();
    await page.getByRole('button', { name: 'Delete 2', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
    expect(await rows('/api/sessions?deleted=only')).to.deep.equal([]);
    for (const id of others) expect((await kernel.http.get(`/api/sessions/${id}`)).status).to.equal(404);

    await page.getByRole('tab', { name: 'Agents' }).click();
    await row(page, 'owl').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('owl is back.').waitFor();
    await kernel.http.expect(200, 'GET', `/api/agents/${owl}`);

    await page.getByRole('tab', { name: 'Files' }).click();
    await row(page, 'plan.md').getByRole('button', { name: 'Restore' }).click();
    const dialog = page.getByRole('dialog', { name: 'plan.md exists already' });
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('plan-restored.md is back.').waitFor();
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agent}/files/plan-restored.md`)).body.content).to.equal('first');
    expect(await rows('/api/uploads?deleted=only')).to.deep.equal([]);
  });

  it('speaks Chinese', async () => {
    await kernel.http.expect(200, 'DELETE', `/api/sessions/${await said('noch eins')}`);
    const { page } = await chromium.open(`${kernel.url}/#/bin`, { locale: 'zh-CN' });
    await row(page, 'noch eins').getByRole('button', { name: '恢复' }).waitFor();
    await page.getByRole('heading', { level: 1, name: '回收站' }).waitFor();
  });
});
