/** A route that says it takes effect once per key, and whether its handler keeps that. */
import { defineRoute, reply, Type, type Write } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('a route that is idempotent', () => {
  afterEach(stopTestKernels);

  /** `commits` says what the handler does with the receipt. */
  const boot = (commits: (commit: (writes: readonly Write[]) => Promise<unknown>, receipt: readonly Write[]) => Promise<unknown>) =>
    bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["maker"]\n`,
      extra: [
        fixtureExtension({
          id: 'maker',
          contributions: { routes: ['POST /api/made'] },
          definition: {
            activate(ctx) {
              let made = 0;
              ctx.routes.add(
                defineRoute({
                  id: 'makeThing',
                  method: 'POST',
                  path: '/api/made',
                  summary: 'Make one',
                  auth: 'bearer',
                  permission: 'maker.write',
                  cost: 1,
                  idempotent: true,
                  responses: { 201: Type.Object({ made: Type.Number() }) },
                  handler: async (request) => {
                    const answer = reply(201, { made: ++made });
                    await commits((writes) => ctx.db.commit(writes), request.receipt(answer));
                    return answer;
                  },
                }),
              );
            },
          },
        }),
      ],
    });
  const KEY = { 'idempotency-key': 'once' };

  it('answers again what its receipt holds', async () => {
    const kernel = await boot((commit, receipt) => commit(receipt));
    for (const replayed of [undefined, 'true']) {
      const { status, body, headers } = await kernel.http.post('/api/made', undefined, KEY);
      expect([status, body, headers.get('idempotency-replayed') ?? undefined]).to.deep.equal([201, { made: 1 }, replayed]);
    }
  });

  it('fails in tests when its handler keeps no receipt: the next caller would do it again', async () => {
    const kernel = await boot(async () => undefined);
    expect((await kernel.http.post('/api/made', undefined, KEY)).status).to.equal(500);
    expect((await kernel.http.post('/api/made')).body).to.deep.equal({ made: 2 });
  });
});
