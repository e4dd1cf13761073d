/** Commands of agents that no sandbox keeps apart: the daemon asks for a key before the first one starts, and says everywhere that there is no sandbox. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import { bootTestKernel, OPEN_RATE, ownerKeyOf, stopTestKernels, TestHttp, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { expect } from 'chai';

const INVOKE = '[tool_invoke]\nenabled = true\nallowlist = ["*"]\n';
const CONFIG = `${OPEN_RATE}${INVOKE}`;
const OFF = '[tools]\nsandbox = "off"\n';
/** A machine without bubblewrap. */
const MISSING: TestKernelOptions['factories'] = { createExecAdapter: (deps) => createExecAdapter({ ...deps, findBubblewrap: async () => undefined }) };
const bare: ReadonlyArray<readonly [what: string, options: TestKernelOptions, cause: RegExp, fix: RegExp]> = [
  ['is off', { config: `${CONFIG}${OFF}` }, /\[tools\] sandbox is "off"/, /sandbox = "auto"/],
  ['has no bubblewrap', { config: CONFIG, factories: MISSING }, /bubblewrap is not installed|no command sandbox/, /bubblewrap|sparingly/],
];

const agentOf = async (kernel: TestKernel, name: string, capabilities = 'shell = ["*"]'): Promise<{ agent_id: string; warnings?: string[] }> =>
  (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\n${capabilities}\n` })).body;
const invoke = (kernel: TestKernel, tool: string, agentId: string, body: object) => kernel.http.post(`/api/tools/${tool}/invoke?agent_id=${agentId}`, body);
/** What the daemon says to a program that has no key, as the owner would ask. */
const asking = (kernel: TestKernel): string =>
  `${process.execPath} -e 'const at="${kernel.url}/api/agents";(async()=>{const out=[];for(const init of [{},{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify({manifest_toml:"name=\\"loot\\""})},{headers:{"sec-fetch-site":"same-origin"}}])out.push((await fetch(at,init)).status);console.log("answers",...out)})()'`;

describe('a command of an agent without a sandbox', function () {
  this.timeout(60_000);
  const homes: string[] = [];
  afterEach(() => stopTestKernels());
  after(async () => {
    for (const home of homes) await rm(home, { recursive: true, force: true });
  });

  for (const [what, options, cause, fix] of bare)
    it(`finds a daemon that asks for a key from its first moment, where the sandbox ${what}`, async () => {
      const kernel = await bootTestKernel(options);
      const { agent_id, warnings = [] } = await agentOf(kernel, 'runner');
      const warning = warnings.find((text) => text.includes('commands run without a sandbox'));
      expect(warning, JSON.stringify(warnings)).to.match(cause).and.match(fix);
      const finding = (await kernel.http.expect(200, 'GET', '/api/health/detail')).body.doctor.find(({ check }: { check: string }) => check === 'CommandSandboxCheck');
      expect([finding.result, cause.test(finding.message), fix.test(finding.fix)], JSON.stringify(finding)).to.deep.equal(['warn', true, true]);
      expect([ownerKeyOf(kernel.home), (await new TestHttp(kernel.url).get('/api/agents')).status], 'a daemon that ran no command is open').to.deep.equal([undefined, 200]);

      const { body, status } = await invoke(kernel, 'shell_exec', agent_id, { command: asking(kernel) });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.content)
        .to.contain('answers 401 401 401')
        .and.match(/\[no sandbox: /);
      expect(ownerKeyOf(kernel.home)).to.match(/^svc_[\w-]{43}$/);
      expect((await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name))
        .to.include('runner')
        .and.not.include('loot');
      expect(JSON.stringify(kernel.daemon.log.recent(1_000)))
        .to.contain('The API now needs a key')
        .and.not.contain(ownerKeyOf(kernel.home));
    });

  it('that goes on by itself (process_start) finds the same', async () => {
    const kernel = await bootTestKernel({ config: `${CONFIG}${OFF}` });
    const { agent_id } = await agentOf(kernel, 'runner');
    const { body } = await invoke(kernel, 'process_start', agent_id, { command: asking(kernel) });
    const id = /process ([0-9a-f-]{36})/.exec(body.content)?.[1];
    let text = '';
    for (let tries = 0; tries < 10 && !text.includes('answers'); tries += 1) text += (await invoke(kernel, 'process_poll', agent_id, { process_id: id, wait_seconds: 5 })).body.content;
    expect(text).to.contain('answers 401 401 401');
  });

  it('of a narrow grant finds the same', async () => {
    const kernel = await bootTestKernel({ config: `${CONFIG}${OFF}` });
    const { agent_id } = await agentOf(kernel, 'narrow', 'shell = ["git *"]');
    expect((await invoke(kernel, 'shell_exec', agent_id, { command: 'git --version' })).body.content).to.contain('git version');
    expect((await new TestHttp(kernel.url).get('/api/agents')).status).to.equal(401);
  });

  it('is not started where the key cannot be written, and leaves no trace', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-bare-'));
    homes.push(home);
    await writeFile(join(home, 'config.toml'), `${CONFIG}${OFF}`);
    const kernel = await bootTestKernel({ home });
    const { agent_id } = await agentOf(kernel, 'runner');
    await mkdir(join(home, 'owner.key', 'in-the-way'), { recursive: true });
    const { body, status } = await invoke(kernel, 'shell_exec', agent_id, { command: 'touch ran' });
    expect([status >= 400 || body.is_error === true, JSON.stringify(body).includes('owner.key cannot be written')], JSON.stringify(body)).to.deep.equal([true, true]);
    const found = await invoke(kernel, 'file_list', agent_id, { path: '.' });
    expect(JSON.stringify(found.body)).to.not.contain('ran');
  });

  it('needs no second key where the operator has set one', async () => {
    const kernel = await bootTestKernel({ config: `api_key = "of-the-operator"\n${CONFIG}${OFF}`, key: 'of-the-operator' });
    const { agent_id } = await agentOf(kernel, 'runner');
    expect((await invoke(kernel, 'shell_exec', agent_id, { command: asking(kernel) })).body.content).to.contain('answers 401 401 401');
    expect((await kernel.http.get('/api/agents')).status).to.equal(200);
  });
});

describe('a command of an agent in the sandbox', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  it('reaches no daemon, which stays open for its owner; nobody is warned', async function () {
    const kernel = await bootTestKernel({ config: CONFIG });
    if (!(await kernel.daemon.parts.execAdapter.sandbox()).isOn) return this.skip();
    const { agent_id, warnings = [] } = await agentOf(kernel, 'runner');
    expect(warnings.filter((text) => text.includes('commands run without a sandbox'))).to.deep.equal([]);
    const finding = (await kernel.http.expect(200, 'GET', '/api/health/detail')).body.doctor.find(({ check }: { check: string }) => check === 'CommandSandboxCheck');
    expect(finding.result).to.equal('pass');
    expect((await invoke(kernel, 'shell_exec', agent_id, { command: asking(kernel) })).body.content)
      .to.not.contain('answers')
      .and.not.contain('[no sandbox');
    expect([ownerKeyOf(kernel.home), (await new TestHttp(kernel.url).get('/api/agents')).status]).to.deep.equal([undefined, 200]);
  });

  it('is refused where it is required and missing: no key is made for what did not start', async () => {
    const kernel = await bootTestKernel({ config: `${CONFIG}[tools]\nsandbox = "required"\n`, factories: MISSING });
    const { agent_id } = await agentOf(kernel, 'runner');
    const { body } = await invoke(kernel, 'shell_exec', agent_id, { command: 'true' });
    expect(JSON.stringify(body)).to.match(/exec_no_sandbox|sandbox/);
    expect(ownerKeyOf(kernel.home)).to.equal(undefined);
  });
});
