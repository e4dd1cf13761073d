import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEYS = { owner: 'checkpoints-root-key', alice: 'checkpoints-alice-key', bob: 'checkpoints-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

describe('checkpoints', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  /** What the model asks for next: a call of a tool, once. */
  let next: { name: string; args: Record<string, unknown> } | undefined;

  before(async () => {
    world = await bootWithModel(
      () => {
        const wanted = next;
        next = undefined;
        return wanted ? { toolCalls: [wanted] } : { text: 'done' };
      },
      { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}[capabilities]\nuser = ["file_system", "shell"]\n`, key: KEYS.owner },
    );
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
  });
  after(stopModelKernels);

  const spawn = async (name: string): Promise<string> =>
    (await alice.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['*'], file_system: true, shell: ['rm *'] } } })).body.agent_id;
  const folderOf = (agent: string): string => join(world.kernel.home, 'workspaces', agent);
  const repositoryOf = (agent: string): string => join(world.kernel.home, 'checkpoints', createHash('sha256').update(folderOf(agent)).digest('hex').slice(0, 16));
  const call = async (agent: string, name: string, args: Record<string, unknown>): Promise<string> => {
    next = { name, args };
    return (await alice.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'do it' })).body.response;
  };
  const list = async (agent: string) => (await alice.expect(200, 'GET', `/api/checkpoints?agent_id=${agent}`)).body;
  const restore = (working_dir: string, commit: string, http = alice) => http.post('/api/checkpoints/restore', { working_dir, commit });

  it('find their thread started by whatever tool an agent called before', async () => {
    const agent = await spawn('reader');
    const { workers } = world.kernel.daemon.parts;
    const asked: unknown[] = [];
    const { run } = workers;
    workers.run = (file, name, input, options) => {
      asked.push((input as { op: string }).op);
      return run(file, name, input, options);
    };
    await call(agent, 'file_list', {});
    expect(asked).to.deep.equal(['ready']);
    await call(agent, 'file_write', { path: 'a.txt', content: 'one' });
    expect(asked.slice(0, 2)).to.deep.equal(['ready', 'take']);
    workers.run = run;
  });

  it('P1 are taken before a file is written or patched and before a command, each with who did what in its message', async () => {
    const agent = await spawn('writer');
    await call(agent, 'file_write', { path: 'notes/a.txt', content: 'one' });
    await call(agent, 'apply_patch', { patch: '*** Begin Patch\n*** Update File: notes/a.txt\n@@\n-one\n+two\n*** End Patch' });
    await call(agent, 'shell_exec', { command: 'rm notes/a.txt' });
    const { items, total, working_dir: folder } = await list(agent);
    expect(items.map(({ tool, path }: { tool: string; path: string }) => `${tool} ${path}`)).to.deep.equal(['shell_exec ', 'apply_patch notes/a.txt', 'file_write notes/a.txt']);
    expect([total, folder]).to.deep.equal([3, folderOf(agent)]);
    expect(items[1].message).to.match(new RegExp(`agent: ${agent}\nsession: ${items[1].session_id}\ntool: apply_patch\npath: notes/a.txt\nrun: ${items[1].run_id}`));
    execFileSync('git', ['--git-dir', repositoryOf(agent), 'fsck', '--full', '--strict'], { stdio: 'pipe' });

    expect(existsSync(join(folder, 'notes/a.txt'))).to.equal(false);
    const { body } = await restore(folder, items[0].short);
    expect(body).to.deep.include({ status: 'restored', working_dir: folder, commit: items[0].commit, files_restored: 1, files: ['notes/a.txt'], skipped: [], not_kept: [] });
    expect(readFileSync(join(folder, 'notes/a.txt'), 'utf8')).to.equal('two');
    await restore(folder, items[1].commit);
    expect(readFileSync(join(folder, 'notes/a.txt'), 'utf8')).to.equal('one');
    expect((await list(agent)).items[0].tool).to.equal('restore');
  });

  it('preview what a restore would change', async () => {
    const agent = await spawn('previewer');
    await call(agent, 'file_write', { path: 'a.txt', content: 'one\n' });
    await call(agent, 'file_write', { path: 'a.txt', content: 'two\n' });
    const { items } = await list(agent);
    const { body } = await alice.expect(200, 'GET', `/api/checkpoints/${items[0].short}?agent_id=${agent}`);
    expect(body.files).to.have.length(1);
    expect(body.files[0]).to.include({ path: 'a.txt', state: 'changed' });
    expect(body.files[0].diff).to.contain('-two\n+one\n');
  });

  it('P2 are of agents that the caller may see, and of no other folder', async () => {
    const agent = await spawn('private');
    await call(agent, 'file_write', { path: 'a.txt', content: 'one' });
    const { items } = await list(agent);
    expect((await bob.get(`/api/checkpoints?agent_id=${agent}`)).status).to.equal(404);
    expect((await bob.get(`/api/checkpoints/${items[0].commit}?agent_id=${agent}`)).status).to.equal(404);
    expect((await restore(folderOf(agent), items[0].commit, bob)).status).to.equal(404);
    for (const [folder, code] of [
      ['relative', 'checkpoints_relative_folder'],
      ['/', 'checkpoints_root_refused'],
      [world.kernel.home, 'checkpoints_root_refused'],
      [join(world.kernel.home, 'workspaces'), 'checkpoints_root_refused'],
      [`${folderOf(agent)}/..`, 'checkpoints_root_refused'],
      [`${folderOf(agent)}/sub`, 'checkpoints_root_refused'],
    ] as const) {
      const answer = await restore(folder, items[0].commit);
      expect([answer.status, answer.body.code], folder).to.deep.equal([code === 'checkpoints_relative_folder' ? 400 : 404, code]);
    }
    expect((await restore(`${folderOf(agent)}/`, items[0].commit)).status).to.equal(200);
  });

  it('refuse a commit that is none or is not there', async () => {
    const agent = await spawn('refuser');
    const codes = async (commit: string) => {
      const { status, body } = await restore(folderOf(agent), commit);
      return [status, body.code];
    };
    expect(await codes('abcdef')).to.deep.equal([404, 'checkpoints_none']);
    await call(agent, 'file_write', { path: 'a.txt', content: 'one' });
    expect(await codes('abcdef0')).to.deep.equal([404, 'checkpoints_not_found']);
    for (const commit of ['abc', '--all', 'HEAD', 'zzzz', 'a'.repeat(41)]) expect(await codes(commit), commit).to.deep.equal([400, 'checkpoints_bad_commit']);
    expect((await alice.post('/api/checkpoints/restore', { commit: 'abcd' })).status).to.equal(400);
  });

  it('P1 P4 never keep a tool from running: a folder that cannot be used is a warning', async () => {
    const agent = await spawn('unlucky');
    mkdirSync(join(world.kernel.home, 'checkpoints'), { recursive: true });
    writeFileSync(repositoryOf(agent), 'a file where the repository should be');
    await call(agent, 'file_write', { path: 'a.txt', content: 'written' });
    expect(readFileSync(join(folderOf(agent), 'a.txt'), 'utf8')).to.equal('written');
    expect((await alice.get(`/api/checkpoints?agent_id=${agent}`)).body.code).to.equal('checkpoints_broken');
    const log = await world.kernel.as(KEYS.owner).events('GET', '/api/logs/stream?lines=500', undefined, {}, ({ data }) => data.message.startsWith('a snapshot was not taken'));
    expect(log.at(-1)?.data.fields).to.include({ agent: agent, tool: 'file_write' });
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).to.contain('[svc: What this call changed cannot be undone: ');
    rmSync(repositoryOf(agent));
    await call(agent, 'file_write', { path: 'b.txt', content: 'again' });
    expect((await list(agent)).total).to.equal(1);
    expect(JSON.stringify(world.model.requests.at(-1)?.body).split('cannot be undone').length).to.equal(2);
  });

  it('C2 write what is too large all the same, and note it for who debugs', async () => {
    const agent = await spawn('large');
    const content = 'x'.repeat(60_000);
    await call(agent, 'file_write', { path: 'large.txt', content });
    await call(agent, 'file_write', { path: 'large.txt', content: `${content}y` });
    expect(readFileSync(join(folderOf(agent), 'large.txt'), 'utf8')).to.have.length(60_001);
    const { items } = await list(agent);
    expect(items[0].message).to.contain('left-out: "large.txt" too_large');
  });

  it('say at a restore what a command changed that no checkpoint holds', async () => {
    const agent = await spawn('lossy');
    await call(agent, 'file_write', { path: 'a.txt', content: 'one' });
    writeFileSync(join(folderOf(agent), 'theirs.txt'), 'put there by a person');
    symlinkSync('/etc/hostname', join(folderOf(agent), 'link'));
    await call(agent, 'shell_exec', { command: 'rm theirs.txt link a.txt' });
    const { items } = await list(agent);
    const { body } = await restore(folderOf(agent), items[0].commit);
    expect(body.files).to.deep.equal(['a.txt']);
    expect(body.not_kept.map(({ path, why }: { path: string; why: string }) => `${path} ${why}`).sort()).to.deep.equal(['link not_tracked', 'theirs.txt not_tracked']);
  });

  it('go with their agent', async () => {
    const agent = await spawn('leaver');
    await call(agent, 'file_write', { path: 'a.txt', content: 'one' });
    expect(existsSync(repositoryOf(agent))).to.equal(true);
    await alice.expect(200, 'DELETE', `/api/agents/${agent}`);
    expect(existsSync(repositoryOf(agent)), 'it can come back').to.equal(true);
    await alice.expect(200, 'DELETE', `/api/agents/${agent}?erase=true`);
    expect(existsSync(repositoryOf(agent))).to.equal(false);
  });
});
