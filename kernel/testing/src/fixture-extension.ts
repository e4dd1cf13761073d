/** An extension written inside a test: it goes through the same lifecycle as one that was installed. */
import type { ExtensionDefinition } from '@svc/api';
import type { Contributions, Manifest } from '@svc/api/internal';
import type { InstalledFiles } from '@svc/daemon';

export interface FixtureExtension {
  readonly id: string;
  readonly manifest?: Partial<Manifest>;
  readonly contributions?: Partial<Contributions>;
  /** Folder of its static files. */
  readonly assets?: string;
  readonly definition: ExtensionDefinition | (() => ExtensionDefinition | Promise<ExtensionDefinition>);
}

/** `definition` may be a function, called anew for each generation. */
export const fixtureExtension = (fixture: FixtureExtension): InstalledFiles => ({
  id: fixture.id,
  version: '1.0.0',
  description: `The fixture ${fixture.id}`,
  bundled: true,
  manifest: { manifest: 1, id: fixture.id, api: '^0.1.0', ...fixture.manifest },
  contributions: { routes: [], sockets: [], tools: [], timers: [], migrations: [], config: {}, capabilities: [], ...fixture.contributions },
  workers: {},
  ...(fixture.assets === undefined ? {} : { assets: fixture.assets }),
  load: async () => (typeof fixture.definition === 'function' ? fixture.definition() : fixture.definition),
});
