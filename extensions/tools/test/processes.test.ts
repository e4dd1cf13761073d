/** Processes of agents, by direct calls over HTTP: real programs, real pipes, a real database. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallRequest } from '../src/contract.js';
import { Tools } from '../src/contract.js';
import { startTimeOf } from '@svc/platform/adapters/child/process-identity';
import { bootTestKernel, describeDaemonOnEngines, fixtureExtension, OPEN_RATE, OWNER, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { ToolsService } from '../src/contract.js';
import { createOutputBuffer } from '../src/processes/output-buffer.js';
import { isNarrowed } from '../src/processes/processes.js';

/** Without the sandbox: a process inside knows itself by another number than the one that is looked for here. */
const CONFIG = `${OPEN_RATE}[tools]\nsandbox = "off"\n[tool_invoke]\nenabled = true\nallowlist = ["*"]\n`;
const until = async (ready: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const isAlive = async (pid: number): Promise<boolean> => (await startTimeOf(pid)) !== undefined;

describeDaemonOnEngines('a process of an agent', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let agent: string;
  let tools: ToolsService;
  // As an area of the daemon: a tool is executed for nobody else.
  const asker = {
    ...fixtureExtension({
      id: 'asker',
      manifest: { requires: { tools: '^1' }, grants: [{ grant: 'actors', why: 'the test speaks for the owner' }] },
      definition: {
        activate: (ctx) => {
          tools = ctx.services.require(Tools);
        },
      },
    }),
    build: 'the build of this test',
  };

  const spawnAgent = async (name: string, capabilities: string): Promise<string> =>
    (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\n${capabilities}\n` })).body.agent_id;
  const boot = async (config = CONFIG, home?: string): Promise<void> => {
    kernel = await bootTestKernel({ config: `[extensions]\nenable = ["asker"]\n${config}`, extra: [asker], ...(home === undefined ? {} : { home }) });
  };
  beforeEach(async () => {
    await boot();
    agent = await spawnAgent('runner', 'shell = ["*"]');
  });
  afterEach(stopTestKernels);

  const call = async (tool: string, body: object = {}, of = agent): Promise<{ status: number; text: string; code: string }> => {
    const answer = await kernel.http.post(`/api/tools/${tool}/invoke?agent_id=${of}`, body);
    return { status: answer.status, text: answer.body.content ?? answer.body.error, code: answer.body.code };
  };
  const idIn = (text: string): string => /process ([0-9a-f-]{36})/.exec(text)?.[1] ?? `no id in ${text}`;
  const start = async (command: string, of = agent): Promise<string> => {
    const { status, text } = await call('process_start', { command }, of);
    expect(status, text).to.equal(200);
    return idIn(text);
  };
  const poll = async (process_id: string, more: object = {}): Promise<string> => (await call('process_poll', { process_id, ...more })).text;
  const untilSaid = async (id: string, what: RegExp): Promise<string> => {
    let all = '';
    await until(async () => {
      all += await poll(id, { wait_seconds: 5 });
      return what.test(all);
    });
    return all;
  };
  const fileOf = (name: string): string => join(kernel.home, 'workspaces', agent, name);
  const pidIn = async (name: string): Promise<number> => {
    await until(async () => Number(await readFile(fileOf(name), 'utf8').catch(() => '0')) > 0);
    return Number(await readFile(fileOf(name), 'utf8'));
  };

  it('is started, read piece by piece, written to, and ends with its code', async () => {
    const id = await start('read line; echo "got $line"; echo oops >&2; read rest; exit 3');
    expect(await poll(id)).to.match(/runs for \d+ s; cursor 0\]$/);
    expect((await call('process_write', { process_id: id, data: 'hello' })).text).to.equal('Wrote 6 bytes.');
    const said = await untilSaid(id, /oops/);
    expect(said).to.match(/\ngot hello\n/);
    // What was read is not given again, unless its place is named.
    expect(await poll(id)).not.to.contain('hello');
    expect(await poll(id, { cursor: 4 })).to.match(/\nhello\noops/);
    await call('process_write', { process_id: id, data: '', end: true });
    expect(await untilSaid(id, /exited/)).to.match(/exited with code 3 after/);
    const late = await call('process_write', { process_id: id, data: 'more' });
    expect([late.status, late.text]).to.satisfy(([status, text]: [number, string]) => status === 400 && /takes no input: exited with code 3/.test(text));
    expect((await call('process_list')).text).to.match(new RegExp(`^${id} started .*: exited with code 3, .*: read line`));
  });

  it('that exits at once can still be read, and one that was never there is told from one that has ended', async () => {
    const id = await start('echo done');
    expect(await untilSaid(id, /exited/)).to.match(/exited with code 0 .*cursor 5\]\ndone\n|done/s);
    const missing = await call('process_start', { command: '/no/such/program', args: ['x'] });
    expect(missing.status === 400 || /exited with code 127/.test(await untilSaid(idIn(missing.text), /exited/))).to.equal(true);
    for (const process_id of ['nothing', '00000000-0000-4000-8000-000000000000']) {
      const { status, text } = await call('process_poll', { process_id });
      expect([status, /There is no process/.test(text)], process_id).to.deep.equal([400, true]);
    }
  });

  it('takes its arguments as they are: no shell reads them', async () => {
    const { text } = await call('process_start', { command: 'printf', args: ['%s|', "it's", '$HOME; ls', 'a b'] });
    expect(await untilSaid(idIn(text), /exited/)).to.contain("it's|$HOME; ls|a b|");
    const odd = await call('process_start', { command: 'true', notify_on_completion: true });
    expect([odd.status, odd.code]).to.deep.equal([400, 'tools_bad_arguments']);
    expect(odd.text).to.contain('notify_on_completion');
  });

  it('is ended with all that it started, also when it ignores being asked', async () => {
    const id = await start(`trap "" TERM; setsid sh -c 'trap "" TERM; echo $$ > child; exec sleep 300' & echo $$ > self; while :; do sleep 1; done`);
    const pids = [await pidIn('self'), await pidIn('child')];
    expect((await call('process_kill', { process_id: id })).text).to.match(/was ended: it was ended by process_kill after/);
    for (const pid of pids) expect(await isAlive(pid)).to.equal(false);
    expect((await call('process_kill', { process_id: id })).status).to.equal(200);
  });

  it('that floods is read on, its newest output kept, and what was dropped is counted', async () => {
    const id = await start('head -c 104857600 /dev/zero | tr "\\0" x; echo THE END');
    await until(async () => /exited/.test((await call('process_list')).text));
    const first = await poll(id);
    const dropped = Number(/\[(\d+) characters before this were dropped/.exec(first)?.[1]);
    expect(dropped).to.be.greaterThan(104_000_000);
    expect(first).to.match(/more characters wait: poll again/);
    const cursor = 104_857_600;
    expect(await poll(id, { cursor })).to.match(/\nTHE END\n/);
  });

  it('is one of five: the sixth is refused, of two at once too, until one has ended', async () => {
    const started = await Promise.all(Array.from({ length: 7 }, () => call('process_start', { command: 'sleep 300' })));
    const refused = started.filter(({ status }) => status !== 200);
    expect(
      refused.map(({ text }) => /5 running processes/.test(text)),
      refused.map(({ text }) => text).join('\n'),
    ).to.deep.equal([true, true]);
    const ids = started.filter(({ status }) => status === 200).map(({ text }) => idIn(text));
    await call('process_kill', { process_id: ids[0] });
    await start('sleep 300');
    const other = await spawnAgent('other', 'shell = ["*"]');
    await start('sleep 300', other);
  });

  it('is seen by its agent alone', async () => {
    const id = await start('sleep 300');
    const other = await spawnAgent('other', 'shell = ["*"]');
    for (const [tool, body] of [
      ['process_poll', {}],
      ['process_kill', {}],
      ['process_write', { data: 'x' }],
    ] as const) {
      const { status, text } = await call(tool, { process_id: id, ...body }, other);
      expect([status, /There is no process/.test(text)], tool).to.deep.equal([400, true]);
    }
    expect((await call('process_list', {}, other)).text).to.equal('[you have started no process]');
    const nobody = await kernel.http.post('/api/tools/process_start/invoke', { command: 'sleep 300' });
    expect([nobody.status, /belong to an agent/.test(nobody.body.content)]).to.deep.equal([400, true]);
  });

  it('is validated by the grants of shell_exec, and one whose grants shrink is ended', async () => {
    const narrow = await spawnAgent('narrow', 'shell = ["sleep *", "printf *"]');
    for (const body of [{ command: 'cat x' }, { command: 'sleep 1; cat x' }, { command: 'cat', args: ['x'] }, { command: "sleep' '1" }]) {
      const { status, code } = await call('process_start', body, narrow);
      expect([status, code], JSON.stringify(body)).to.deep.equal([403, 'capability_denied']);
    }
    const plain = await call('process_start', { command: 'printf', args: ['%s', '$(id) && x'] }, narrow);
    expect(plain.status).to.equal(200);
    const none = await spawnAgent('none', 'shell = []');
    expect((await call('process_start', { command: 'sleep 1' }, none)).status).to.equal(403);
    const own = { shell: ['a', 'b'] };
    expect(isNarrowed(own, { shell: ['b', 'a', 'c'] })).to.equal(false);
    expect(isNarrowed(own, { shell: ['a'] })).to.equal(true);
    const policy = (mode: 'deny' | 'allowlist') => ({ mode, programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null });
    expect(isNarrowed(own, { ...own, exec: policy('deny') })).to.equal(true);
    expect(isNarrowed({ ...own, exec: policy('allowlist') }, { ...own, exec: policy('allowlist') })).to.equal(false);
  });

  it('ends with the suspension of its agent, with the agent, and a suspended one starts none', async () => {
    const [id, pid] = [await start('echo $$ > one; exec sleep 300'), await pidIn('one')];
    await kernel.http.expect(200, 'PUT', `/api/agents/${agent}/suspend`);
    await until(async () => !(await isAlive(pid)));
    await until(async () => /the agent was suspended/.test(await poll(id)));
    expect((await call('process_start', { command: 'sleep 1' })).text).to.match(/the agent is suspended/);
    await kernel.http.expect(200, 'PUT', `/api/agents/${agent}/resume`);
    await start('echo $$ > two; exec sleep 300');
    const second = await pidIn('two');
    await kernel.http.expect(200, 'DELETE', `/api/agents/${agent}`);
    await until(async () => !(await isAlive(second)));
  });

  it('ends with its time, where the manifest or the operator sets one', async () => {
    const { body } = await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "short"\n[exec_policy]\nmode = "full"\ntimeout_secs = 1\n[capabilities]\nshell = ["*"]\n' });
    const id = await start('sleep 300', body.agent_id);
    await until(async () => /its time was over/.test((await call('process_poll', { process_id: id, wait_seconds: 5 }, body.agent_id)).text));
  });

  it('ends with the daemon, and the next life knows how', async () => {
    const [id, pid] = [await start('echo $$ > self; exec sleep 300'), await pidIn('self')];
    const { home } = kernel;
    await writeFile(join(home, 'keep'), '');
    await kernel.daemon.stop('on purpose');
    expect(await isAlive(pid)).to.equal(false);
    await boot(CONFIG, home);
    expect((await call('process_poll', { process_id: id })).text).to.match(/was ended: the daemon stopped, or its tools were reloaded.*no longer available/s);
  });

  it('is started once by a call that is made again, and told once more', async () => {
    const request: CallRequest = {
      name: 'process_start',
      args: { command: 'echo $$ >> pids; echo one line; exec sleep 300' },
      earlier: [],
      call: { callId: 'c1', runId: 'r1', agentId: agent, sessionId: '', actor: OWNER, depth: 0, capabilities: ALL },
    };
    const again = await Promise.all([tools.execute(request), tools.execute(request)]);
    again.push(await tools.execute(request));
    expect(new Set(again.map(({ content }) => idIn(content))).size, JSON.stringify(again)).to.equal(1);
    await pidIn('pids');
    expect((await readFile(fileOf('pids'), 'utf8')).trim().split('\n')).to.have.length(1);
    const process_id = idIn(again[0]?.content ?? '');
    // A poll that a restart makes again reads the same once more; the next one goes on.
    const asked = (callId: string) => tools.execute({ ...request, name: 'process_poll', args: { process_id }, call: { ...request.call, callId } });
    await until(async () => (await asked('c2')).content.includes('one line'));
    expect((await asked('c2')).content).to.contain('one line');
    expect((await asked('c3')).content).not.to.contain('one line');
    expect((await asked('c2')).content).not.to.contain('one line');
    await call('process_kill', { process_id });
    expect((await tools.execute(request)).content).to.contain(`${process_id}: was ended: it was ended by process_kill`);
  });
});

const ALL = { tools: ['*'], network: [], memory_read: [], memory_write: [], shell: ['*'], agent_spawn: false, agent_message: [], file_system: true, max_llm_tokens_per_hour: null };

describe('the kept output of a process', () => {
  it('is read by its places, and says what it lost', () => {
    const cycle = createOutputBuffer(10);
    cycle.add('0123456789');
    expect(cycle.read(3, 4)).to.deep.equal({ text: '3456', next: 7, dropped: 0, left: 3 });
    cycle.add('abcdefghij');
    expect([cycle.end, cycle.read(0, 100).dropped]).to.deep.equal([20, 0]);
    cycle.add('k');
    expect(cycle.end).to.equal(21);
    expect(cycle.read(7, 100)).to.deep.equal({ text: 'bcdefghijk', next: 21, dropped: 4, left: 0 });
    expect(cycle.read(21, 5)).to.deep.equal({ text: '', next: 21, dropped: 0, left: 0 });
    expect(cycle.read(99, 5)).to.deep.equal({ text: '', next: 21, dropped: 0, left: 0 });
    cycle.add('x'.repeat(50));
    expect(cycle.read(0, 100)).to.include({ text: 'x'.repeat(10), dropped: 61, next: 71 });
  });

  it('halves no character', () => {
    const cycle = createOutputBuffer(100);
    cycle.add('ab🚀c');
    expect(cycle.read(0, 3)).to.deep.equal({ text: 'ab', next: 2, dropped: 0, left: 3 });
    expect(cycle.read(2, 2).text).to.equal('🚀');
  });
});
