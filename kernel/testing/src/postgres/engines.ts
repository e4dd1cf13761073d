/** The engines that store code is tested on. */
import { sharedCluster } from './cluster.js';

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Makes the server, where there is one and it is not there yet. */
  start(): Promise<void>;
  /** What to open storage with for a database of its own, beside `file`. */
  fresh(): Promise<{ url?: string }>;
}

const START_MS = 90_000;
const sqlite: TestEngine = { name: 'SQLite', start: async () => undefined, fresh: async () => ({}) };
const postgres: TestEngine = { name: 'PostgreSQL', start: async () => void (await sharedCluster()), fresh: async () => ({ url: await (await sharedCluster()).fresh() }) };
export const engines: readonly TestEngine[] = [sqlite, postgres];

/** The engine of the claims that run now: whole daemons of tests are booted on it. */
let inUse = sqlite;

type EngineClaims = (this: Mocha.Suite, engine: TestEngine) => void;

/** The claims of `fn`, once for each engine. */
export const describeOnEngines = (title: string, fn: EngineClaims): void => declare(engines, title, fn);

/**
 * The same for claims about what a daemon does with rows that the claims of storage, of stores and of the contract read and
 * write on both engines: `npm test` runs these on SQLite, `npm run test:long` on PostgreSQL, and a run of named areas on both.
 */
export const describeDaemonOnEngines = (title: string, fn: EngineClaims): void => {
  const lane = process.env.SVC_TEST_ENGINE;
  declare(lane === undefined ? engines : engines.filter(({ name }) => name === lane), title, fn);
};

const declare = (on: readonly TestEngine[], title: string, fn: EngineClaims): void => {
  for (const engine of on)
    describe(`${title} on ${engine.name}`, function () {
      before(async function () {
        // The first one to need a server waits for it to be made.
        this.timeout(START_MS);
        await engine.start();
        inUse = engine;
      });
      after(() => {
        inUse = sqlite;
      });
      fn.call(this, engine);
    });
};

export const engineInUse = (): TestEngine['name'] => inUse.name;

const homes = new Map<string, string | undefined>();

/** The database of a home, the same at each start from it: what to put into the environment of a daemon. `make` makes it; by default an empty one. */
export const databaseOfHome = async (home: string, make = async () => (await inUse.fresh()).url): Promise<Readonly<Record<string, string>>> => {
  if (!homes.has(home)) homes.set(home, await make());
  const url = homes.get(home);
  return url === undefined ? {} : { SVC__STORAGE__URL: url };
};
