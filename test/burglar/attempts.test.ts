/** An extension from elsewhere tries what it must not: each attempt fails by its own name, and nothing was touched. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ExtensionContext, actorFrom } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Scene } from '@svc/fixtures/burglar/attempt';
import { furnish, house, houseContributions, houseManifest, type HouseState, HouseConfig, HouseFrames, TOPIC } from '@svc/fixtures/burglar/house';
import { attempts, burglar, type Shown } from '@svc/fixtures/burglar/index';

const FEWEST = 40;

describe('a burglar in the house', function () {
  this.timeout(60_000);
  let outside: Server;
  let scene: Scene;
  let kernel: TestKernel;
  const taken: string[] = [];
  const shown: Shown = { things: [] };

  before(async () => {
    outside = createServer((req, res) => {
      taken.push(`${req.url} ${req.headers['x-loot'] ?? ''}`);
      if (req.url === '/to-metadata') res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' });
      res.end();
    });
    await new Promise<void>((done) => outside.listen(0, '127.0.0.1', done));
    const { port } = outside.address() as AddressInfo; // listening, so it has one
    const seen: { burglar?: ExtensionContext; house?: HouseState } = {};
    kernel = await bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["burglar", "house"]\n[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n[house]\ncode = "1234"\n`,
      env: { OPENAI_API_KEY: 'sk-of-the-house' },
      extra: [
        fixtureExtension({
          id: 'house',
          manifest: houseManifest,
          contributions: houseContributions,
          definition: house((state) => {
            seen.house = state;
          }),
        }),
        burglar((ctx) => {
          seen.burglar = ctx;
        }, shown),
      ],
    });
    if (!seen.burglar || !seen.house)
      throw new Error(
        kernel.daemon.kernel
          .extensions()
          .map(({ id, state, reason }) => `${id} ${state} ${reason}`)
          .join('\n'),
      );
    await furnish(seen.house);
    scene = { ctx: seen.burglar, house: seen.house, fence: `http://127.0.0.1:${port}` };
  });
  after(async () => {
    outside.close();
    await stopTestKernels();
  });

  it(`tries at least ${FEWEST} things`, () => {
    expect(Object.keys(attempts).length).to.be.at.least(FEWEST);
  });

  for (const [name, { ends, attempt }] of Object.entries(attempts)) {
    it(`${name}: ${ends}`, async () => {
      const before = await stateOf(scene);
      expect(await endOf(() => attempt(scene))).to.match(new RegExp(`^${ends}`));
      expect(await stateOf(scene)).to.deep.equal(before);
      expect(kernel.daemon.kernel.ready()).to.equal(true);
      expect(taken.filter((one) => !one.startsWith('/to-metadata '))).to.deep.equal([]);
    });
  }
});

/** All that the house has. */
const stateOf = async ({ house: { ctx, rooms, hidden, run } }: Scene) => ({
  rows: await ctx.db.system('a test').select({ from: 'rooms' }),
  run: run && (await ctx.journal.get(actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' }), run.id)),
  interrupted: run?.signal.aborted,
  topic: await ctx.streams.state(TOPIC),
  code: ctx.config.get(HouseConfig).code,
  isOwn: ctx.streams.here(TOPIC)?.own,
  frames: HouseFrames.final,
  rooms: [...rooms],
  hidden: [...hidden],
});

const endOf = async (attempt: () => unknown): Promise<string> => {
  try {
    const answer = await attempt();
    return answer === undefined || answer === false || (Array.isArray(answer) && answer.length === 0) ? 'nothing' : `it got ${JSON.stringify(answer)}`;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return 'code' in error ? String(error.code) : `${error.name} ${error.message}`;
  }
};
