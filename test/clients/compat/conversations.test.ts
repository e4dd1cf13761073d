/** Which conversation of an agent a request at /v1 belongs to. */
import { createHash } from 'node:crypto';
import { describeDaemonOnEngines, OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '../model-kernel.js';

const NOBODY = '00000000-0000-4000-8000-000000000000';

const say = (http: TestHttp, content: string, fields: object = {}, headers: Record<string, string> = {}) =>
  http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content }], ...fields }, headers);
/** Words of the user in what the model was sent last. */
const received = ({ model }: ModelKernel): string[] => {
  const { messages = [] }: { messages?: ReadonlyArray<{ role: string; content: string }> } = model.requests.at(-1)?.body ?? {};
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
};
const begin = async ({ http }: Pick<ModelKernel, 'http'>, agentId: string, label: string): Promise<string> =>
  (await http.expect(200, 'POST', `/api/agents/${agentId}/sessions`, { label, activate: false })).body.session_id;
const spawn = async (http: TestHttp, name: string): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
const boot = () => bootWithModel(() => ({ text: 'ok' }));

describeDaemonOnEngines('a request that names a session', () => {
  afterEach(stopModelKernels);

  it('goes on there, by id or label, by header or model id, and nowhere else', async () => {
    const svc = await boot();
    const id = await begin(svc, svc.agent.id, 'my talk');
    const first = await say(svc.http, 'one', {}, { 'x-svc-session': id });
    expect(first.headers.get('x-svc-session')).to.equal(id);
    await say(svc.http, 'two', {}, { 'x-svc-session': 'my talk' });
    await say(svc.http, 'three', { model: `svc:assistant@${id.toUpperCase()}` });
    await say(svc.http, 'four', { model: 'svc:assistant@my talk' }, { 'x-svc-session': id });
    expect(received(svc)).to.deep.equal(['one', 'two', 'three', 'four']);
    await say(svc.http, 'elsewhere');
    expect(received(svc)).to.deep.equal(['elsewhere']);
  });

  it('waits its turn there, while other sessions are answered', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const svc = await bootWithModel(async ({ body }) => {
      if (JSON.stringify(body.messages.at(-1)).includes('long')) await held;
      return { text: 'ok' };
    });
    const [a, b] = [await begin(svc, svc.agent.id, 'a'), await begin(svc, svc.agent.id, 'b')];
    const long = say(svc.http, 'long', {}, { 'x-svc-session': a });
    await until(() => svc.model.requests.length === 1);
    const next = say(svc.http, 'next', {}, { 'x-svc-session': a });
    await say(svc.http, 'beside', {}, { 'x-svc-session': b });
    expect(svc.model.requests).to.have.length(2);
    release();
    await Promise.all([long, next]);
    expect(received(svc)).to.deep.equal(['long', 'next']);
  });

  it('is refused with 404 where there is none of that name, and where it is of another agent or another person', async () => {
    const hash = `sha256:${createHash('sha256').update('alice-key').digest('hex')}`;
    const svc = await bootWithModel(() => ({ text: 'ok' }), { key: 'root-key', config: `api_key = "root-key"\n${OPEN_RATE}\n[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "${hash}"\n` });
    const alice = svc.kernel.as('alice-key');
    const hers = await spawn(alice, 'hers');
    const another = await spawn(svc.http, 'another');
    const others = await begin(svc, another, 'other talk');
    const roots = await begin(svc, svc.agent.id, 'root talk');
    await begin({ http: alice }, hers, 'her talk');
    for (const name of [others, 'other talk', NOBODY, 'nobody']) {
      const refused = await say(svc.http, 'x', {}, { 'x-svc-session': name });
      expect([name, refused.status]).to.deep.equal([name, 404]);
    }
    for (const name of [roots, 'root talk', others]) {
      for (const [fields, headers] of [
        [{ model: 'svc:hers' }, { 'x-svc-session': name }],
        [{ model: `svc:hers@${name}` }, {}],
      ] as const)
        expect((await say(alice, 'x', fields, headers as Record<string, string>)).status, name).to.equal(404);
    }
    expect((await say(alice, 'x', { model: 'svc:hers@her talk' })).status).to.equal(200);
    expect(svc.model.requests).to.have.length(1);
  });

  it('is refused where the label is of two', async () => {
    const svc = await boot();
    await begin(svc, svc.agent.id, 'twice');
    await begin(svc, svc.agent.id, 'twice');
    const { status, body } = await say(svc.http, 'x', {}, { 'x-svc-session': 'twice' });
    expect([status, body.code]).to.deep.equal([409, 'session_ambiguous']);
  });

  it('is refused with 400 where it contradicts itself', async () => {
    const svc = await boot();
    const [a] = [await begin(svc, svc.agent.id, 'a'), await begin(svc, svc.agent.id, 'b')];
    for (const [fields, headers, code] of [
      [{ model: 'svc:assistant@a' }, { 'x-svc-session': 'b' }, 'session_conflict'],
      [{}, { 'x-svc-session': a, 'x-svc-stateless': '1' }, 'session_conflict'],
      [{ model: 'svc:assistant@a' }, { 'x-svc-stateless': 'true' }, 'session_conflict'],
      [{ model: 'svc:assistant:stateless' }, { 'x-svc-session': a }, 'session_conflict'],
      [{}, { 'x-svc-session': '' }, 'bad_header'],
      [{}, { 'x-svc-stateless': 'maybe' }, 'bad_header'],
      [{ model: 'svc:assistant@' }, {}, 'bad_model'],
      [{ model: 'svc:@a' }, {}, 'bad_model'],
      [{ model: 'svc::stateless' }, {}, 'bad_model'],
    ] as const) {
      const { status, body } = await say(svc.http, 'x', fields, headers as Record<string, string>);
      expect([fields, headers, status, body.code]).to.deep.equal([fields, headers, 400, code]);
    }
    expect(svc.model.requests).to.have.length(0);
  });

  it('names its agent too: the first one does not answer for another', async () => {
    const svc = await boot();
    for (const model of ['svc:nobody', 'svc:nobody@a', 'svc:nobody:stateless', `svc:${NOBODY}`]) {
      const { status, body } = await say(svc.http, 'x', { model });
      expect([model, status, body.code]).to.deep.equal([model, 404, 'model_not_found']);
    }
    expect((await say(svc.http, 'x', { model: 'svc:' })).body.code).to.equal('bad_model');
    expect(svc.model.requests).to.have.length(0);
    // Tools that are set up with the name of a model of OpenAI's get the first agent.
    for (const model of ['gpt-4o', 'assistant', svc.agent.id, NOBODY]) expect((await say(svc.http, 'x', { model })).status, model).to.equal(200);
    expect((await say(svc.http, 'x', { model: 'svc:assistant' }, { 'x-svc-stateless': '0' })).status).to.equal(200);
  });
});

