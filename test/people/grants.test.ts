/** What people may grant to agents: by their role, when the agent is made and whenever it is used. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { MODEL_KEY, modelConfig, stopModelKernels } from '../clients/model-kernel.js';

const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', adam: 'adam-key-2' };
type Person = 'alice' | 'adam';

const person = (name: Person, role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

describe('what people may grant', () => {
  let model: ProviderServer;
  let kernel: TestKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  let adam: TestHttp;

  const config = (roles: Record<Person, string | undefined>, more = ''): string =>
    `api_key = "${KEYS.owner}"\n${OPEN_RATE}${modelConfig(model.url)}${(['alice', 'adam'] as const).map((name) => (roles[name] ? person(name, roles[name]) : '')).join('')}${more}`;
  const USUAL = { alice: 'user', adam: 'admin' };
  const settings = async (text: string): Promise<void> => {
    await writeFile(join(kernel.home, 'config.toml'), text);
    await kernel.daemon.reloadConfig('test');
    expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
  };

  beforeEach(async () => {
    model = await startOpenAiServer();
    kernel = await bootTestKernel({ config: config(USUAL), env: { OPENAI_API_KEY: MODEL_KEY } });
    [owner, alice, adam] = [kernel.as(KEYS.owner), kernel.as(KEYS.alice), kernel.as(KEYS.adam)];
  });
  afterEach(async () => {
    await stopModelKernels();
    await model.close();
  });

  const spawn = (http: TestHttp, name: string, lines: string) => http.post('/api/agents', { manifest_toml: `name = "${name}"\n${lines}` });
  const made = async (http: TestHttp, name: string, lines: string): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n${lines}` })).body.agent_id;
  const calls = (...toolCalls: Array<{ name: string; args: unknown }>): ScriptedAnswer[] => [{ toolCalls }, { text: 'done' }];

  /** What the tools answered, and which were offered. */
  const use = async (http: TestHttp, agentId: string, ...toolCalls: Array<{ name: string; args: unknown }>): Promise<{ results: string[]; offered: string[] }> => {
    model.script(calls(...toolCalls));
    const from = model.requests.length;
    await http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'go on' });
    const body = model.requests[from]?.body as { tools?: Array<{ function: { name: string } }> };
    const last = (model.requests.at(-1)?.body.messages ?? []) as Array<{ role: string; content: string }>;
    return {
      results: last
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content)
        .slice(-toolCalls.length),
      offered: (body.tools ?? []).map((tool) => tool.function.name),
    };
  };
  const shell = (command: string) => ({ name: 'shell_exec', args: { command } });

  it('keeps shell and private networks from a person of the role user, and says what is missing and who can', async () => {
    for (const [lines, permission] of [
      ['[capabilities]\nshell = ["cat *"]', 'shell'],
      ['[capabilities]\nshell = ["*"]', 'full_shell'],
      ['[capabilities]\nshell = "python3 *"', 'full_shell'],
      ['[capabilities]\nnetwork = ["*", "127.0.0.1:*"]', 'private_network'],
      ['[capabilities]\nnetwork = ["10.0.0.0/8"]', 'private_network'],
      ['[capabilities]\nnetwork = ["localhost:4545"]', 'private_network'],
    ] as const) {
      const refused = await spawn(alice, 'spy', lines);
      expect(refused.status, lines).to.equal(403);
      expect(refused.body.code).to.equal('agents_spawn_denied');
      expect(refused.body.error, lines).to.match(new RegExp(`needs the permission ${permission}, and its owner has the role user.*An owner or admin`));
      expect((await alice.post('/api/agents', { manifest: { name: 'spy', capabilities: { shell: ['cat *'] } } })).status).to.equal(403);
    }
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(0);
    await made(alice, 'hers', '[capabilities]\nnetwork = ["*", "example.org:8443"]\nagent_spawn = true\nagent_message = ["*"]');
    for (const http of [owner, adam]) await made(http, 'theirs', '[capabilities]\nshell = ["cat *", "*"]\nnetwork = ["127.0.0.1:*"]');
  });

  it('tells whoever grants a program that runs others', async () => {
    const { body } = await owner.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "dev"\n[capabilities]\nshell = ["git *", "make *", "ls *"]\n' });
    // Without a sandbox, that is said as well.
    expect(body.warnings.filter((text: string) => !/without a sandbox here/.test(text))).to.have.length(2);
    expect(body.warnings.join('\n'))
      .to.match(/"git \*".*options for that are refused/)
      .and.match(/"make \*".*as powerful as shell/);
  });

  it('follows the settings: a role may be given a permission, and lose it again for agents made meanwhile', async () => {
    await settings(config(USUAL, '[capabilities]\nuser = ["file_system", "shell"]\n'));
    const agent = await made(alice, 'tool', '[capabilities]\nshell = ["echo *"]');
    expect((await spawn(alice, 'all', '[capabilities]\nshell = ["*"]')).body.error).to.match(/full_shell/);
    expect((await spawn(alice, 'web', '[capabilities]\nnetwork = ["example.org"]')).body.error).to.match(/needs the permission network/);
    expect((await use(alice, agent, shell('echo granted'))).results[0]).to.match(/exit code 0[\s\S]*granted/);

    await settings(config(USUAL));
    const { results, offered } = await use(alice, agent, shell('echo granted'), { name: 'system_time', args: {} });
    expect(results[0]).to.match(/shell = "echo \*" needs the permission shell, and its owner has the role user.*An owner or admin/);
    expect(results[1]).to.match(/unix_ms/);
    expect(offered).to.include('file_read').and.not.include('shell_exec');
  });

  it('holds at each use: an agent loses what its owner may no longer grant, and gets it back with the role', async () => {
    const agent = await made(adam, 'worker', '[capabilities]\nshell = ["echo *"]\nagent_spawn = true');
    expect((await use(adam, agent, shell('echo one'))).results[0]).to.match(/exit code 0/);
    for (const [role, why] of [
      ['user', /its owner has the role user/],
      ['viewer', /its owner has the role viewer/],
      [undefined, /its owner is not known to this daemon/],
    ] as const) {
      await settings(config({ alice: 'user', adam: role }));
      const { results, offered } = await use(owner, agent, shell('echo two'));
      expect(results[0], role).to.match(why);
      expect(offered, role).to.not.include('shell_exec');
    }
    await settings(config(USUAL));
    expect((await use(adam, agent, shell('echo three'))).results[0]).to.match(/three/);
  });

  it('lets an admin’s agent make children, up to what the admin may grant and the agent has', async () => {
    const agent = await made(adam, 'boss', '[capabilities]\nshell = ["git *"]\nnetwork = ["*"]\nagent_spawn = true\n[autonomous]\nmax_iterations = 7\n');
    const child = (name: string, more: object) => ({ name: 'agent_spawn', args: { name, system_prompt: 'Help.', ...more } });
    const { results } = await use(
      adam,
      agent,
      child('a', { shell: ['git log *'] }),
      child('b', { shell: ['ls *'] }),
      child('c', { shell: ['git -c alias.x=!id *'] }),
      child('d', { network: ['127.0.0.1'] }),
    );
    expect(results[0]).to.match(/agent_id/);
    for (const refused of results.slice(1)) expect(refused).to.match(/Privilege escalation denied/);
    const [made1] = (await adam.expect(200, 'GET', '/api/agents?q=a')).body.agents.filter(({ name }: { name: string }) => name === 'a');
    expect((await adam.expect(200, 'GET', `/api/agents/${made1.id}`)).body).to.deep.include({ autonomous: { max_iterations: 7 } });
  });

  it('keeps a granted program away from the files of the daemon', async () => {
    const agent = await made(owner, 'reader', '[capabilities]\nshell = ["cat *", "env"]\n');
    await mkdir(join(kernel.home, 'workspaces', agent), { recursive: true });
    await writeFile(join(kernel.home, 'workspaces', agent, 'note.txt'), 'a heron');
    const { results } = await use(
      owner,
      agent,
      shell('cat note.txt'),
      shell('cat ../../config.toml'),
      shell(`cat ${kernel.home}/config.toml`),
      shell('cat /proc/1/environ'),
      shell('cat note.txt; id'),
      shell('env'),
    );
    expect(results[0]).to.match(/a heron/);
    for (const refused of results.slice(1, 4)) expect(refused).to.match(/names something outside the workspace/);
    expect(results[4]).to.match(/it holds ; outside quotes/);
    expect(results[5]).to.match(/PATH=/);
    expect(results.join('\n')).to.not.contain(KEYS.owner).and.not.contain(MODEL_KEY);
  });

  it('acts on exec_policy and max_tool_calls_per_minute of a manifest', async () => {
    const denied = await made(owner, 'denied', 'exec_policy = "deny"\n[capabilities]\nshell = ["*"]\n');
    const first = await use(owner, denied, shell('id'));
    expect(first.results[0]).to.match(/exec_policy of its manifest is "deny"/);
    expect(first.offered).to.not.include('shell_exec');
    const narrow = await made(owner, 'narrow', '[capabilities]\nshell = ["*"]\n[exec_policy]\nallowed_commands = ["echo"]\nmax_output_bytes = 4\n');
    const { results } = await use(owner, narrow, shell('echo abcdefgh'), shell('id'), shell('echo a | cat'));
    expect(results[0])
      .to.match(/exit code 0[\s\S]*abcd\n/)
      .and.not.match(/defg/);
    expect(results[1]).to.match(/exec_policy allows echo/);
    expect(results[2]).to.match(/outside quotes/);
    const slow = await made(owner, 'slow', '[resources]\nmax_tool_calls_per_minute = 2\n');
    const list = (path: string) => ({ name: 'file_list', args: { path } });
    const rated = (await use(owner, slow, list('.'), { name: 'system_time', args: {} }, list('./'))).results;
    expect(rated.slice(0, 2).join('')).to.not.match(/within a minute/);
    expect(rated[2]).to.match(/2 tool calls within a minute, all that \[resources\] max_tool_calls_per_minute allows/);
  });

  it('acts on [exec_policy] of config.toml beside the manifest', async () => {
    const agent = await made(owner, 'commander', '[capabilities]\nshell = ["*"]\n');
    const usual = await use(owner, agent, shell('id -u | cat'));
    expect(usual.results[0]).to.match(/exit code 0/);
    await settings(config(USUAL, '[exec_policy]\nallowed_commands = ["echo"]\nsafe_bins = ["sleep"]\nno_output_timeout_secs = 1\n'));
    const { results } = await use(owner, agent, shell('echo a'), shell('id -u'), shell('echo a | cat'), shell('sleep 20'));
    expect(results[0]).to.match(/exit code 0/);
    expect(results[1]).to.match(/exec_policy allows echo, sleep/);
    expect(results[2]).to.match(/outside quotes/);
    expect(results[3]).to.match(/stopped after/);
  });

  describe('with a server of their own on this machine', () => {
    let server: Server;
    let port: number;
    beforeEach(async () => {
      server = createServer((_req, res) => res.end('from inside'));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      // A listening server on TCP has such an address.
      port = (server.address() as AddressInfo).port;
    });
    afterEach(() => new Promise((done) => server.close(done)));

    it('saves what a granted host answers in the workspace, and needs the files and the host for it', async () => {
      const url = `http://127.0.0.1:${port}/`;
      const save = (dest_path: string) => ({ name: 'web_fetch_to_file', args: { url, dest_path } });
      const both = await made(adam, 'saver', '[capabilities]\nnetwork = ["127.0.0.1:*"]\nfile_system = true');
      const { results } = await use(adam, both, save('got/page.bin'), save('../page.bin'), save('AGENTS.md'), {
        name: 'web_fetch_to_file',
        args: { url, dest_path: 'small.bin', max_bytes: 3 },
      });
      expect(results[0]).to.match(/Saved 11 bytes .* as got\/page\.bin/);
      expect((await use(adam, both, { name: 'file_read', args: { path: 'got/page.bin' } })).results[0]).to.match(/from inside/);
      expect(results.slice(1).join('\n')).to.not.match(/Saved/);
      for (const [name, grants] of Object.entries({ nofiles: 'network = ["127.0.0.1:*"]\nfile_system = false', nohost: 'network = ["example.org"]\nfile_system = true' }))
        expect((await use(adam, await made(adam, name, `[capabilities]\n${grants}`), save('x'))).results[0], name).to.match(/may not/);
    });

    it('asks where the machine is only where an operator named a service, and the agent has its host', async () => {
      const agent = await made(adam, 'traveller', '[capabilities]\nnetwork = ["127.0.0.1:*"]');
      const locate = { name: 'location_get', args: {} };
      expect((await use(adam, agent, locate)).offered).to.not.include('location_get');
      await settings(`${config(USUAL)}[web]\nlocation_url = "http://127.0.0.1:${port}/json"\n`);
      expect((await use(adam, agent, locate)).results[0]).to.match(/from inside/);
      const away = await made(adam, 'away', '[capabilities]\nnetwork = ["example.org"]');
      expect((await use(adam, away, locate)).results[0]).to.match(/may not reach/);
    });

    it('reaches a private address that an admin granted literally, until they are no admin', async () => {
      const fetch = { name: 'web_fetch', args: { url: `http://127.0.0.1:${port}/` } };
      const granted = await made(adam, 'inside', '[capabilities]\nnetwork = ["127.0.0.1:*"]');
      const wide = await made(adam, 'wide', '[capabilities]\nnetwork = ["*"]');
      expect((await use(adam, granted, fetch)).results[0]).to.match(/from inside/);
      expect((await use(adam, wide, fetch)).results[0]).to.match(/is not allowed: its address is this machine/);
      await settings(config({ alice: 'user', adam: 'user' }));
      expect((await use(adam, granted, fetch)).results[0]).to.match(/network = "127.0.0.1:\*" needs the permission private_network/);
    });
  });
});
