/** The engines that store code is tested on. */
import { sharedCluster } from './cluster.js';

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** What to open storage with for a database of its own, beside `file`. */
  fresh(): Promise<{ url?: string }>;
}

export const engines: readonly TestEngine[] = [
  { name: 'SQLite', fresh: async () => ({}) },
  { name: 'PostgreSQL', fresh: async () => ({ url: await (await sharedCluster()).fresh() }) },
];

/** The claims of `fn`, once for each engine. */
export const describeOnEngines = (title: string, fn: (engine: TestEngine) => void): void => {
  for (const engine of engines) describe(`${title} on ${engine.name}`, () => fn(engine));
};
