/** What waits, as a person sees and decides it in a browser as wide as a phone. */
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { expect } from 'chai';

describe('approvals on the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  after(stopModelKernels);
  before(async () => {
    world = await bootWithModel(undefined, { config: `${OPEN_RATE}[approval]\nrequire_approval = ["file_write"]\n` });
  });

  /** Without a browser each is skipped before it leaves a call that waits. */
  const ask = async (path: string): Promise<string> => {
    world.model.script([{ toolCalls: [{ name: 'file_write', args: { path, content: 'a line of text\n' } }] }, { text: `wrote ${path}` }]);
    return (await world.http.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: 'write it' })).body.waiting.approval_id;
  };
  const statusOf = async (id: string): Promise<string> => (await world.http.expect(200, 'GET', `/api/approvals/${id}`)).body.status;

  it('are shown with the change of the file, and approved in the conversation that waits', async () => {
    chromium.browser();
    const id = await ask('chat.txt');
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/chat/${world.agent.id}`);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText('+a line of text').waitFor();
    await page.getByText(/ wants to create chat\.txt, 1 line$/).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('wrote chat.txt').first().waitFor();
    expect(await statusOf(id)).to.equal('approved');
    expect(mistakes).to.deep.equal([]);
  });

  it('show all of a call that is too long for its preview', async () => {
    chromium.browser();
    const last = 'the very last line';
    world.model.script([{ toolCalls: [{ name: 'file_write', args: { path: 'long.txt', content: `${'some words of it\n'.repeat(3_000)}${last}\n` } }] }, { text: 'wrote it' }]);
    const id = (await world.http.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: 'write it' })).body.waiting.approval_id;
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/approvals`);
    const card = page.getByRole('article', { name: /wants to create long\.txt, 3,?001 lines/ });
    await card.getByText('Show everything').click();
    await card.getByText(last).waitFor();
    await world.http.expect(200, 'POST', `/api/approvals/${id}/reject`, {});
    expect(mistakes).to.deep.equal([]);
  });

  it('are turned on by the owner, who is asked first', async () => {
    chromium.browser();
    const open = await bootWithModel(undefined, { config: OPEN_RATE });
    const { page, mistakes } = await chromium.open(`${open.kernel.url}/#/approvals`);
    await page.getByRole('button', { name: 'Ask me first' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('To turn this off again').waitFor();
    expect((await open.http.expect(200, 'GET', '/api/approvals')).body.asking).to.equal(false);
    await dialog.getByRole('button', { name: 'Ask me first' }).click();
    await page.getByText('Agents run commands and change files without asking you.').waitFor({ state: 'detached' });
    expect((await open.http.expect(200, 'GET', '/api/approvals')).body.asking).to.equal(true);
    expect(mistakes).to.deep.equal([]);
  });

  it('are rejected in the panel with a reason, and listed with who decided', async () => {
    chromium.browser();
    const id = await ask('panel.txt');
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/approvals`);
    await page.setViewportSize({ width: 360, height: 740 });
    const card = page.getByRole('article', { name: /wants to create panel\.txt, 1 line/ });
    await card.getByText('panel.txt', { exact: true }).waitFor();
    await expectWellMade(page, 'approvals');
    await card.getByLabel(/Reason/).fill('Not now.');
    await card.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Nothing to approve').waitFor();
    expect((await world.http.expect(200, 'GET', `/api/approvals/${id}`)).body).to.include({ status: 'rejected', feedback: 'Not now.' });
    expect(mistakes).to.deep.equal([]);
  });
});
