/** Changing agents over HTTP: what is taken, what is refused and how, and for whom. */
import { stopTestKernels, bootTestKernel, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootWithPeople, madeBy } from './people-kit.js';

describe('an agent that is changed over HTTP', () => {
  let svc: TestKernel;
  let path: string;
  before(async () => {
    svc = await bootTestKernel({ env: { OPENAI_API_KEY: 'sk-x', ANTHROPIC_API_KEY: 'sk-y' } });
  });
  after(stopTestKernels);
  beforeEach(async () => {
    path = `/api/agents/${(await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: `agent-${counter++}` } })).body.agent_id}`;
  });
  let counter = 0;

  const refused = async (method: string, at: string, body: unknown, status: number, code?: string): Promise<string> => {
    const answer = await svc.http.send(method, at, body);
    expect([answer.status, code === undefined ? code : answer.body.code], `${method} ${at} ${JSON.stringify(body).slice(0, 200)}: ${answer.text.slice(0, 300)}`).to.deep.equal([status, code]);
    expect(answer.body.error).to.be.a('string');
    return answer.body.error;
  };
  const shown = async () => (await svc.http.expect(200, 'GET', path)).body;

  it('has what PATCH named, and keeps the rest', async () => {
    const before = await shown();
    const { body } = await svc.http.expect(200, 'PATCH', path, { name: `${before.name}-new`, description: 'Reads.', system_prompt: 'You read.', model: 'gpt-5', auto_evolve: false });
    expect(body).to.deep.include({ status: 'ok', agent_id: before.id, name: `${before.name}-new`, revision: before.revision + 1 });
    expect(body.warnings.join()).to.contain('auto_evolve is stored and has no effect yet');
    const after = await shown();
    expect(after).to.deep.include({ name: `${before.name}-new`, description: 'Reads.', system_prompt: 'You read.', model_provider: 'openai', model_name: 'gpt-5', revision: 1 });
    expect(after.capabilities).to.deep.equal(before.capabilities);
  });

  it('has the manifest that PATCH brought, with its name, tags and looks where that says none', async () => {
    await svc.http.expect(200, 'PUT', `${path}/update`, { tags: ['old'] });
    await svc.http.expect(200, 'PATCH', `${path}/identity`, { emoji: '🦉' });
    const { name } = await shown();
    const { body } = await svc.http.expect(200, 'PATCH', path, { manifest_toml: 'name = "other"\ndescription = "new"\n[capabilities]\ntools = ["file_read"]\n' });
    expect(body).to.deep.include({ name });
    expect(body.warnings.join()).to.contain('keeps its name');
    expect(body.note).to.be.a('string');
    const after = await shown();
    expect(after).to.deep.include({ name, description: 'new', tags: ['old'] });
    expect([after.identity.emoji, after.capabilities.tools]).to.deep.equal(['🦉', ['file_read']]);
    await svc.http.expect(200, 'PATCH', path, { manifest_toml: 'tags = ["new"]\n[metadata]\nteam = "red"\n' });
    expect(await shown()).to.deep.include({ tags: ['new'], kept: { metadata: { identity: { emoji: '🦉' }, team: 'red' } } });
    expect(await refused('PATCH', path, { manifest_toml: 'name = "x"\ntemperature = 9\n' }, 400, 'agents_invalid_manifest')).to.contain('line 2');
    expect(await refused('PATCH', path, { manifest_toml: 'name = [' }, 400, 'agents_invalid_manifest')).to.contain('not TOML');
    await refused('PATCH', path, { manifest_toml: 'name = "x"', description: 'y' }, 400, 'agents_not_alone');
    await refused('PATCH', path, { manifest_toml: `#${'x'.repeat(1_048_576)}` }, 413, 'manifest_too_large');
  });

  it('is refused what no manifest may have, with the field', async () => {
    await refused('PATCH', path, {}, 400, 'agents_nothing_to_change');
    await refused('PATCH', `${path}/config`, {}, 400, 'agents_nothing_to_change');
    await refused('PATCH', `${path}/identity`, { emoji: null }, 400, 'agents_nothing_to_change');
    await refused('PUT', `${path}/update`, {}, 400, 'agents_nothing_to_change');
    expect(await refused('PATCH', path, { capabilities: { shell: ['*'] } }, 400)).to.contain('capabilities is not a field');
    expect(await refused('PATCH', `${path}/config`, { temprature: 1 }, 400)).to.contain('temprature');
    expect(await refused('PUT', `${path}/update`, { descripton: 'x' }, 400, 'agents_unknown_field')).to.contain('description');
    expect(await refused('PUT', `${path}/update`, { capabilities: { shel: ['*'] } }, 400, 'agents_invalid_manifest')).to.contain('shell');
    await refused('PUT', `${path}/update`, { workspace: '/etc' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', path, { name: 'a\u0007b' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', path, { name: '  ' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', path, { name: '_operator:x' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', path, { mcp_servers: Array.from({ length: 51 }, String) }, 400);
    for (const temperature of [-0.1, 2.1, 'warm']) await refused('PATCH', `${path}/config`, { temperature }, 400);
    for (const max_tokens of [0, -1, 1.5]) await refused('PATCH', `${path}/config`, { max_tokens }, 400);
    await refused('PATCH', `${path}/config`, { web_search_augmentation: 'sometimes' }, 400);
    expect((await shown()).revision).to.equal(0);
  });

  it('is refused texts that are too long with 413', async () => {
    for (const at of [path, `${path}/config`]) {
      await refused('PATCH', at, { name: 'x'.repeat(257) }, 413, 'agents_field_too_long');
      await refused('PATCH', at, { description: 'x'.repeat(4_097) }, 413, 'agents_field_too_long');
      await refused('PATCH', at, { system_prompt: 'x'.repeat(65_537) }, 413, 'agents_field_too_long');
    }
    await refused('PUT', `${path}/update`, { model: { system_prompt: 'x'.repeat(65_537) } }, 413, 'agents_field_too_long');
    await svc.http.expect(200, 'PATCH', path, { system_prompt: '🦉'.repeat(65_536) });
  });

  it('takes no name that is taken', async () => {
    const { name } = await shown();
    await svc.http.expect(201, 'POST', '/api/agents', { name: `${name}-2` });
    await refused('PATCH', path, { name: `${name}-2` }, 409, 'agent_already_exists');
    await refused('PATCH', `${path}/config`, { name: `${name}-2` }, 409, 'agent_already_exists');
  });

  it('has the settings that PATCH config named, and no other address or key', async () => {
    await svc.http.expect(200, 'PATCH', `${path}/config`, {
      description: 'd',
      system_prompt: 'p',
      emoji: '🦉',
      model: 'gpt-5',
      provider: 'openai',
      max_tokens: 100,
      temperature: 2,
      api_key_env: 'OPENAI_API_KEY',
      base_url: '',
      fallback_models: [{ provider: 'anthropic', model: 'claude-sonnet-4' }],
    });
    const after = await shown();
    expect(after.model).to.deep.include({ provider: 'openai', model: 'gpt-5', max_tokens: 100, temperature: 2 });
    expect(after.fallback_models).to.deep.equal([{ provider: 'anthropic', model: 'claude-sonnet-4' }]);
    await refused('PATCH', `${path}/config`, { base_url: 'http://127.0.0.1:9/v1' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', `${path}/config`, { api_key_env: 'HOME' }, 400, 'agents_invalid_manifest');
    await refused('PATCH', `${path}/config`, { fallback_models: [{ provider: 'openai', model: 'x', key: 'y' }] }, 400);
  });

  it('with a provider alone keeps the model where that has it, and else has its usual one', async () => {
    await svc.http.expect(200, 'PATCH', `${path}/config`, { provider: 'openai' });
    await svc.http.expect(200, 'PUT', `${path}/model`, { model: 'gpt-5' });
    await svc.http.expect(200, 'PATCH', `${path}/config`, { provider: 'anthropic' });
    expect((await shown()).model.asked).to.deep.equal({ provider: 'anthropic', model: 'default' });
    await refused('PATCH', `${path}/config`, { provider: 'opnai' }, 404, 'agents_unknown_provider');
  });

  it('looks as PATCH identity says, and null keeps while an empty text takes away', async () => {
    const look = { emoji: '🦉', avatar_url: 'https://example.org/o.png', color: '#3b6ea5', archetype: 'researcher', vibe: 'concise', greeting_style: 'warm' };
    await svc.http.expect(200, 'PATCH', `${path}/identity`, look);
    expect((await shown()).identity).to.deep.equal(look);
    await svc.http.expect(200, 'PATCH', `${path}/identity`, { emoji: '', vibe: null, color: '#fff' });
    expect((await shown()).identity).to.deep.equal({ ...look, emoji: null, color: '#fff' });
    const listed = (await svc.http.expect(200, 'GET', '/api/agents')).body.agents.find(({ id }: { id: string }) => path.endsWith(id));
    expect(listed.identity.color).to.equal('#fff');
    for (const at of ['identity', 'config']) {
      await refused('PATCH', `${path}/${at}`, { color: 'red' }, 400, 'agents_bad_color');
      for (const avatar_url of ['javascript:alert(1)', 'data:text/html,<script>', 'ftp://x/y', 'https://x/ y']) await refused('PATCH', `${path}/${at}`, { avatar_url }, 400, 'agents_bad_avatar');
      await refused('PATCH', `${path}/${at}`, { vibe: 'a\nb' }, 400, 'agents_bad_identity');
    }
    await refused('PATCH', `${path}/identity`, { face: 'x' }, 400);
    await refused('PATCH', `${path}/identity`, { emoji: 'x'.repeat(65) }, 400);
  });

  it('is updated by any part of a manifest', async () => {
    const { body } = await svc.http.expect(200, 'PUT', `${path}/update`, {
      description: 'd',
      system_prompt: 'p',
      tags: ['a'],
      model: { temperature: 1 },
      capabilities: { network: ['*.example.org'] },
    });
    expect(body).to.deep.include({ status: 'updated', revision: 1 });
    const after = await shown();
    expect(after).to.deep.include({ description: 'd', system_prompt: 'p', tags: ['a'] });
    expect([after.model.temperature, after.capabilities.network]).to.deep.equal([1, ['*.example.org']]);
    await svc.http.expect(200, 'PUT', `${path}/update`, { manifest_toml: 'name = "x"\n' });
    expect((await shown()).capabilities.network).to.deep.equal([]);
    await refused('PUT', `${path}/update`, { manifest_toml: 'name = "x"', tags: [] }, 400, 'agents_not_alone');
  });

  it('switches to the model that was meant', async () => {
    const to = async (body: object) => {
      const answer = (await svc.http.expect(200, 'PUT', `${path}/model`, body)).body;
      expect(answer.status).to.equal('updated');
      return `${answer.provider}/${answer.model}`;
    };
    expect(await to({ model: 'gpt-5' })).to.equal('openai/gpt-5');
    expect(await to({ model: 'openai/gpt-5-mini' })).to.equal('openai/gpt-5-mini');
    expect(await to({ model: 'openai:gpt-5' })).to.equal('openai/gpt-5');
    expect(await to({ model: 'openai/gpt-5', provider: 'openai' })).to.equal('openai/gpt-5');
    expect(await to({ model: 'qwen3:my-own', provider: 'ollama' })).to.equal('ollama/qwen3:my-own');
    expect(await to({ model: 'another-of-mine' })).to.equal('ollama/another-of-mine');
    expect(await to({ model: 'default' })).to.equal('default/default');
    expect(await refused('PUT', `${path}/model`, { model: 'x', provider: 'opnai' }, 404, 'agents_unknown_provider')).to.contain('openai');
    await refused('PUT', `${path}/model`, {}, 400);
    await refused('PUT', `${path}/model`, { model: '' }, 400);
    await refused('PUT', `${path}/model`, { model: ' ' }, 400);
    await refused('PUT', `${path}/model`, { model: 'gpt-5', provider: ' ' }, 400);
    expect((await shown()).model.asked).to.deep.equal({ provider: 'default', model: 'default' });
  });

  it('takes a model that no catalog knows at each channel as a new agent does, with the same warning', async () => {
    const expected = 'The catalog has no model "gpt-55" of openai. It is asked for by that name. Did you mean gpt-5';
    const choice = { provider: 'openai', model: 'gpt-55' };
    const fresh = async () => `/api/agents/${(await svc.http.expect(201, 'POST', '/api/agents', { name: `agent-${counter++}` })).body.agent_id}`;
    const adapters: ReadonlyArray<readonly [method: string, at: string, body: object]> = [
      ['POST', '/api/agents', { name: `agent-${counter++}`, model: choice }],
      ['POST', '/api/agents', { manifest: { name: `agent-${counter++}`, model: choice } }],
      ['PUT', `${await fresh()}/model`, choice],
      ['PUT', `${await fresh()}/model`, { model: 'openai/gpt-55' }],
      ['PATCH', await fresh(), choice],
      ['PATCH', `${await fresh()}/config`, choice],
      ['PUT', `${await fresh()}/update`, { model: choice }],
    ];
    for (const [method, at, body] of adapters) {
      const answer = await svc.http.send(method, at, body);
      expect(answer.status, `${method} ${at}: ${answer.text}`).to.be.oneOf([200, 201]);
      expect(answer.body.warnings?.join(), `${method} ${at}`).to.contain(expected);
      const { model } = (await svc.http.expect(200, 'GET', `/api/agents/${answer.body.agent_id ?? at.split('/')[3]}`)).body;
      expect(`${model.provider}/${model.model}`).to.equal('openai/gpt-55');
    }
    expect((await svc.http.expect(200, 'PUT', `${path}/model`, { model: 'gpt-5' })).body.warnings).to.equal(undefined);
  });

  it('is Stable, and its model stays whatever is asked for', async () => {
    await svc.http.expect(200, 'PUT', `${path}/model`, { model: 'gpt-5' });
    const { body } = await svc.http.expect(200, 'PUT', `${path}/mode`, { mode: 'stable' });
    expect(body).to.deep.include({ status: 'updated', mode: 'Stable', model_provider: 'openai', model_name: 'gpt-5' });
    expect(await shown()).to.deep.include({ mode: 'Stable', pinned_model: 'openai/gpt-5' });
    await refused('PUT', `${path}/model`, { model: 'gpt-5-mini' }, 409, 'agents_model_pinned');
    await refused('PATCH', `${path}/config`, { provider: 'anthropic' }, 409, 'agents_model_pinned');
    await svc.http.expect(200, 'PATCH', `${path}/config`, { temperature: 0 });
    await svc.http.expect(200, 'PUT', `${path}/mode`, { mode: 'Normal' });
    expect(await shown()).to.deep.include({ mode: 'Normal', pinned_model: null });
    await svc.http.expect(200, 'PUT', `${path}/model`, { model: 'gpt-5-mini' });
    expect(await refused('PUT', `${path}/mode`, { mode: 'wild' }, 400, 'agents_unknown_mode')).to.contain('Stable, Normal');
    await refused('PUT', `${path}/mode`, {}, 400);
  });

  it('refuses a change of a revision that is past, over each channel', async () => {
    await svc.http.expect(200, 'PATCH', path, { description: 'one', revision: 0 });
    for (const [method, at, body] of [
      ['PATCH', path, { description: 'two' }],
      ['PATCH', path, { manifest_toml: 'name = "x"' }],
      ['PATCH', `${path}/config`, { temperature: 1 }],
      ['PATCH', `${path}/identity`, { emoji: 'x' }],
      ['PUT', `${path}/update`, { tags: ['x'] }],
    ] as const)
      await refused(method, at, { ...body, revision: 0 }, 409, 'agents_changed_meanwhile');
    expect((await shown()).description).to.equal('one');
  });

  it('tells an id that is none from one that nobody has', async () => {
    for (const [method, at, body] of [
      ['PATCH', '', { description: 'x' }],
      ['PATCH', '/config', { temperature: 1 }],
      ['PATCH', '/identity', { emoji: 'x' }],
      ['PUT', '/update', { tags: ['x'] }],
      ['PUT', '/mode', { mode: 'Normal' }],
      ['PUT', '/model', { model: 'gpt-5' }],
      ['POST', '/clone', {}],
    ] as const) {
      await refused(method, `/api/agents/nobody${at}`, body, 400, 'invalid_agent_id');
      await refused(method, `/api/agents/00000000-0000-4000-8000-000000000000${at}`, body, 404, 'agent_not_found');
    }
  });

  it('shows a text from which the same agent can be made again', async () => {
    const written = {
      name: 'whole',
      version: '2.1.0',
      description: 'Says "yes"\nand \\ no',
      author: 'someone',
      tags: ['a', 'b'],
      enabled: false,
      priority: 'High',
      metadata: { identity: { emoji: '🦉' }, deep: { list: [{ a: 1 }, { b: [1.5, 2] }], when: '2026-01-01' } },
      model: {
        provider: 'openai',
        model: 'gpt-5',
        max_tokens: 77,
        temperature: 0,
        system_prompt: 'one\n"""two"""\n\ttab\u0001',
        request_timeout_secs: 9,
        context_window: 5_000,
        max_output_tokens: 70,
      },
      thinking: { budget_tokens: 2_048, stream_thinking: true },
      fallback_models: [{ provider: 'anthropic', model: 'claude-sonnet-4' }],
      max_history_messages: 30,
      pinned_model: 'openai/gpt-5-mini',
      profile: 'coding',
      capabilities: { network: ['*.example.org:*'], shell: ['git status'], memory_read: ['*'], agent_spawn: true, agent_message: ['x'], file_system: false, max_llm_tokens_per_hour: 0 },
      exec_policy: { mode: 'allowlist', allowed_commands: ['git'], allowed_env_vars: [], timeout_secs: 5 },
      resources: { burst_ratio: 0.5, max_cost_per_day_usd: 1.25, max_concurrent_tools: 2, max_tool_calls_per_minute: 0, max_memory_bytes: 1 },
      autonomous: { max_iterations: 9, unwatched: 'cancel', quiet_hours: '0 22 * * *' },
      tool_allowlist: ['git*'],
      tool_blocklist: ['x'],
      tools_disabled: true,
    };
    for (const manifest of [written, { name: 'bare' }]) {
      const spawn = async (body: object) => (await svc.http.expect(200, 'GET', `/api/agents/${(await svc.http.expect(201, 'POST', '/api/agents', body)).body.agent_id}`)).body;
      const first = await spawn({ manifest });
      const again = await spawn({ manifest_toml: first.manifest_toml, name: `${manifest.name}-again` });
      const { id: _id, name: _name, created_at: _at, session_id: _session, manifest_toml: text, ...rest } = again;
      const { id: _, name: _n, created_at: _c, session_id: _s, manifest_toml: _t, ...before } = first;
      expect(rest).to.deep.equal(before);
      expect(text.replace('-again', '')).to.equal(first.manifest_toml);
    }
  });
});

describe('people who change agents', () => {
  afterEach(stopModelKernels);

  it("find nobody else's, may not where they only look, and give no more than they could have made", async () => {
    const { owner, adam, alice, bob, vera } = await bootWithPeople();
    const path = await madeBy(alice, 'hers');
    const changes = [
      ['PATCH', '', { description: 'x' }],
      ['PATCH', '/config', { temperature: 1 }],
      ['PATCH', '/identity', { emoji: 'x' }],
      ['PUT', '/update', { tags: ['x'] }],
      ['PUT', '/mode', { mode: 'observe' }],
      ['PUT', '/model', { model: 'gpt-5' }],
      ['POST', '/clone', {}],
    ] as const;
    for (const [method, at, body] of changes) {
      expect((await bob.send(method, path + at, body)).body.code, `bob ${at}`).to.equal('agent_not_found');
      expect((await vera.send(method, path + at, body)).status, `vera ${at}`).to.equal(403);
      expect((await alice.send(method, path + at, body)).status, `alice ${at}`).to.be.oneOf([200, 201]);
    }
    const grab = { capabilities: { shell: ['*'] } };
    for (const http of [alice, owner, adam]) {
      const refused = await http.send('PUT', `${path}/update`, grab);
      expect([refused.status, refused.body.code], refused.text).to.deep.equal([403, 'agents_change_denied']);
      expect(refused.body.error).to.contain('full_shell');
    }
    expect((await alice.send('PATCH', path, { manifest_toml: '[capabilities]\nshell = ["cat *"]\n' })).status).to.equal(403);
    expect((await owner.expect(200, 'GET', path)).body.capabilities.shell).to.deep.equal([]);
    const own = await madeBy(owner, 'powerful');
    await owner.expect(200, 'PUT', `${own}/update`, grab);
  });

  it('cannot lift a limit of what they could not have granted, and may change its name', async () => {
    const { owner, adam, kernel } = await bootWithPeople();
    const { writeFile, readFile } = await import('node:fs/promises');
    const file = `${kernel.home}/config.toml`;
    await writeFile(file, `${await readFile(file, 'utf8')}\n[capabilities]\nadmin = ["network"]\n`);
    await kernel.daemon.reloadConfig('test');
    const path = await madeBy(owner, 'root', 'exec_policy = "deny"\ntool_blocklist = ["web_fetch"]\n[capabilities]\nshell = ["*"]\n');
    await adam.expect(200, 'PATCH', path, { description: 'by adam' });
    await adam.expect(200, 'PUT', `${path}/update`, { tools_disabled: true });
    for (const change of [{ exec_policy: null }, { tools_disabled: false }, { tool_blocklist: null }, { resources: { max_tool_calls_per_minute: 0 }, exec_policy: 'full' }])
      expect((await adam.send('PUT', `${path}/update`, change)).status, JSON.stringify(change)).to.equal(403);
    await owner.expect(200, 'PUT', `${path}/update`, { exec_policy: null, tools_disabled: false });
  });

  it('cannot give a child more than its parent has', async () => {
    const { alice, model } = await bootWithPeople();
    const parent = await madeBy(alice, 'parent', '[capabilities]\ntools = ["agent_spawn", "file_read"]\nagent_spawn = true\n');
    model.script([{ toolCalls: [{ name: 'agent_spawn', args: { name: 'child', system_prompt: 'You help.', tools: ['file_read'] } }] }, { text: 'done' }]);
    await alice.expect(200, 'POST', `${parent}/message`, { message: 'go' });
    const [child] = (await alice.expect(200, 'GET', parent)).body.children;
    const refused = await alice.send('PUT', `/api/agents/${child}/update`, { capabilities: { tools: ['file_read', 'web_fetch'], network: ['*'] } });
    expect([refused.status, refused.body.error]).to.satisfy(([status, error]: [number, string]) => status === 403 && error.startsWith('Privilege escalation denied'));
    await alice.expect(200, 'PATCH', `/api/agents/${child}`, { description: 'still a child' });
  });
});

describe('the mode of an agent that uses tools', () => {
  afterEach(stopModelKernels);

  it('O2 decides at each call which tools there are, also in a run that is under way', async () => {
    const { alice, model } = await bootWithPeople();
    const path = await madeBy(alice, 'worker', '[capabilities]\ntools = ["*"]\nnetwork = ["*"]\n');
    const read = { name: 'file_list', args: {} };
    const write = { name: 'file_write', args: { path: 'a.txt', content: 'x' } };
    const use = async () => {
      const from = model.requests.length;
      model.script([{ toolCalls: [read, write] }, { text: 'done' }]);
      await alice.expect(200, 'POST', `${path}/message`, { message: 'go' });
      const first = (model.requests[from]?.body ?? {}) as { tools?: Array<{ function: { name: string } }> };
      const offered = (first.tools ?? []).map((tool) => tool.function.name);
      const last = (model.requests.at(-1)?.body.messages ?? []) as Array<{ role: string; content: string }>;
      const results = last.filter(({ role }) => role === 'tool').map(({ content }) => content);
      return { offered, results: results.slice(-2) };
    };
    expect((await use()).offered).to.include.members(['file_list', 'file_write', 'web_fetch']);

    await alice.expect(200, 'PUT', `${path}/mode`, { mode: 'assist' });
    const assist = await use();
    expect(assist.offered).to.include.members(['file_list', 'web_fetch', 'agent_list']);
    expect(assist.offered).not.to.include.members(['file_write']);
    expect(assist.results[0]).not.to.contain('mode is');
    expect(assist.results[1]).to.contain('its mode is assist');

    await alice.expect(200, 'PUT', `${path}/mode`, { mode: 'observe' });
    const observe = await use();
    expect(observe.offered).to.deep.equal([]);
    for (const result of observe.results) expect(result).to.contain('its mode is observe');

    await alice.expect(200, 'PUT', `${path}/mode`, { mode: 'full' });
    expect((await use()).results[1]).not.to.contain('mode is');
    expect((await alice.expect(200, 'GET', path)).body.mode).to.equal('full');
  });

  it('is validated of now, not of when the run began', async () => {
    const latch: { open?: () => void } = {};
    const opened = new Promise<void>((resolve) => {
      latch.open = resolve;
    });
    let asked = 0;
    const { alice, model } = await bootWithPeople(async () => {
      asked += 1;
      if (asked > 1) return { text: 'done' };
      await opened;
      return { toolCalls: [{ name: 'file_write', args: { path: 'a.txt', content: 'x' } }] };
    });
    const path = await madeBy(alice, 'worker');
    const answer = alice.expect(200, 'POST', `${path}/message`, { message: 'go' });
    await until(() => asked === 1);
    await alice.expect(200, 'PUT', `${path}/mode`, { mode: 'assist' });
    latch.open?.();
    await answer;
    const last = (model.requests.at(-1)?.body.messages ?? []) as Array<{ role: string; content: string }>;
    expect(last.find(({ role }) => role === 'tool')?.content).to.contain('its mode is assist');
  });
});