describe('an agent whose name holds @ or :', () => {
  afterEach(stopModelKernels);

  it('is found by its whole name, and its sessions after the last @', async () => {
    const svc = await boot();
    for (const name of ['mail@home', 'a:b', 'odd:stateless']) {
      const id = await spawn(svc.http, name);
      const session = await begin(svc, id, 'talk');
      for (const model of [`svc:${name}`, name, `svc:${name}@talk`, `svc:${name}@${session}`, `svc:${name}:stateless`]) {
        expect((await say(svc.http, `${model}?`, { model })).status, model).to.equal(200);
        expect((await svc.http.get(`/v1/models/${encodeURIComponent(model)}`)).status, model).to.equal(200);
      }
      const { body } = await svc.http.expect(200, 'GET', `/api/agents/${id}/session?session_id=${session}`);
      expect(body.messages.filter(({ role }: { role: string }) => role === 'User')).to.have.length(2);
    }
  });
});

describe('GET /v1/models/{id}', () => {
  afterEach(stopModelKernels);

  it('knows every form that names an agent, and a session that is there', async () => {
    const svc = await boot();
    const id = await begin(svc, svc.agent.id, 'a');
    const idOf = async (asked: string) => (await svc.http.get(`/v1/models/${encodeURIComponent(asked)}`)).body.id;
    expect(await idOf('svc:assistant')).to.equal('svc:assistant');
    expect(await idOf(svc.agent.id)).to.equal('svc:assistant');
    expect(await idOf('assistant')).to.equal('svc:assistant');
    expect(await idOf('svc:assistant:stateless')).to.equal('svc:assistant:stateless');
    expect(await idOf(`svc:assistant@${id}`)).to.equal(`svc:assistant@${id}`);
    for (const asked of ['svc:nobody', 'svc:assistant@b', `svc:assistant@${NOBODY}`, 'svc:nobody:stateless', 'gpt-4o']) {
      expect((await svc.http.get(`/v1/models/${encodeURIComponent(asked)}`)).status, asked).to.equal(404);
    }
    expect((await svc.http.get(`/v1/models/${encodeURIComponent('svc:assistant@')}`)).status).to.equal(400);
  });
});

