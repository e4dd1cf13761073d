/** Links to conversations: who makes them, what whoever has one reads, and what ends them. */
import { expect } from 'chai';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { bootPeople, type People, refusalOf, UNKNOWN } from '../http/people.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read by path here
type Body = any;

/** Each answer names its request. */
const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/, '');

const ON = '[session]\nshare_links = true\n';

describe('a link to a conversation', function () {
  this.timeout(60_000);
  let svc: People;
  before(async () => {
    svc = await bootPeople(ON, ({ index }) => ({ text: `answer **${index}**` }));
  });
  after(stopModelKernels);

  const set = (name: string, value: unknown) => svc.owner.expect(200, 'POST', '/api/config/set', { path: `session.${name}`, value });
  const read = async (path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string; headers: Headers }> => {
    const answer = await fetch(svc.kernel.url + path, { headers });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const begun = async (message = 'the first question'): Promise<string> => {
    const { session_id } = (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, { activate: false })).body;
    await svc.alice.say(message, session_id);
    return session_id;
  };
  const share = async (session: string, body: Body = {}): Promise<Body> => (await svc.alice.http.expect(201, 'POST', `/api/sessions/${session}/shares`, body)).body;
  const isOver = async (path: string): Promise<void> => {
    for (const accept of ['text/html', 'application/json']) {
      const [ended, wrong] = await Promise.all([read(path, { accept }), read('/shared/wrong', { accept })]);
      expect(ended.status).to.equal(404);
      expect(withoutId(ended.text), 'the answer of a wrong token').to.equal(withoutId(wrong.text));
      expect(ended.headers.get('content-type')).to.include(accept);
    }
  };

  it('shows to anybody what was written until it was made, and later messages once it is updated', async () => {
    const session = await begun();
    await svc.alice.http.expect(200, 'PUT', `/api/sessions/${session}/label`, { label: 'PRIVATE' });
    const { path, share: made } = await share(session);
    expect(path).to.match(/^\/shared\/[\w-]{43}$/);
    await svc.alice.say('the second question', session);
    await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/message`, { message: 'asked beside it', session_id: session, incognito: true });
    const page = await read(path, { cookie: 'a=b' });
    expect(page.status).to.equal(200);
    expect(page.text)
      .to.include('the first question')
      .and.match(/answer <strong>\d+<\/strong>/);
    expect(page.text).to.not.match(/second question|PRIVATE|asked beside|alice|of-alice/);
    expect(page.text, 'ids').to.not.include(session).and.not.include(svc.alice.agent.id).and.not.include(made.id);
    expect(page.headers.get('set-cookie')).to.equal(null);
    expect(page.headers.get('x-robots-tag')).to.include('noindex');
    expect(page.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    await svc.alice.http.expect(200, 'PUT', `/api/shares/${made.id}`, {});
    expect((await read(path)).text)
      .to.include('the second question')
      .and.not.include('asked beside');
  });

  it('is stored as a hash alone, and made anew it is another one', async () => {
    const session = await begun();
    const { path, share: made } = await share(session);
    const token = path.split('/').at(-1);
    const { path: again } = await share(session);
    expect(again).to.not.equal(path);
    const { shares } = (await svc.alice.http.expect(200, 'GET', `/api/shares?session_id=${session}`)).body;
    expect(shares.map(({ id }: Body) => id)).to.include(made.id);
    expect(JSON.stringify(shares)).to.not.include(token);
    const rows = await svc.kernel.daemon.parts.storage
      .dbFor({ id: 'sessions', tables: ['shares'] })
      .system('a test')
      .select({ from: 'shares' });
    expect(rows.length).to.be.greaterThan(0);
    expect(JSON.stringify(rows)).to.not.include(token);
  });

  it('ends at once when it is revoked, with its conversation, and while the setting is off', async () => {
    const session = await begun();
    const [one, two] = [await share(session), await share(session)];
    await svc.alice.http.expect(200, 'DELETE', `/api/shares/${one.share.id}`);
    await isOver(one.path);
    expect((await read(two.path)).status).to.equal(200);
    await set('share_links', false);
    try {
      await isOver(two.path);
      const refused = await svc.alice.http.post(`/api/sessions/${session}/shares`, {});
      expect(refusalOf(refused)).to.deep.equal([403, 'sessions_share_links_off']);
      expect(`${refused.body.error} ${refused.body.hint}`).to.include('share_links');
      expect((await svc.alice.http.expect(200, 'GET', `/api/shares?session_id=${session}`)).body).to.include({ is_on: false, total: 1 });
    } finally {
      await set('share_links', true);
    }
    expect((await read(two.path)).status).to.equal(200);
    await svc.alice.http.expect(200, 'DELETE', `/api/sessions/${session}`);
    await isOver(two.path);
    expect((await svc.alice.http.expect(200, 'GET', `/api/shares?session_id=${session}`)).body.total).to.equal(0);
  });

  it('ends with its agent, and with its person', async () => {
    const { agent_id } = (await svc.bob.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'goes' } })).body;
    await svc.bob.http.expect(200, 'POST', `/api/agents/${agent_id}/message`, { message: 'hello' });
    const current = (await svc.bob.http.expect(200, 'GET', `/api/agents/${agent_id}`)).body.session_id;
    const ofAgent = (await svc.bob.http.expect(201, 'POST', `/api/sessions/${current}/shares`)).body.path;
    const session = await svc.bob.say('hello');
    const ofPerson = (await svc.bob.http.expect(201, 'POST', `/api/sessions/${session ?? svc.bob.agent.session_id}/shares`)).body.path;
    expect((await read(ofAgent)).status).to.equal(200);
    await svc.bob.http.expect(200, 'DELETE', `/api/agents/${agent_id}`);
    await isOver(ofAgent);
    expect((await read(ofPerson)).status).to.equal(200);
    expect(await svc.kernel.daemon.parts.purges.purge({ ownerId: svc.bob.ownerId })).to.include({ complete: true });
    await isOver(ofPerson);
  });

  it('belongs to one person: others neither find nor change it, and an admin revokes it but makes none', async () => {
    const session = await begun();
    const { path, share: made } = await share(session);
    expect(refusalOf(await svc.bob.http.post(`/api/sessions/${session}/shares`, {}))).to.deep.equal([404, 'sessions_no_such_session']);
    expect((await svc.bob.http.expect(200, 'GET', `/api/shares?session_id=${session}`)).body.total).to.equal(0);
    for (const method of ['PUT', 'DELETE'] as const)
      expect(refusalOf(await svc.bob.http.send(method, `/api/shares/${made.id}`, method === 'PUT' ? {} : undefined))).to.deep.equal([404, 'sessions_no_such_share']);
    expect(refusalOf(await svc.alice.http.delete(`/api/shares/${UNKNOWN}`))).to.deep.equal([404, 'sessions_no_such_share']);
    expect(refusalOf(await svc.owner.post(`/api/sessions/${session}/shares`, {}))).to.deep.equal([403, 'sessions_share_not_own']);
    expect((await read(path)).status).to.equal(200);
    await svc.owner.expect(200, 'DELETE', `/api/shares/${made.id}`);
    await isOver(path);
  });

  it('is not made to a conversation without a message', async () => {
    const { session_id } = (await svc.alice.http.expect(200, 'POST', `/api/agents/${svc.alice.agent.id}/sessions`, { activate: false })).body;
    expect(refusalOf(await svc.alice.http.post(`/api/sessions/${session_id}/shares`, {}))).to.deep.equal([409, 'sessions_nothing_to_share']);
  });

  it('is in the audit log when it is made, updated and revoked, without its token', async () => {
    const session = await begun();
    const { path, share: made } = await share(session);
    await svc.alice.http.expect(200, 'PUT', `/api/shares/${made.id}`, {});
    await svc.alice.http.expect(200, 'DELETE', `/api/shares/${made.id}`);
    const entries: Body[] = (await svc.owner.expect(200, 'GET', '/api/audit/recent?n=100')).body.entries;
    const entered = entries.filter(({ event_type }) => String(event_type).startsWith('session_share'));
    expect(new Set(entered.map(({ event_type }) => event_type))).to.deep.equal(new Set(['session_shared', 'session_share_updated', 'session_share_revoked']));
    expect(JSON.stringify(entries)).to.not.include(path.split('/').at(-1));
  });

  it('is charged to the rate limit of its reader, as other public routes are', () => {
    const routes = svc.kernel.daemon.parts.http.routes.active().map(({ value }) => value);
    const shared = routes.find(({ id }) => id === 'getSharedConversation');
    expect(shared?.cost).to.be.greaterThan(0);
  });
});
