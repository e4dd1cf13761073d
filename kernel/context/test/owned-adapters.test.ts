/** What an area opened at an adapter goes with the generation that opened it. */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { ChildHandle, ExtensionContext, TcpConnection, TcpListener } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';

const GRANTS = ['exec', 'net:dial:127.0.0.1', 'net:listen', 'egress:model', 'egress:origins', 'egress:server', 'children:18', 'secrets:mine.*', 'files:uploads'].map((grant) => ({
  grant,
  why: 'for a test',
}));

describe('what a generation opened', function () {
  this.timeout(30_000);
  let kernel: TestKernel;
  let generations: ExtensionContext[];
  afterEach(stopTestKernels);

  const boot = async (start?: (ctx: ExtensionContext) => Promise<void>): Promise<ExtensionContext> => {
    generations = [];
    kernel = await bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["keeper"]\n`,
      extra: [
        fixtureExtension({
          id: 'keeper',
          manifest: { grants: GRANTS, replace: 'stop-first', drainMs: 200 },
          definition: { activate: (ctx) => void generations.push(ctx), ...(start ? { start } : {}) },
        }),
      ],
    });
    return newest();
  };
  const newest = (): ExtensionContext => {
    const ctx = generations.at(-1);
    if (!ctx) throw new Error('the area did not start');
    return ctx;
  };
  const reload = () => kernel.daemon.kernel.reload('keeper');
  const leaks = () => kernel.daemon.kernel.extensions().flatMap((one) => (one.id === 'keeper' ? one.leaks : []));
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('its children end with their whole tree', async () => {
    const ctx = await boot();
    const child: ChildHandle = await ctx.spawn('sh', ['-c', 'sleep 60 & sleep 60'], { cwd: kernel.home });
    await reload();
    expect(await child.exit).to.include({ why: 'ended' });
    expect(leaks()).to.deep.equal([]);
    expect(await codeOf(ctx.spawn('true', [], { cwd: kernel.home }))).to.equal('daemon_extension_stopped');
    expect(await codeOf(newest().spawn('true', [], { cwd: kernel.home }))).to.equal('none');
  });

  it('it has as many children as it was granted, and a child reads a secret that nobody else does', async () => {
    const ctx = await boot();
    await ctx.secrets.put('mine.key', 'a-secret-value-of-mine');
    const child = await ctx.spawn('sh', ['-c', 'echo "$KEY"'], { cwd: kernel.home, secretEnv: { KEY: { secret: 'mine.key' } } });
    let said = '';
    for await (const piece of child.stdout) said += Buffer.from(piece).toString();
    expect(said.trim()).to.equal('a-secret-value-of-mine');
    expect(await codeOf(ctx.spawn('true', [], { cwd: kernel.home, secretEnv: { KEY: { secret: 'mine.other' } } }))).to.equal('secret_missing');
    expect(await codeOf(ctx.spawn('true', [], { cwd: kernel.home, secretEnv: { KEY: { secret: 'vault.key' } } }))).to.equal('secret_not_granted');
    await child.exit;
    const children = await Promise.all(Array.from({ length: 18 }, () => ctx.spawn('sleep', ['60'], { cwd: kernel.home })));
    expect(await codeOf(ctx.spawn('true', [], { cwd: kernel.home }))).to.equal('exec_busy');
    await Promise.all(children.map((one) => one.kill()));
  });

  it('it reaches the servers that it allowed, on private networks too, and nothing else', async () => {
    const forms: string[] = [];
    const server = createHttpServer((req, res) => {
      let body = '';
      req.on('data', (piece) => (body += piece));
      req.on('end', () => {
        forms.push(body);
        if (req.url === '/go') res.writeHead(302, { location: '/api/there' }).end();
        else if (req.url === '/away') res.writeHead(307, { location: `http://127.0.0.1:${port}/outside` }).end();
        else if (req.url === '/api/slow') res.write('a');
        else res.end('here');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo; // listening, so it has one
    const ctx = await boot();
    await ctx.secrets.put('mine.token', 'refresh-token-of-mine');
    const base = `http://localhost:${port}`;
    const get = (path: string, init: object = {}) => ctx.fetch(`${base}${path}`, { purpose: 'server', ...init });
    const codes: Record<string, string> = { before: await codeOf(get('/api/x')) };
    const allowed = ctx.egress.allow(base, 'server');
    expect(await (await get('/api/x')).text()).to.equal('here');
    expect(await (await get('/go')).text()).to.equal('here');
    expect((await get('/go', { redirect: 'manual' })).status).to.equal(302);
    await get('/api/x', { method: 'POST', body: 'grant_type=refresh_token', secretForm: { refresh_token: { secret: 'mine.token' } } });
    expect(forms.at(-1)).to.equal('grant_type=refresh_token&refresh_token=refresh-token-of-mine');
    codes.redirect = await codeOf(get('/away'));
    const slow = await get('/api/slow', { idleTimeoutMs: 50 });
    codes.silent = await codeOf(slow.text());
    codes.tool = await codeOf(ctx.fetch(`${base}/api/x`, { purpose: 'webhook' }));
    const [, own] = /:(\d+)$/.exec(kernel.daemon.url) ?? [];
    for (const address of ['http://169.254.169.254', 'http://100.100.100.200', `http://127.0.0.1:${own}`]) {
      ctx.egress.allow(address, 'server');
      codes[address] = await codeOf(ctx.fetch(address, { purpose: 'server' }));
    }
    const tcp = ctx.egress.allow(`tcp://localhost:${port}`, 'server');
    const connection = await ctx.tcp.dial({ host: 'localhost', port, purpose: 'a test' });
    connection.close();
    await tcp.dispose();
    codes.dial = await codeOf(ctx.tcp.dial({ host: 'localhost', port, purpose: 'a test' }));
    await allowed.dispose();
    codes.after = await codeOf(get('/api/x'));
    expect(codes).to.deep.equal({
      before: 'fetch_not_a_server',
      redirect: 'fetch_not_a_server',
      silent: 'fetch_timeout',
      tool: 'daemon_not_granted',
      'http://169.254.169.254': 'fetch_refused_address',
      'http://100.100.100.200': 'fetch_refused_address',
      [`http://127.0.0.1:${own}`]: 'fetch_refused_address',
      dial: 'daemon_not_granted',
      after: 'fetch_not_a_server',
    });
    server.closeAllConnections();
    server.close();
  });

  it('its connections are closed', async () => {
    const accepted: Socket[] = [];
    const server = createServer((socket) => void accepted.push(socket.on('error', () => undefined)));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo; // listening, so it has one
    const ctx = await boot();
    const connection: TcpConnection = await ctx.tcp.dial({ host: '127.0.0.1', port, purpose: 'a test' });
    await reload();
    await connection.closed;
    expect(await codeOf(connection.write('x'))).to.equal('tcp_closed');
    expect(await codeOf(ctx.tcp.dial({ host: '127.0.0.1', port, purpose: 'a test' }))).to.equal('daemon_extension_stopped');
    for (const socket of accepted) socket.destroy();
    server.close();
  });

  it('its WebSockets are closed, and it opens one only where it was allowed to', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // listening, so it has one
    const ctx = await boot();
    const codes: Record<string, string> = { before: await codeOf(ctx.webSocket(`ws://localhost:${port}/gateway`)) };
    const allowed = ctx.egress.allow(`ws://localhost:${port}/gateway`, 'server');
    codes.beside = await codeOf(ctx.webSocket(`ws://localhost:${port}/other`));
    const connection = await ctx.webSocket(`ws://localhost:${port}/gateway?v=10`);
    await allowed.dispose();
    codes.after = await codeOf(ctx.webSocket(`ws://localhost:${port}/gateway`));
    await reload();
    expect((await connection.closed).code).to.equal(1_001);
    codes.send = await codeOf(connection.send('x'));
    codes.stopped = await codeOf(ctx.webSocket(`ws://localhost:${port}/gateway`));
    expect(codes).to.deep.equal({ before: 'daemon_not_granted', beside: 'daemon_not_granted', after: 'daemon_not_granted', send: 'websocket_closed', stopped: 'daemon_extension_stopped' });
    server.close();
  });

  it('its port is free for the next generation, which gets the same one', async () => {
    const listeners: TcpListener[] = [];
    await boot(async (ctx) => void listeners.push(await ctx.tcp.listen({ port: listeners[0]?.port ?? 0 }, async (connection) => connection.write(`generation ${ctx.generation}`))));
    const receive = async (): Promise<string> => {
      const connection = await newest().tcp.dial({ host: '127.0.0.1', port: listeners[0]?.port ?? 0, purpose: 'a test' });
      let text = '';
      for await (const piece of connection.readable) text += Buffer.from(piece).toString();
      return text;
    };
    const before = await receive();
    await reload();
    const after = await receive();
    expect(listeners.map(({ port }) => port)).to.deep.equal([listeners[0]?.port, listeners[0]?.port]);
    expect([before, after]).to.deep.equal(generations.map(({ generation }) => `generation ${generation}`));
  });

  it('its base URLs are closed to models', async () => {
    const ctx = await boot();
    ctx.egress.allow('http://127.0.0.1:1/v1');
    const ask = () => codeOf(newest().fetch('http://127.0.0.1:1/v1/models', { purpose: 'model' }));
    expect(await ask()).to.equal('fetch_network');
    await reload();
    expect(await ask()).to.equal('fetch_not_a_model');
  });

  it('its half-read files are closed, and its half-written ones are gone', async () => {
    const ctx = await boot();
    await ctx.files.data.write('film', Buffer.alloc(1_000_000));
    const reading = ctx.files.data.readStream('film')[Symbol.asyncIterator]();
    await reading.next();
    let isWaiting = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      isWaiting = resolve;
    });
    async function* never(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      isWaiting();
      await new Promise(() => undefined);
    }
    const writing = codeOf(ctx.files.data.writeStream('upload', never(), { maxBytes: 100 }));
    await waiting;
    await reload();
    expect(await writing).to.equal('daemon_extension_stopped');
    expect(await codeOf(reading.next())).to.equal('daemon_extension_stopped');
    expect(await readdir(join(kernel.home, 'data/ext/keeper'))).to.deep.equal(['film']);
  });
});
