/** On and off while it runs: an area that is off leaves no trace, and nothing else notices. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDaemonOnEngines, OPEN_RATE, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const stateOf = (kernel: TestKernel, id: string): string | undefined => kernel.daemon.kernel.extensions().find((one) => one.id === id)?.state;

describeDaemonOnEngines('switching an area', () => {
  afterEach(stopTestKernels);

  it('off makes its routes answer 404, takes its tools and its part of openapi.json, and touches nothing else', async () => {
    const kernel = await bootTestKernel();
    const { body: before } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    expect(before.paths).to.have.property('/api/agents/{id}/files');

    await kernel.http.expect(200, 'POST', '/api/extensions/files/disable');

    expect((await kernel.http.get('/api/agents/x/files')).status).to.equal(404);
    const { body: after } = await kernel.http.expect(200, 'GET', '/api/openapi.json');
    expect(JSON.stringify(after)).not.to.contain('/files');
    expect(
      Object.keys(before.paths)
        .filter((path) => !(path in after.paths))
        // What media makes becomes an upload: it goes with them.
        .every((path) => /\/(files|uploads?|media)\b/.test(path)),
    ).to.equal(true);
    await kernel.http.expect(200, 'POST', '/api/extensions/files/enable');
    expect((await kernel.http.expect(200, 'GET', '/api/openapi.json')).body.paths).to.have.property('/api/agents/{id}/files');
  });

  it('100 times off and on gives only 404 in its own area', async function () {
    this.timeout(60_000);
    const kernel = await bootTestKernel();
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    const seen = new Map<string, number>();
    let going = true;
    const watch = (async () => {
      while (going) {
        for (const path of [`/api/agents/${agent}/files`, '/api/agents', '/api/status']) {
          const { status } = await kernel.http.get(path);
          seen.set(`${path.replace(agent, 'ID')} ${status}`, (seen.get(`${path.replace(agent, 'ID')} ${status}`) ?? 0) + 1);
        }
      }
    })();

    for (let i = 0; i < 100; i++) {
      await kernel.daemon.kernel.disable('files');
      await kernel.daemon.kernel.enable('files');
    }
    going = false;
    await watch;

    const statuses = [...seen.keys()].filter((key) => !/ 200$/.test(key));
    expect(statuses.every((key) => key === '/api/agents/ID/files 404')).to.equal(true, statuses.join(', '));
  });

  it('off takes those that need it to pending first, and on brings them back by itself', async () => {
    const kernel = await bootTestKernel();

    await kernel.http.expect(200, 'POST', '/api/extensions/tools/disable?force=true');
    expect([stateOf(kernel, 'tools'), stateOf(kernel, 'runs'), stateOf(kernel, 'commands'), stateOf(kernel, 'agents')]).to.deep.equal(['inactive', 'pending', 'pending', 'active']);
    const why = kernel.daemon.kernel.extensions().find((one) => one.id === 'runs')?.reason;
    expect(why).to.contain('tools');

    await kernel.http.expect(200, 'POST', '/api/extensions/tools/enable');
    expect([stateOf(kernel, 'runs'), stateOf(kernel, 'commands')]).to.deep.equal(['active', 'active']);
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'what time is it?' });
  });

  it('asks before it makes the daemon unsafe', async () => {
    const kernel = await bootTestKernel();

    const asked = await kernel.http.post('/api/extensions/auth/disable');

    expect(asked.status).to.equal(409);
    expect(asked.body.code).to.equal('extension_needs_confirmation');
    expect(stateOf(kernel, 'auth')).to.equal('active');
  });

  for (const owner of ['auth', 'ratelimit', 'capabilities']) {
    it(`${owner} off closes every route that is not public or brings areas back, and opens none`, async () => {
      const kernel = await bootTestKernel({ config: `api_key = "secret-key-1"\n${OPEN_RATE}`, key: 'secret-key-1' });
      await kernel.daemon.kernel.disable(owner);

      const panel = kernel.daemon.kernel.panels().find(({ script }) => script !== undefined);
      // Public files answer where they are named.
      const named = (path: string): string =>
        path
          .replace('{file}', 'docs.js')
          .replace('{asset}', 'kit.js')
          .replace('{extension}/{chunk}', `${panel?.extension}/${panel?.script}`)
          .replaceAll(/\{[^}]+\}/g, 'x');
      for (const { method, path, auth, repairs } of kernel.daemon.parts.http.routes.active().map((row) => row.value)) {
        // Whoever has a key may repair, where somebody is there who knows keys: locked-out.test.ts.
        const { status } = await kernel.as(repairs ? 'no-such-key' : 'secret-key-1').send(method, named(path), method === 'GET' ? undefined : {});
        // 400: the login reads its body, and a walk has no key to put there.
        // 404: nobody from elsewhere has a panel here, nobody shared a conversation, and no channel has that name.
        if (path.startsWith('/ui/frames/') || path.startsWith('/shared/')) expect(status, path).to.be.oneOf([404, 503]);
        else if (path === '/api/channels/{name}/webhook') expect(status, path).to.be.oneOf([404, 503]);
        // 503: there is no provider to sign in at; 400: no sign-in at a server was begun.
        else if (path === '/api/auth/callback' || path === '/api/mcp/servers/{id}/auth/callback') expect(status, path).to.be.oneOf([400, 503]);
        else if (auth === 'public') expect(status, path).to.be.oneOf(method === 'GET' ? [200, 503] : [200, 400]);
        else expect(status, `${method} ${path}`).to.equal(repairs && owner !== 'auth' ? 401 : 503);
      }
      expect((await kernel.http.get('/api/health')).status).to.equal(200);

      await kernel.daemon.kernel.enable(owner);
      await kernel.http.expect(200, 'GET', '/api/agents');
    });
  }

  it('is remembered over a restart, and forgotten by reset', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-intent-'));
    const first = await bootTestKernel({ home, config: OPEN_RATE });
    await first.http.expect(200, 'POST', '/api/extensions/webchat/disable');
    await first.stop();

    const second = await bootTestKernel({ home });
    expect(stateOf(second, 'webchat')).to.equal('inactive');
    expect(second.daemon.kernel.extensions().find((one) => one.id === 'webchat')?.intent).to.deep.equal({ enabled: false, decidedBy: 'choice' });
    await second.http.expect(200, 'POST', '/api/extensions/webchat/reset');
    expect(stateOf(second, 'webchat')).to.equal('active');
    await second.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('a person’s choice stands above config.toml, and config.toml above the preset', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\npreset = "minimal"\nenable = ["commands"]\ndisable = ["files"]` });

    expect([stateOf(kernel, 'commands'), stateOf(kernel, 'files'), stateOf(kernel, 'webchat')]).to.deep.equal(['active', 'inactive', 'inactive']);
    await kernel.http.expect(200, 'POST', '/api/extensions/files/enable');
    expect(stateOf(kernel, 'files')).to.equal('active');
  });
});
