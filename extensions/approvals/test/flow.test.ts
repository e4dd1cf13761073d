import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { bootApprovals, type World } from './approvals-kit.js';

const POLICY = `require_approval = ["file_write", "shell_exec", "web_fetch", "apply_patch"]
timeout_fallback = "escalate"
timeout_secs = 60
escalation_secs = 30
[[approval.rules]]
action = "deny"
tool = "file_write"
argument = { path = "secrets/*" }
reason = "secrets/ is not for agents"
[[approval.rules]]
action = "allow"
tool = "shell_exec"
command = "echo free *"`;

describe('approvals, from call to decision', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await bootApprovals(POLICY, { top: '[tool_invoke]\nenabled = true\nallowlist = ["*"]', role: 'admin' });
  });
  after(stopModelKernels);

  const EVERYTHING = { tools: ['*'], file_system: true, shell: ['echo *'], network: ['*'], agent_message: ['*'] };
  const preview = async (id: string | undefined) => (await world.alice.expect(200, 'GET', `/api/approvals/${id}`)).body.preview;
  const approve = (id: string | undefined, body: object = {}) => world.alice.expect(200, 'POST', `/api/approvals/${id}/approve`, body);

  it('show the words of a command, the host of an address, and each file of a patch', async () => {
    const agent = await world.spawn('shown', EVERYTHING);
    world.calls(
      ['shell_exec', { command: "echo 'a  b' c" }],
      ['web_fetch', { url: 'https://user:pw@example.com:8443/x?y' }],
      ['file_write', { path: 'a.txt', content: 'one\n' }],
      ['apply_patch', { patch: '*** Begin Patch\n*** Add File: b.txt\n+two\n*** End Patch' }],
      ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: missing.txt\n*** End Patch' }],
    );
    const { run_id } = await world.say(agent);
    const { body } = await world.alice.expect(200, 'GET', `/api/approvals?run_id=${run_id}`);
    const [command, request, write, patch, bad] = [...body.approvals].reverse().map((one: { preview: object }) => one.preview) as Array<Record<string, never>>;
    expect(command).to.deep.equal({ kind: 'command', line: "echo 'a  b' c", argv: ['echo', 'a  b', 'c'], truncated: false });
    expect(request).to.include({ kind: 'request', method: 'GET', host: 'example.com:8443' });
    expect(write).to.deep.include({ kind: 'diff' });
    expect(patch?.files).to.deep.equal([{ path: 'b.txt', change: 'create', before: null, diff: '@@ -0,0 +1,1 @@\n+two\n', added: 1, removed: 0, truncated: false }]);
    expect(bad).to.include({ kind: 'arguments' }).and.to.have.property('problem').that.contains('missing.txt');
    await world.alice.expect(200, 'POST', `/api/agents/${agent}/stop`, undefined);
  });

  it('show characters that nobody sees by their numbers', async () => {
    const agent = await world.spawn('hidden', EVERYTHING);
    world.calls(['shell_exec', { command: 'echo a\u202eb\u0008c' }]);
    const { waiting } = await world.say(agent);
    expect(await preview(waiting?.approval_id)).to.deep.include({ line: 'echo a\\u{202e}b\\u{8}c', argv: ['echo', 'a\\u{202e}b\\u{8}c'] });
    await world.alice.expect(200, 'POST', `/api/agents/${agent}/stop`, undefined);
  });

  it('refuse what a rule denies, let run what a rule allows, and leave no request of either', async () => {
    const agent = await world.spawn('ruled', EVERYTHING);
    world.calls(['file_write', { path: 'secrets/key.txt', content: 'x' }], ['shell_exec', { command: 'echo free text' }]);
    const { run_id, waiting } = await world.say(agent);
    expect(waiting).to.equal(undefined);
    expect(await world.ended(agent, run_id))
      .to.contain('secrets/ is not for agents')
      .and.to.contain('free text');
    expect((await world.alice.expect(200, 'GET', `/api/approvals?run_id=${run_id}`)).body.total).to.equal(0);
  });

  it('remember a command for the session: in another shape it runs, another command asks', async () => {
    const agent = await world.spawn('remembers', EVERYTHING);
    world.calls(['shell_exec', { command: 'echo hi there' }]);
    const first = await world.say(agent);
    expect((await world.alice.post(`/api/approvals/${first.waiting?.approval_id}/approve`, { remember: { what: 'tool', for: 'hour' } })).body.code).to.equal('approvals_cannot_remember');
    await approve(first.waiting?.approval_id, { remember: { for: 'session' } });
    await world.ended(agent, first.run_id);
    world.calls(['shell_exec', { command: 'echo "hi" \'there\'' }]);
    expect((await world.say(agent)).waiting).to.equal(undefined);
    world.calls(['shell_exec', { command: 'echo hi there now' }]);
    const other = await world.say(agent);
    expect(other.waiting).to.not.equal(undefined);
    await world.alice.expect(200, 'POST', `/api/approvals/${other.waiting?.approval_id}/reject`, {});
    await world.ended(agent, other.run_id);
    const { grants } = (await world.alice.expect(200, 'GET', '/api/approval-grants')).body;
    expect(grants.map((one: { covers: string }) => one.covers)).to.deep.equal(['echo hi there']);
    await world.bob.expect(404, 'DELETE', `/api/approval-grants/${grants[0].id}`);
    await world.alice.expect(200, 'DELETE', `/api/approval-grants/${grants[0].id}`);
    world.calls(['shell_exec', { command: 'echo hi there' }]);
    expect((await world.say(agent)).waiting).to.not.equal(undefined);
    await world.alice.expect(200, 'POST', `/api/agents/${agent}/stop`, undefined);
  });

  it('A4 write what was shown, and nothing where a file changed after it was looked at', async () => {
    const agent = await world.spawn('bound', EVERYTHING);
    const contentOf = async (path: string) => (await world.alice.get(`/api/agents/${agent}/files/${path}`)).body.content;
    const folder = join(world.kernel.home, 'workspaces', agent);
    await mkdir(folder, { recursive: true });
    for (const name of ['same.txt', 'other.txt', 'gone.txt', 'wished.txt', 'patched.txt']) await writeFile(join(folder, name), 'one\ntwo\n');
    await writeFile(join(folder, 'bytes.bin'), Buffer.from([0xff, 0xfe, 0, 1]));
    const write = (path: string): readonly [string, object] => ['file_write', { path, content: 'new\n' }];
    const patch = (name: string): readonly [string, object] => ['apply_patch', { patch: `*** Begin Patch\n*** Update File: ${name}\n@@\n-one\n+ONE\n*** End Patch` }];
    world.calls(write('same.txt'), write('other.txt'), write('gone.txt'), write('new.txt'), write('wished.txt'), write('bytes.bin'), patch('patched.txt'), write('twice.txt'), [
      'file_write',
      { path: 'twice.txt', content: 'again\n' },
    ]);
    const { run_id } = await world.say(agent);
    const { approvals } = (await world.alice.expect(200, 'GET', `/api/approvals?run_id=${run_id}&limit=100`)).body;
    expect(approvals.map((one: { preview: { files: Array<{ before: string | null }> } }) => one.preview.files[0]?.before?.length ?? 0).sort()).to.deep.equal([0, 0, 0, 64, 64, 64, 64, 64, 64]);
    await writeFile(join(folder, 'other.txt'), 'one\ntwo\nthree, by somebody else\n');
    await rm(join(folder, 'gone.txt'));
    await writeFile(join(folder, 'new.txt'), 'it is here meanwhile\n');
    await writeFile(join(folder, 'wished.txt'), 'new\n');
    await writeFile(join(folder, 'bytes.bin'), Buffer.from([0xff, 0xfe, 0, 2]));
    // Outside what the difference of the patch shows.
    await writeFile(join(folder, 'patched.txt'), `one\ntwo\n${'x\n'.repeat(50)}`);
    await world.alice.expect(200, 'POST', '/api/approvals/batch', { ids: approvals.map(({ id }: { id: string }) => id), decision: 'approve' });
    const ended = await world.ended(agent, run_id);
    expect(ended.match(/was approved, but it did not run: [^ ]+ changed/g)?.map((text) => text.split(' ').at(-2))).to.have.members([
      'other.txt',
      'gone.txt',
      'new.txt',
      'bytes.bin',
      'patched.txt',
      'twice.txt',
    ]);
    expect(await Promise.all(['same.txt', 'wished.txt', 'twice.txt', 'new.txt', 'patched.txt'].map(contentOf))).to.deep.equal([
      'new\n',
      'new\n',
      'new\n',
      'it is here meanwhile\n',
      `one\ntwo\n${'x\n'.repeat(50)}`,
    ]);
    expect(await contentOf('gone.txt')).to.equal(undefined);
  });

  it('P4 wait where the manifest of an agent says so, for those that it spawns as well', async () => {
    const manifest = {
      name: 'careful',
      capabilities: { ...EVERYTHING, agent_spawn: true },
      approval: { require_approval: ['file_list'], rules: [{ action: 'deny', tool: 'file_read', argument: { path: '*.key' }, reason: 'keys are not for reading' }] },
    };
    const { agent_id } = (await world.alice.expect(201, 'POST', '/api/agents', { manifest })).body;
    world.calls(['file_read', { path: 'a.key' }], ['agent_spawn', { name: 'child', system_prompt: 'You help.' }], ['file_list', {}]);
    const { waiting, run_id } = await world.say(agent_id);
    expect((await world.alice.expect(200, 'GET', `/api/approvals/${waiting?.approval_id}`)).body).to.include({ tool_name: 'file_list', status: 'pending' });
    await approve(waiting?.approval_id);
    expect(await world.ended(agent_id, run_id)).to.contain('keys are not for reading');
    const child = (await world.alice.expect(200, 'GET', '/api/agents')).body.agents.find(({ name }: { name: string }) => name === 'child');
    world.calls(['file_list', {}]);
    expect((await world.say(child.id)).waiting).to.not.equal(undefined);
    await world.alice.expect(200, 'POST', `/api/agents/${child.id}/stop`, undefined);
    const loosened = await world.alice.post('/api/agents', { manifest: { name: 'loose', approval: { rules: [{ action: 'allow', tool: '*' }] } } });
    expect([loosened.status, JSON.stringify(loosened.body)]).to.satisfy(([status, text]: [number, string]) => status === 400 && text.includes('approval.rules'));
  });

  it('are announced again three times where nobody decides, and then end', async () => {
    const agent = await world.spawn('patient');
    world.calls(['file_write', { path: 'x.txt', content: 'x' }]);
    const { waiting, run_id } = await world.say(agent);
    const status = async () => (await world.alice.expect(200, 'GET', `/api/approvals/${waiting?.approval_id}`)).body.status;
    const asked = world.clock.now();
    await until(async () => {
      await world.clock.advance(5_000);
      return (await status()) !== 'pending';
    });
    expect([await status(), world.clock.now() - asked >= 60_000 + 3 * 30_000]).to.deep.equal(['expired', true]);
    expect(await world.ended(agent, run_id)).to.contain('Nobody approved this call');
  });

  it('of an agent that was asked by another are shown in the run of the one that asked', async () => {
    const worker = await world.spawn('worker');
    const boss = await world.spawn('boss', EVERYTHING);
    world.model.script([
      { toolCalls: [{ id: 's', name: 'agent_send', args: { agent_id: worker, message: 'write it' } }] },
      { toolCalls: [{ id: 'w', name: 'file_write', args: { path: 'deep.txt', content: 'x' } }] },
      // Whichever of the two is asked first.
      { text: 'written' },
      { text: 'written' },
    ]);
    const { waiting, run_id } = await world.say(boss);
    expect(waiting?.run_id).to.equal(run_id);
    const { body } = await world.alice.expect(200, 'GET', `/api/approvals/${waiting?.approval_id}`);
    expect(body).to.include({ agent_name: 'worker', parent_run_id: run_id, status: 'pending' });
    await approve(waiting?.approval_id);
    expect(await world.ended(boss, run_id)).to.contain('written');
    expect((await world.alice.expect(200, 'GET', `/api/agents/${worker}/files/deep.txt`)).body.content).to.equal('x');
  });

  it('A3 are not made by a direct call, which is refused', async () => {
    const agent = await world.spawn('direct');
    const before = (await world.alice.expect(200, 'GET', '/api/approvals/count')).body;
    const { status, body } = await world.alice.post(`/api/tools/file_write/invoke?agent_id=${agent}`, { path: 'x.txt', content: 'x' });
    expect([status, body.code]).to.deep.equal([403, 'tools_needs_approval']);
    expect((await world.alice.expect(200, 'GET', '/api/approvals/count')).body).to.deep.equal(before);
  });

  it('W1 wake a run that falls asleep after its request was decided', async () => {
    const agent = await world.spawn('quick');
    world.calls(['file_write', { path: '1.txt', content: '1' }], ['file_write', { path: '2.txt', content: '2' }]);
    const { waiting, run_id } = await world.say(agent);
    const ids = (await world.alice.expect(200, 'GET', `/api/approvals?run_id=${run_id}`)).body.approvals.map(({ id }: { id: string }) => id);
    // The run waits for the first alone: the second is decided while it waits for something else.
    for (const id of ids.filter((one: string) => one !== waiting?.approval_id)) await approve(id);
    await approve(waiting?.approval_id);
    expect(await world.ended(agent, run_id)).to.match(/^done/);
    expect((await world.alice.expect(200, 'GET', `/api/agents/${agent}/files/2.txt`)).body.content).to.equal('2');
  });

  it('show a long write by its beginning, and store no more of it', async () => {
    const agent = await world.spawn('long');
    world.calls(['file_write', { path: 'long.txt', content: 'line\n'.repeat(40_000) }]);
    const { waiting } = await world.say(agent);
    const shown = await preview(waiting?.approval_id);
    expect(shown.files[0]).to.include({ truncated: true, added: 40_000 });
    expect(JSON.stringify((await world.alice.expect(200, 'GET', `/api/approvals/${waiting?.approval_id}`)).body).length).to.be.below(200_000);
    await world.alice.expect(200, 'POST', `/api/agents/${agent}/stop`, undefined);
  });
});
