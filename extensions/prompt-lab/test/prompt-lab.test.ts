/** Prompt versions and experiments over HTTP, with a model on its wire. */
import { createHash } from 'node:crypto';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEYS = { owner: 'prompts-root-key', alice: 'prompts-alice-key', bob: 'prompts-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const NOWHERE = '00000000-0000-4000-8000-000000000000';

interface Arm {
  readonly variant_id: string;
  readonly impressions: number;
  readonly wins: number;
}

describe('prompt-lab', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let http: TestHttp;
  let agent: string;
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[prompt_intelligence]\nenabled = true\n${person('alice')}${person('bob')}`, key: KEYS.owner });
    http = world.kernel.as(KEYS.alice);
  });
  beforeEach(async () => {
    const manifest_toml = `name = "asked-${Math.random().toString(36).slice(2)}"\n[model]\nprovider = "default"\nmodel = "default"\nsystem_prompt = "As it was."\n`;
    agent = (await http.expect(201, 'POST', '/api/agents', { manifest_toml })).body.agent_id;
  });
  afterEach(async () => {
    for (const { id, status } of (await http.expect(200, 'GET', `/agents/${agent}/prompts/experiments`)).body.experiments) if (status === 'running' || status === 'paused') await move(id, 'complete');
  });
  after(stopModelKernels);
  const save = async (system_prompt: string) => (await http.expect(200, 'POST', `/agents/${agent}/prompts/versions`, { system_prompt })).body;
  const list = async (): Promise<Array<Record<string, unknown>>> => (await http.expect(200, 'GET', `/agents/${agent}/prompts/versions`)).body.versions;
  const draft = (versions: readonly string[], traffic_split = [50, 50]) => ({ name: 'tone', variants: versions.map((prompt_version_id) => ({ name: 'arm', prompt_version_id })), traffic_split });
  const compare = async (versions: readonly string[], split?: number[]): Promise<string> => (await http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, draft(versions, split))).body.id;
  const move = (id: string, action: string, body?: unknown) => http.send('POST', `/prompts/experiments/${id}/${action}`, body);
  const metrics = async (id: string): Promise<Arm[]> => (await http.expect(200, 'GET', `/prompts/experiments/${id}/metrics`)).body.metrics;
  const two = async (): Promise<string[]> => [(await save('One.')).id, (await save('Two.')).id];

  it('keep versions, activate one, and refuse to delete the active one', async () => {
    const made = await save('Be brief.');
    expect(made).to.include({ agent_id: agent, system_prompt: 'Be brief.', is_active: false, created_by: 'user:alice' });
    expect(made.content_hash).to.equal(createHash('sha256').update('Be brief.').digest('hex'));
    expect((await http.expect(200, 'POST', `/prompts/versions/${made.id}/activate`)).body.is_active).to.equal(true);
    expect((await http.expect(200, 'GET', `/api/agents/${agent}`)).body.manifest_toml).to.include('Be brief.');
    expect((await http.expect(409, 'DELETE', `/api/prompts/versions/${made.id}`)).body.code).to.equal('prompt_lab_in_use');
    const other = await save('Be long.');
    await http.expect(200, 'DELETE', `/prompts/versions/${other.id}`);
    await http.expect(404, 'GET', `/prompts/versions/${other.id}`);
  });

  it('save by themselves what an agent had before it got another prompt, and what it has when it is changed elsewhere', async () => {
    const made = await save('Be brief.');
    expect((await list()).map((one) => one.system_prompt)).to.deep.equal(['Be brief.', 'As it was.']);
    await http.expect(200, 'POST', `/prompts/versions/${made.id}/activate`);
    await http.expect(200, 'PATCH', `/api/agents/${agent}/config`, { system_prompt: 'From elsewhere.' });
    await until(async () => (await list())[0]?.system_prompt === 'From elsewhere.');
    expect((await list())[0]).to.include({ is_active: true, created_by: 'svc', version: 3 });
  });

  it('number versions that are saved at once one by one, and keep fifty', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => save(`At once ${at}.`)));
    expect((await list()).map((one) => one.version)).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    for (let at = 0; at < 45; at += 1) await save(`Later ${at}.`);
    const { body } = await http.expect(200, 'GET', `/agents/${agent}/prompts/versions?limit=100`);
    expect(body.total).to.be.within(50, 51);
    expect(
      body.versions.some((one: { is_active: boolean }) => one.is_active),
      'the active one stays',
    ).to.equal(true);
  });

  it('P1 P2 count each run for the arm that its session keeps, also over pauses', async () => {
    const ids = await two();
    await http.expect(400, 'POST', `/agents/${agent}/prompts/experiments`, draft(ids, [50, 49]));
    await http.expect(400, 'POST', `/agents/${agent}/prompts/experiments`, draft(ids.slice(1), [100]));
    const id = await compare(ids);
    const second = await compare(ids);
    await http.expect(409, 'POST', `/prompts/experiments/${id}/pause`);
    expect((await http.expect(200, 'POST', `/prompts/experiments/${id}/start`)).body.status).to.equal('running');
    expect((await http.expect(409, 'POST', `/prompts/experiments/${second}/start`)).body.code).to.equal('prompt_lab_one_runs');
    expect((await http.expect(409, 'DELETE', `/prompts/versions/${ids[0]}`)).body.code).to.equal('prompt_lab_in_use');
    const sessions = await Promise.all(Array.from({ length: 12 }, async () => (await http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body.session_id as string));
    const asked = new Map<string, string>();
    const ask = async (session_id: string): Promise<string> => {
      const before = world.model.requests.length;
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hello', session_id });
      const text = JSON.stringify(world.model.requests[before]);
      return text.includes('One.') ? 'One.' : text.includes('Two.') ? 'Two.' : 'As it was.';
    };
    for (const session of sessions) asked.set(session, await ask(session));
    expect(new Set(asked.values())).to.deep.equal(new Set(['One.', 'Two.']));
    await move(id, 'pause');
    expect(await ask(sessions[0] ?? ''), 'while it is paused').to.equal('As it was.');
    await move(id, 'start');
    for (const session of sessions) expect(await ask(session)).to.equal(asked.get(session));
    await until(async () => (await metrics(id)).reduce((sum, arm) => sum + arm.impressions, 0) === 2 * sessions.length);
    const ones = [...asked.values()].filter((prompt) => prompt === 'One.').length;
    expect((await metrics(id)).map((arm) => arm.impressions)).to.deep.equal([2 * ones, 2 * (sessions.length - ones)]);
    const done = (await http.expect(200, 'POST', `/prompts/experiments/${id}/complete`)).body;
    expect([done.status, done.winner_variant_id, done.decision.by]).to.deep.equal(['completed', null, 'user:alice']);
  });

  it('P3 ask nothing of a message while no experiment runs', async () => {
    const id = await compare(await two());
    const taps = (): number => world.kernel.daemon.parts.hooks.taps.active().filter(({ owner, value }) => owner.id === 'prompt-lab' && value.hook.name === 'run.prompt').length;
    expect(taps()).to.equal(0);
    await move(id, 'start');
    expect(taps()).to.equal(1);
    await move(id, 'complete');
    expect(taps()).to.equal(0);
  });

  it('move an experiment once, whoever else moves it at the same time', async () => {
    const ids = await two();
    const id = await compare(ids);
    const others = await Promise.all([compare(ids), compare(ids), compare(ids)]);
    const moved = async (...actions: Array<readonly [string, string]>): Promise<number[]> =>
      (await Promise.all(actions.map(([which, action]) => move(which, action)))).map(({ status }) => status).toSorted();
    expect(await moved([id, 'start'], [id, 'start'], [id, 'start'], [id, 'start'])).to.deep.equal([200, 409, 409, 409]);
    expect(await moved([id, 'pause'], [id, 'pause'], [id, 'pause'])).to.deep.equal([200, 409, 409]);
    expect(await moved(...others.map((one) => [one, 'start'] as const), [id, 'start']), 'one experiment of an agent').to.deep.equal([200, 409, 409, 409]);
    const states = await Promise.all([id, ...others].map(async (one) => (await http.expect(200, 'GET', `/prompts/experiments/${one}`)).body));
    const running = states.filter(({ status }) => status === 'running');
    expect(running).to.have.length(1);
    const [a, b] = running[0].variants;
    const [first, second] = await Promise.all([move(running[0].id, 'complete', { winner_variant_id: a.id }), move(running[0].id, 'complete', { winner_variant_id: b.id })]);
    expect([first.status, second.status].toSorted()).to.deep.equal([200, 409]);
    const won = first.status === 200 ? 'One.' : 'Two.';
    expect((await list()).filter((one) => one.is_active).map((one) => one.system_prompt)).to.deep.equal([won]);
    for (const action of ['start', 'pause', 'complete']) expect((await move(running[0].id, action)).body.code).to.equal('prompt_lab_bad_move');
  });

  it('refuse what the experiment does not have, and a version that was deleted before the start', async () => {
    const ids = await two();
    const id = await compare(ids);
    const strict = await http.expect(200, 'POST', `/agents/${agent}/prompts/experiments`, { ...draft(ids), success_criteria: { require_user_helpful: true } });
    expect(strict.body.success_criteria).to.deep.equal({ require_user_helpful: true, require_no_tool_errors: false, require_non_empty: true });
    await http.expect(404, 'POST', `/agents/${agent}/prompts/experiments`, draft([ids[0] ?? '', NOWHERE]));
    await http.expect(200, 'DELETE', `/prompts/versions/${ids[1]}`);
    expect((await move(id, 'start')).body.code).to.equal('prompt_lab_version_gone');
    const other = await compare([ids[0] ?? '', (await save('Three.')).id]);
    await move(other, 'start');
    expect((await move(other, 'complete', { winner_variant_id: 'nobody' })).body.code).to.equal('prompt_lab_no_variant');
    const mine = agent;
    agent = (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "other-${Date.now()}"\n[model]\nprovider = "default"\nmodel = "default"\n` })).body.agent_id;
    const elsewhere = await two();
    expect((await http.expect(400, 'POST', `/agents/${mine}/prompts/experiments`, draft(elsewhere))).body.code).to.equal('prompt_lab_not_of_agent');
    agent = mine;
  });

  it('show nothing to another person, and let them change nothing', async () => {
    const ids = await two();
    const id = await compare(ids);
    const bob = world.kernel.as(KEYS.bob);
    for (const [method, path, body] of [
      ['GET', `/agents/${agent}/prompts/versions`],
      ['POST', `/agents/${agent}/prompts/versions`, { system_prompt: 'Mine.' }],
      ['GET', `/agents/${agent}/prompts/experiments`],
      ['POST', `/agents/${agent}/prompts/experiments`, draft(ids)],
      ['GET', `/prompts/versions/${ids[0]}`],
      ['DELETE', `/prompts/versions/${ids[0]}`],
      ['POST', `/prompts/versions/${ids[0]}/activate`],
      ['GET', `/prompts/experiments/${id}`],
      ['GET', `/prompts/experiments/${id}/metrics`],
      ...['start', 'pause', 'complete'].map((action) => ['POST', `/prompts/experiments/${id}/${action}`]),
    ] as Array<[string, string, unknown]>)
      await bob.expect(404, method, path, body);
    expect((await http.expect(200, 'GET', `/prompts/experiments/${id}`)).body.status).to.equal('draft');
    await world.http.expect(200, 'GET', `/prompts/experiments/${id}`);
  });
});

describe('prompt-lab, while its setting is not true', function () {
  this.timeout(60_000);
  after(() => stopTestKernels());

  it('answers 404 and names the setting', async () => {
    const { http } = await bootTestKernel({ config: OPEN_RATE });
    const [{ id }] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    for (const path of [`/agents/${id}/prompts/versions`, `/api/agents/${id}/prompts/experiments`, `/prompts/versions/${NOWHERE}`, `/prompts/experiments/${NOWHERE}/metrics`]) {
      const { body } = await http.expect(404, 'GET', path);
      expect([body.code, body.hint]).to.deep.equal(['prompt_lab_off', 'Set enabled = true under [prompt_intelligence] in config.toml.']);
    }
  });
});
