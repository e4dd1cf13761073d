/** The way back from a call that changed files, in the conversation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { useBrowser } from '@svc/test/page/browser';
import { expect } from 'chai';

describe('a call that changed files', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  after(stopModelKernels);
  before(async () => {
    world = await bootWithModel(undefined, { config: OPEN_RATE });
  });

  const run = async (command: string): Promise<void> => {
    await world.http.expect(200, 'PUT', `/api/agents/${world.agent.id}/update`, { capabilities: { shell: ['cp *'] } });
    world.model.script([{ toolCalls: [{ id: 'call-command', name: 'shell_exec', args: { command } }] }, { text: 'ran it' }]);
    await world.http.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: 'run it' });
  };
  const write = async (id: string, path: string, content: string): Promise<void> => {
    world.model.script([{ toolCalls: [{ id, name: 'file_write', args: { path, content } }] }, { text: `wrote ${path}` }]);
    await world.http.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: `write ${content.trim()}` });
  };

  it('is undone by its checkpoint, with the files named that come back and those that stay', async () => {
    await write('call-first', 'kept.txt', 'one\n');
    await write('call-second', 'kept.txt', 'two\n');
    await write('call-third', 'later.txt', 'three\n');
    await run('cp later.txt made-by-a-command.txt');
    const { folder } = await workingFolder();
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/#/chat/${world.agent.id}`);
    const calls = page.locator('details.fold', { hasText: 'File write' });
    await calls.nth(1).locator('summary').click();
    await calls.nth(1).getByRole('button', { name: 'Undo' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('were before the call, without what was changed since: kept.txt. Files that were created later stay: later.txt, made-by-a-command.txt.').waitFor();
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Files restored: 1.').waitFor();
    expect(await readFile(join(folder, 'kept.txt'), 'utf8')).to.equal('one\n');
    expect(await readFile(join(folder, 'later.txt'), 'utf8')).to.equal('three\n');
    expect(mistakes).to.deep.equal([]);
  });

  const workingFolder = async (): Promise<{ folder: string }> => ({ folder: (await world.http.expect(200, 'GET', `/api/checkpoints?agent_id=${world.agent.id}`)).body.working_dir });
});
