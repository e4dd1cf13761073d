/** A reload overlaps: the next generation serves before the last one lets go. */
import { once } from 'node:events';
import { type ExtensionContext, Type, defineRoute, defineSocket, reply } from '@svc/api';
import { describeDaemonOnEngines, OPEN_RATE, type TestKernel, bootTestKernel, fixtureExtension, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import WebSocket from 'ws';
import { startLoad } from './load.js';

const spawnAgents = async (kernel: TestKernel, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: `worker-${i}` } })).body.agent_id);
  return ids;
};

/** A promise that the test resolves. */
const latch = (): { readonly done: Promise<void>; open(): void } => {
  const resolvers: Array<() => void> = [];
  const done = new Promise<void>((resolve) => resolvers.push(resolve));
  return { done, open: () => resolvers.forEach((resolve) => void resolve()) };
};

describeDaemonOnEngines('a reload', () => {
  afterEach(stopTestKernels);

  it('of each area fails no request and cuts no stream or socket', async function () {
    this.timeout(120_000);
    const kernel = await bootTestKernel();
    const ids = kernel.daemon.kernel.extensions().map((one) => one.id);
    const load = startLoad(kernel, await spawnAgents(kernel, 4));

    const isBusy = (): boolean => Math.min(load.report.messages, load.report.streams, load.report.chats) > 5;
    for (let n = 0; n < ids.length || !isBusy(); n++) {
      await kernel.daemon.kernel.reload(ids[n % ids.length] as string);
      await load.progress();
    }
    await load.stop();

    expect(load.report.failures).to.deep.equal([]);
  });

  it('lets a slow request end in the old code while the next runs in the new', async () => {
    const opened = latch();
    const inside = latch();
    const slow = fixtureExtension({
      id: 'slow',
      contributions: { routes: ['GET /api/slow'] },
      definition: {
        activate(ctx: ExtensionContext) {
          ctx.routes.add(
            defineRoute({
              id: 'slow.get',
              method: 'GET',
              path: '/api/slow',
              summary: 'Waits in the first generation',
              auth: 'bearer',
              permission: 'slow.read',
              cost: 0,
              responses: { 200: Type.Object({ generation: Type.Integer() }) },
              handler: async () => {
                if (ctx.generation === 1) {
                  inside.open();
                  await opened.done;
                }
                return reply(200, { generation: ctx.generation });
              },
            }),
          );
        },
      },
    });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["slow"]`, extra: [slow] });
    const first = kernel.http.get('/api/slow');
    await inside.done;

    await kernel.daemon.kernel.reload('slow');
    const second = await kernel.http.expect(200, 'GET', '/api/slow');
    opened.open();

    expect(second.body.generation).to.equal(2);
    expect((await first).body.generation).to.equal(1);
  });

  it('that fails leaves the running generation in place, and says why', async () => {
    let generation = 0;
    const fragile = fixtureExtension({
      id: 'fragile',
      contributions: { routes: ['GET /api/fragile'] },
      definition: () => {
        generation += 1;
        const own = generation;
        return {
          activate(ctx) {
            ctx.routes.add(
              defineRoute({
                id: 'fragile.get',
                method: 'GET',
                path: '/api/fragile',
                summary: 'Which',
                auth: 'bearer',
                permission: 'fragile.read',
                cost: 0,
                responses: { 200: Type.Object({ own: Type.Integer() }) },
                handler: async () => reply(200, { own }),
              }),
            );
          },
          start: () => {
            if (own === 2) throw new Error('the second never starts');
          },
        };
      },
    });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["fragile"]`, extra: [fragile] });

    const refused = await kernel.http.post('/api/extensions/fragile/reload');

    expect(refused.status).to.equal(409);
    expect(refused.body.error).to.contain('the second never starts');
    expect((await kernel.http.expect(200, 'GET', '/api/fragile')).body.own).to.equal(1);
    const { body: status } = await kernel.http.expect(200, 'GET', '/api/extensions/fragile');
    expect(status).to.include({ state: 'active' });
    expect(status.reason).to.contain('the second never starts');
  });

  it('keeps sockets open, and the next message meets the new code', async () => {
    const echo = fixtureExtension({
      id: 'echo',
      contributions: { sockets: ['/api/echo/{name}'] },
      definition: {
        activate(ctx) {
          ctx.sockets.add(
            defineSocket({
              id: 'echo.ws',
              path: '/api/echo/{name}',
              summary: 'Echo',
              auth: 'bearer',
              permission: 'echo.send',
              cost: 0,
              upgrade: async () => undefined,
              message: (conn, text) => conn.send({ text, generation: ctx.generation }),
            }),
          );
        },
      },
    });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["echo"]`, extra: [echo] });
    const socket = new WebSocket(`${kernel.url.replace('http', 'ws')}/api/echo/a`);
    await once(socket, 'open');
    const ask = async (): Promise<unknown> => {
      const answer = once(socket, 'message');
      socket.send('hello');
      return JSON.parse(String((await answer)[0]));
    };
    expect(await ask()).to.deep.equal({ text: 'hello', generation: 1 });

    await kernel.daemon.kernel.reload('echo');

    expect(await ask()).to.deep.equal({ text: 'hello', generation: 2 });
    const closed = once(socket, 'close');
    await kernel.daemon.kernel.disable('echo');
    expect((await closed)[0]).to.equal(1012);
  });
});
