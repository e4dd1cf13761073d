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

  const ask = async (path: string): Promise<string> => {
    world.model.script([{ toolCalls: [{ name: 'file_write', args: { path, content: 'a line of text\n' } }] }, { text: `wrote ${path}` }]);
    return (await world.http.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: 'write it' })).body.waiting.approval_id;
  };
  const statusOf = async (id: string): Promise<string> => (await world.http.expect(200, 'GET', `/api/approvals/${id}`)).body.status;

  it('are shown with the change of the file, and approved in the conversation that waits', async () => {
    const id = await ask('chat.txt');
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/chat/${world.agent.id}`);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText('+a line of text').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('wrote chat.txt').first().waitFor();
    expect(await statusOf(id)).to.equal('approved');
    expect(mistakes).to.deep.equal([]);
  });

  it('are rejected in the panel with a reason, and listed with who decided', async () => {
    const id = await ask('panel.txt');
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/approvals`);
    await page.setViewportSize({ width: 360, height: 740 });
    const card = page.getByRole('article', { name: /wants to use file_write/ });
    await card.getByText('panel.txt').waitFor();
    await expectWellMade(page, 'approvals');
    await card.getByLabel(/Reason/).fill('Not now.');
    await card.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Nothing to approve').waitFor();
    expect((await world.http.expect(200, 'GET', `/api/approvals/${id}`)).body).to.include({ status: 'rejected', feedback: 'Not now.' });
    expect(mistakes).to.deep.equal([]);
  });
});