describe('the user of a request', () => {
  afterEach(stopModelKernels);

  it('has a conversation of their own with each agent, the same each time', async () => {
    const svc = await boot();
    await spawn(svc.http, 'second');
    const ada = await say(svc.http, 'ada one', { user: 'ada' });
    await say(svc.http, 'bob one', { user: 'bob' });
    expect(received(svc)).to.deep.equal(['bob one']);
    const again = await say(svc.http, 'ada two', { user: 'ada' });
    expect(received(svc)).to.deep.equal(['ada one', 'ada two']);
    expect(again.headers.get('x-svc-session')).to.equal(ada.headers.get('x-svc-session'));
    await say(svc.http, 'ada there', { user: 'ada', model: 'svc:second' });
    expect(received(svc)).to.deep.equal(['ada there']);
    const nobody = await Promise.all(['', null, undefined].map(async (user) => (await say(svc.http, 'nobody in particular', { user })).headers.get('x-svc-session')));
    expect(new Set(nobody).size).to.equal(1);
    expect(nobody[0]).to.not.be.oneOf([svc.agent.session_id, ada.headers.get('x-svc-session')]);
  });

  it('is not told apart where a session is named, or none is wanted', async () => {
    const svc = await boot();
    const id = await begin(svc, svc.agent.id, 'a');
    expect((await say(svc.http, 'x', { user: 'ada' }, { 'x-svc-session': id })).headers.get('x-svc-session')).to.equal(id);
    expect((await say(svc.http, 'y', { user: 'ada', model: 'svc:assistant:stateless' })).headers.get('x-svc-session')).to.equal(null);
    const { body } = await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}`);
    expect(body.session_id).to.equal(svc.agent.session_id);
  });

  it('begins one conversation with two first messages at once', async () => {
    const svc = await boot();
    const answers = await Promise.all(['one', 'two', 'three'].map((content) => say(svc.http, content, { user: 'ada' })));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map(({ headers }) => headers.get('x-svc-session'))).size).to.equal(1);
    expect(received(svc)).to.have.length(3);
  });

  it('of one caller is nobody to another', async () => {
    const hash = `sha256:${createHash('sha256').update('alice-key').digest('hex')}`;
    const svc = await bootWithModel(() => ({ text: 'ok' }), { key: 'root-key', config: `api_key = "root-key"\n${OPEN_RATE}\n[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "${hash}"\n` });
    const alice = svc.kernel.as('alice-key');
    await spawn(alice, 'hers');
    const hers = await say(alice, 'mine', { model: 'svc:hers', user: 'ada' });
    const roots = await say(svc.http, 'yours', { model: 'svc:hers', user: 'ada' });
    expect([hers.status, roots.status]).to.deep.equal([200, 200]);
    expect(roots.headers.get('x-svc-session')).to.not.equal(hers.headers.get('x-svc-session'));
    expect(received(svc)).to.deep.equal(['yours']);
    expect((await say(alice, 'peek', { model: 'svc:hers' }, { 'x-svc-session': String(roots.headers.get('x-svc-session')) })).status).to.equal(404);
  });

  it('begins nothing with a request that is refused', async () => {
    const svc = await boot();
    const sessions = async () => (await svc.http.expect(200, 'GET', '/api/status')).body.session_count;
    const before = await sessions();
    expect((await say(svc.http, '', { user: 'ada' })).status).to.equal(400);
    expect((await say(svc.http, 'x', { user: 'x'.repeat(513) })).status).to.equal(400);
    expect((await say(svc.http, 'x', { user: 7 })).status).to.equal(400);
    expect(await sessions()).to.equal(before);
  });
});
