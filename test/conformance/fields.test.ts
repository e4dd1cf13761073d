/** The fields that clients of such daemons read: of agents, in lists and in sockets, and of the daemon itself. */
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { openChat } from '../clients/chat-socket.js';
import { useModelKernel } from '../clients/model-kernel.js';

const DEFAULT = { model_provider: 'openai', model_name: 'gpt-4o' };
const KEYLESS = 'name = "keyless"\n[model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-6"\n';
const OPEN_MODEL = 'name = "open"\n[model]\nprovider = "openai"\n';

describe('the fields of an agent', () => {
  const bootWithModel = useModelKernel();

  it('say who answers, whether it could now, what it did and what that cost', async () => {
    const { http } = await bootWithModel({ text: 'hello', usage: { input: 1_000_000, output: 0 } });
    const { body: agent } = await http.expect(201, 'POST', '/api/agents', { name: 'a-priced-one', model: 'gpt-5-mini' });
    const { tier, input_cost_per_m } = (await http.expect(200, 'GET', '/api/models/gpt-5-mini')).body;
    const before = (await http.expect(200, 'GET', '/api/agents')).body.items[0];
    expect(before).to.include({ id: agent.agent_id, ready: true, auth_status: 'configured', model_tier: tier, supports_thinking: true, is_hand: false, schedule: 'manual', profile: null });
    expect(before).to.include({ last_active: null, has_processed_message: false, session_count: 0, sessions_24h: 0, cost_24h: 0 });
    expect(before.identity).to.deep.equal({ emoji: null, avatar_url: null, color: null, archetype: null, vibe: null, greeting_style: null });

    await http.expect(200, 'POST', `/api/agents/${agent.agent_id}/message`, { message: 'hi' });

    const [after] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    expect(after).to.include({ session_count: 1, sessions_24h: 1, has_processed_message: true, cost_24h: input_cost_per_m });
    expect(Date.parse(after.last_active)).to.be.at.least(Date.parse(after.created_at));
    const { model: _model, ...detail } = (await http.expect(200, 'GET', `/api/agents/${agent.agent_id}`)).body;
    expect(detail).to.deep.include(after);
  });

  it('tell how it looks to people, where its metadata says so in a form that pages can show', async () => {
    const { http } = await bootWithModel();
    const look = async (name: string, metadata: string) => {
      const { body } = await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n${metadata}` });
      return (await http.expect(200, 'GET', `/api/agents/${body.agent_id}`)).body.identity;
    };
    const none = { emoji: null, avatar_url: null, color: null, archetype: null, vibe: null, greeting_style: null };
    expect(await look('flat', '[metadata]\nemoji = "🦊"\ncolor = "#ff8800"\n')).to.deep.equal({ ...none, emoji: '🦊', color: '#ff8800' });
    expect(await look('inner', '[metadata.identity]\nvibe = "calm"\navatar_url = "https://example.org/a.png"\n')).to.deep.equal({ ...none, vibe: 'calm', avatar_url: 'https://example.org/a.png' });
    expect(await look('odd', '[metadata]\nemoji = 7\ncolor = "red; background: url(x)"\navatar_url = "javascript:alert(1)"\n')).to.deep.equal(none);
  });

  it('tell an agent that cannot answer from one that can: no key, an unknown provider', async () => {
    const { http } = await bootWithModel();
    await http.expect(201, 'POST', '/api/agents', { manifest_toml: KEYLESS });
    await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "lost"\n[model]\nprovider = "nobody"\nmodel = "x"\n' });

    const { agents } = (await http.expect(200, 'GET', '/api/agents')).body;
    const named = (name: string) => agents.find((one: { name: string }) => one.name === name);

    expect(named('keyless')).to.include({ ready: false, auth_status: 'missing', model_provider: 'anthropic', model_name: 'claude-sonnet-4-6' });
    expect(named('lost')).to.include({ ready: false, auth_status: null, model_tier: 'unknown' });
  });

  it('show the model that answers wherever the manifest leaves it open: list, detail, status, socket', async () => {
    const { http, kernel } = await bootWithModel();
    const { body: open } = await http.expect(201, 'POST', '/api/agents', { manifest_toml: OPEN_MODEL });
    const { body: named } = await http.expect(201, 'POST', '/api/agents', { name: 'named', model: 'gpt-5-mini' });
    const expected: Record<string, object> = { assistant: DEFAULT, open: DEFAULT, named: { model_provider: 'openai', model_name: 'gpt-5-mini' } };
    const check = (agents: Array<{ name: string }>, where: string) => {
      for (const [name, model] of Object.entries(expected))
        expect(
          agents.find((one) => one.name === name),
          `${name} in ${where}`,
        ).to.include(model);
    };

    check((await http.expect(200, 'GET', '/api/agents')).body.agents, 'the list');
    check((await http.expect(200, 'GET', '/api/status')).body.agents, 'status');
    const chat = await openChat(kernel.url, open.agent_id);
    check((await chat.next('agents_updated')).agents, 'the socket');
    chat.socket.close();
    const detail = (await http.expect(200, 'GET', `/api/agents/${named.agent_id}`)).body;
    expect(detail.model).to.deep.include({ provider: 'openai', model: 'gpt-5-mini', asked: { provider: 'default', model: 'gpt-5-mini' } });
  });

  it('list the agents below it', async () => {
    const { http, kernel, agent } = await bootWithModel([{ toolCalls: [{ name: 'agent_spawn', args: { name: 'child', system_prompt: 'Help.' } }] }, { text: 'done' }]);
    const { body: parent } = await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "parent"\n[capabilities]\ntools = ["agent_spawn"]\nagent_spawn = true\n' });
    await http.expect(200, 'POST', `/api/agents/${parent.agent_id}/message`, { message: 'make one' });
    const { agents } = (await kernel.http.expect(200, 'GET', '/api/agents')).body;
    const child = agents.find((one: { name: string }) => one.name === 'child');
    expect(child.parent_agent_id).to.equal(parent.agent_id);
    expect(agents.find((one: { id: string }) => one.id === parent.agent_id).children).to.deep.equal([child.id]);
    expect(agents.find((one: { id: string }) => one.id === agent.id).children).to.deep.equal([]);
  });

  it('are filtered by state and owner and ordered by the newest run; a state that is none is refused', async () => {
    const { http, agent } = await bootWithModel({ text: 'hello' });
    const { body: other } = await http.expect(201, 'POST', '/api/agents', { name: 'another' });
    await http.expect(200, 'POST', `/api/agents/${other.agent_id}/message`, { message: 'hi' });
    const ids = async (query: string) => (await http.expect(200, 'GET', `/api/agents?${query}`)).body.agents.map((one: { id: string }) => one.id);

    expect(await ids('sort=last_active&order=desc')).to.deep.equal([other.agent_id, agent.id]);
    expect(await ids('status=running&include_hands=true')).to.have.length(2);
    expect(await ids('status=suspended')).to.deep.equal([]);
    expect(await ids('owner=owner&limit=1&offset=1')).to.deep.equal([agent.id]);
    expect(await ids('owner=user:nobody')).to.deep.equal([]);
    expect((await http.get('/api/agents?status=runing')).body).to.include({ code: 'agents_unknown_state' });
    expect((await http.get('/api/agents?sort=age')).status).to.equal(400);
    expect((await http.get('/api/agents?limit=0')).status).to.equal(400);
  });
});

describe('the fields of the daemon', () => {
  const bootWithModel = useModelKernel();

  it('count what it holds and say where it is, in status and in health/detail', async () => {
    const { http, agent, kernel } = await bootWithModel({ text: 'hello' }, { config: `log_level = "warn"\n${OPEN_RATE}` });
    await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hi' });

    const status = (await http.expect(200, 'GET', '/api/status')).body;
    const detail = (await http.expect(200, 'GET', '/api/health/detail')).body;

    for (const body of [status, detail]) expect(body).to.include({ agent_count: 1, active_agent_count: 0, session_count: 1 });
    for (const body of [status, detail]) expect(body.memory_used_mb).to.be.above(10);
    expect(status).to.include({ home_dir: kernel.home, log_level: 'warn', config_exists: true, network_enabled: false, terminal_enabled: true });
    expect(status.hostname).to.be.a('string').and.not.empty;
    expect(status.api_listen).to.equal(new URL(kernel.url).host);
  });

  it('say null, not nothing, of what an area that is off would know', async () => {
    const { http, kernel } = await bootWithModel();
    await kernel.daemon.kernel.disable('sessions', { force: true });

    expect((await http.expect(200, 'GET', '/api/status')).body.session_count).to.equal(null);
    expect((await http.expect(200, 'GET', '/api/agents')).body.agents[0]).to.include({ session_count: null, sessions_24h: null });
  });
});
