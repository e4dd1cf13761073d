/** What an area opened at an adapter goes with the generation that opened it. */
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { ChildHandle, ExtensionContext, TcpConnection, TcpListener } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const GRANTS = ['exec', 'net:dial:127.0.0.1', 'net:listen', 'egress:model', 'egress:origins', 'files:uploads'].map((grant) => ({ grant, why: 'for a test' }));

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
