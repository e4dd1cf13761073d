/** Signing in at MCP servers by OAuth: oidc-provider in front of a server of the official SDK. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { type Company, startCompany, walked } from './sign-in-kit.js';

describe('signing in at MCP servers', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  let company: Company;
  const at = (path: string, name = 'company') => `/api/mcp/servers/${name}/auth/${path}`;
  const auth = async (name?: string) => (await svc.http.expect(200, 'GET', at('status', name))).body.auth;
  const get = async (name = 'company') => (await svc.http.expect(200, 'GET', `/api/mcp/servers/${name}`)).body;
  const whoami = () => svc.http.post('/api/tools/mcp_company_whoami/invoke', {});
  const open = async (url: string) => {
    const answer = await fetch(url);
    return { status: answer.status, text: await answer.text() };
  };
  const signIn = async (login = 'ada', name = 'company'): Promise<string> => {
    const { body } = await svc.http.expect(200, 'POST', at('start', name), {});
    const back = await walked(body.auth_url, login);
    const done = await open(back);
    expect(done.status, done.text).to.equal(200);
    await until(async () => (await get(name)).status === 'connected');
    return back;
  };
  before(async () => {
    company = await startCompany();
    svc = await bootWithModel(undefined, { config: `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["*"]\n` });
    await svc.http.expect(201, 'POST', '/api/mcp/servers', { name: 'company', transport: { type: 'http', url: company.url } });
  });
  after(async () => {
    await stopModelKernels();
    await company.stop();
  });

  it('wait for a person, and say which command helps', async () => {
    const server = await get();
    expect([server.status, server.auth_state]).to.deep.equal(['setup', { state: 'needs_auth' }]);
    expect(server.error).to.match(/svc mcp login company/);
  });

  it('O4 take back only the flow that began, with its state', async () => {
    const { body } = await svc.http.expect(200, 'POST', at('start'), {});
    expect(new URL(body.auth_url).searchParams.get('code_challenge_method')).to.equal('S256');
    expect(await auth()).to.deep.equal({ state: 'pending_auth', auth_url: body.auth_url });
    expect((await get()).auth_state).to.deep.equal({ state: 'pending_auth' });
    const { url } = svc.kernel.daemon;
    expect((await open(`${url}${at('callback')}?code=stolen&state=another`)).status).to.equal(400);
    expect((await open(`${url}${at('callback', 'nobody')}?code=stolen&state=another`)).status).to.equal(400);
    expect((await open(`${url}${at('callback')}`)).status).to.equal(400);
    expect((await auth()).state).to.equal('pending_auth');
    const { searchParams } = new URL(body.auth_url);
    expect((await open(`${url}${at('callback')}?error=access_denied&iss=${encodeURIComponent(company.issuer)}&state=${searchParams.get('state')}`)).status).to.equal(400);
    expect(await auth())
      .to.include({ state: 'needs_auth' })
      .and.property('message')
      .match(/access_denied/);
  });

  it('register svc, and call with the token of who signed in', async () => {
    const before = company.counts.registrations;
    const back = await signIn();
    expect(company.counts.registrations - before).to.equal(1);
    expect([...company.resources]).to.deep.equal([company.url]);
    expect((await whoami()).body.content).to.equal('you are ada');
    expect(await auth())
      .to.include({ state: 'authorized' })
      .and.property('expires_at')
      .match(/^20/);
    expect((await open(back)).status).to.equal(400);
  });

  /** A file that is replaced stands under another name for a moment. */
  const ignoreGone = (error: NodeJS.ErrnoException): string => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  };

  it('O1 keep tokens out of answers and files', async () => {
    const texts = [JSON.stringify([await get(), await auth()])];
    for (const file of await readdir(svc.kernel.home, { recursive: true, withFileTypes: true }))
      if (file.isFile()) texts.push(await readFile(join(file.parentPath, file.name), 'latin1').catch(ignoreGone));
    expect(company.tokens.size).to.be.greaterThan(1);
    for (const token of company.tokens) for (const text of texts) expect(text.includes(token)).to.equal(false);
  });

  it('O2 refresh once for calls at once, and again when a token is about to end', async () => {
    for (const token of company.tokens) company.refused.add(token);
    company.refreshDelayMs = 100;
    company.tokenSecs = 1;
    const before = company.counts.refreshes;
    const answers = await Promise.all([whoami(), whoami(), whoami()]);
    expect(answers.map(({ body }) => body.content)).to.deep.equal(['you are ada', 'you are ada', 'you are ada']);
    expect(company.counts.refreshes - before).to.equal(1);
    company.tokenSecs = 300;
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect((await whoami()).body.content).to.equal('you are ada');
    expect(company.counts.refreshes - before).to.equal(2);
    await whoami();
    expect(company.counts.refreshes - before).to.equal(2);
  });

  it('O3 keep the sign-in while the authority is away, and ask for a new one when it says no', async () => {
    for (const token of company.tokens) company.refused.add(token);
    company.isProviderDown = true;
    expect((await whoami()).body.error).to.match(/could not be refreshed/);
    expect((await get()).status).to.equal('connected');
    expect((await auth()).state).to.equal('error');
    company.isProviderDown = false;
    await svc.http.expect(200, 'POST', '/api/mcp/servers/company/reconnect', {});
    expect((await whoami()).body.content).to.equal('you are ada');
    expect((await auth()).state).to.equal('authorized');
    for (const token of company.tokens) company.refused.add(token);
    await company.lastRefresh?.destroy();
    expect((await whoami()).body.error).to.match(/svc mcp login company/);
    expect(await auth())
      .to.include({ state: 'needs_auth' })
      .and.property('message')
      .match(/invalid_grant/);
    expect((await get()).status).to.equal('setup');
    await signIn('grace');
    expect((await whoami()).body.content).to.equal('you are grace');
  });

  it('O1 send no token to another address, and forget all of it on request', async () => {
    await svc.http.expect(200, 'DELETE', at('revoke'));
    expect(await company.provider.RefreshToken.find(company.lastRefresh?.jti ?? '')).to.equal(undefined);
    await until(async () => (await auth()).state === 'needs_auth');
    await signIn('ada');
    const thief = await startCompany();
    await svc.http.expect(200, 'PUT', '/api/mcp/servers/company', { transport: { type: 'http', url: thief.url } });
    expect((await auth()).state).to.equal('needs_auth');
    expect([...thief.tokens]).to.deep.equal([]);
    await thief.stop();
  });

  it('are for servers with an address, for admins, and for what answers', async () => {
    await svc.http.expect(201, 'POST', '/api/mcp/servers', { name: 'local', transport: { type: 'stdio', command: 'no-such-program-17' } });
    expect((await svc.http.post(at('start', 'local'), {})).body.code).to.equal('mcp_no_sign_in');
    expect((await svc.http.get(at('status', 'nobody'))).body.code).to.equal('mcp_not_found');
    await svc.http.expect(201, 'POST', '/api/mcp/servers', { name: 'gone', transport: { type: 'http', url: 'http://127.0.0.1:9/mcp' } });
    const { body, status } = await svc.http.post(at('start', 'gone'), {});
    expect([status, body.code]).to.deep.equal([502, 'mcp_sign_in_failed']);
  });
});
