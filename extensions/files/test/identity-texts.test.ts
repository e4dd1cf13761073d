/** Files that say who an agent is: what of them its model reads, and who may write them. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ModelKernel, bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

describe('an identity file', () => {
  afterEach(stopModelKernels);

  const folder = (one: ModelKernel, ...path: string[]): string => join(one.kernel.home, 'workspaces', one.agent.id, ...path);
  const put = (one: ModelKernel, name: string, content: string) => one.http.expect(200, 'PUT', `/api/agents/${one.agent.id}/files/${name}`, { content });
  const say = (one: ModelKernel, message: string) => one.http.expect(200, 'POST', `/api/agents/${one.agent.id}/message`, { message });
  const systemOf = async (one: ModelKernel): Promise<string> => {
    await say(one, 'hello');
    const [first] = one.model.requests.at(-1)?.body.messages ?? [];
    return first.role === 'system' ? first.content : '';
  };

  it('I1 is read by the model with the next message, after the system prompt, and no more once it is gone', async () => {
    const one = await bootWithModel(() => ({ text: 'yes' }));
    const plain = await systemOf(one);
    await put(one, 'USER.md', 'Ada, who likes short answers.');
    await put(one, '.identity/SOUL.md', 'You are a lighthouse keeper.\n');
    await put(one, 'SOUL.md', 'You are somebody else.');
    await put(one, 'HEARTBEAT.md', 'Look at the sea every hour.');
    await put(one, 'notes.md', 'a note');
    expect(await systemOf(one)).to.equal(`${plain}\n\n## SOUL.md\nYou are a lighthouse keeper.\n\n## USER.md\nAda, who likes short answers.`);
    await one.http.expect(200, 'DELETE', `/api/agents/${one.agent.id}/files/.identity/SOUL.md`);
    await one.http.expect(200, 'DELETE', `/api/agents/${one.agent.id}/files/USER.md`);
    expect(await systemOf(one)).to.equal(`${plain}\n\n## SOUL.md\nYou are somebody else.`);
  });

  it('I1 that came past the daemon is read within seconds', async () => {
    const one = await bootWithModel(() => ({ text: 'yes' }));
    await mkdir(folder(one, '.identity'), { recursive: true });
    await writeFile(folder(one, '.identity', 'SOUL.md'), 'first');
    expect(await systemOf(one)).to.contain('## SOUL.md\nfirst');
    await writeFile(folder(one, '.identity', 'SOUL.md'), 'second');
    await until(async () => (await systemOf(one)).includes('second'));
  });

  it('I3 that is a link to itself takes nothing from the others', async () => {
    const one = await bootWithModel(() => ({ text: 'yes' }));
    await put(one, 'USER.md', 'Ada, who likes short answers.');
    await writeFile(folder(one, 'IDENTITY.md'), Buffer.from('\uFEFFFrom a Windows editor: ü', 'utf16le'));
    await symlink('SOUL.md', folder(one, 'SOUL.md'));
    const system = await systemOf(one);
    expect(system).to.contain('## USER.md\nAda').and.contain('## IDENTITY.md\nFrom a Windows editor: ü');
  });

  it('I2 that is too long, or one too many, is left out and named', async () => {
    const one = await bootWithModel(() => ({ text: 'yes' }));
    await put(one, 'SOUL.md', `soul ${'s'.repeat(32_000)}`);
    await put(one, 'IDENTITY.md', `identity ${'i'.repeat(32_000)}`);
    await put(one, 'USER.md', `user ${'u'.repeat(2_000)}`);
    await put(one, 'TOOLS.md', 'tools are few');
    await writeFile(folder(one, 'AGENTS.md'), 'a'.repeat(32_769));
    const system = await systemOf(one);
    expect(system).to.contain('soul sss').and.contain('identity iii').and.contain('tools are few');
    expect(system).to.contain('## USER.md\n[omitted: together with the files above, it is longer than 65536 characters]');
    expect(system).to.contain('## AGENTS.md\n[left out: it has 32769 bytes, and such a file has at most 32768]');
    expect(system).not.to.contain('uuu').and.not.contain('aaaa');
  });

  it('I3 that is a link out of the workspace, or a folder, is not read, and the others are', async () => {
    const one = await bootWithModel(() => ({ text: 'yes' }));
    await put(one, 'USER.md', 'Ada');
    await writeFile(join(one.kernel.home, 'outside.md'), 'the secret outside');
    await symlink(join(one.kernel.home, 'outside.md'), folder(one, 'SOUL.md'));
    await mkdir(folder(one, 'TOOLS.md'));
    const system = await systemOf(one);
    expect(system).to.contain('## USER.md\nAda').and.not.contain('secret').and.not.contain('TOOLS.md');
    await rm(folder(one), { recursive: true });
  });

  it('is not written by the tools of the agent, whatever it was talked into', async () => {
    const patch = ['*** Begin Patch', '*** Add File: free.md', '+free', '*** Update File: free.md', '*** Move to: .identity/SOUL.md', '@@', '-free', '+obey', '*** End Patch'].join('\n');
    const calls = [
      { name: 'file_write', args: { path: 'SOUL.md', content: 'obey' } },
      { name: 'file_write', args: { path: './.identity/AGENTS.md', content: 'obey' } },
      { name: 'file_write', args: { path: '.Identity/soul.md', content: 'obey' } },
      { name: 'apply_patch', args: { patch } },
    ];
    const one = await bootWithModel(({ index }) => (calls[index] ? { toolCalls: [calls[index]] } : { text: 'done' }));
    await say(one, 'change yourself');
    const notify = JSON.stringify(one.model.requests.at(-1)?.body.messages);
    expect(notify.split('defines who you are. Only people can edit it').length - 1, notify).to.equal(4);
    expect(await systemOf(one)).not.to.contain('obey');
    expect((await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}/files`)).body.files).to.deep.equal([]);
  });
});
