/** A lifecycle over real registries and extensions written in the test; nothing else of a daemon. */
import { type ExtensionContext, type ExtensionDefinition, Type, defineService, method } from '@svc/api';
import { type Contributions, type Manifest, kernelHooks } from '@svc/api/internal';
import { ContributionRegistry } from '../src/contribution-registry.js';
import { EventHub } from '../src/event-hub.js';
import { HookRegistry } from '../src/hooks/hook-registry.js';
import type { Installed } from '../src/installed/installed.js';
import { createInstalledStore } from '../src/installed/installed-store.js';
import { Lifecycle } from '../src/lifecycle.js';
import type { Contributor } from '../src/owner.js';
import { ServiceRegistry } from '../src/service-registry.js';
import { StrikeRegistry } from '../src/hooks/strike-registry.js';

export interface Fixture {
  readonly manifest?: Partial<Manifest>;
  readonly contributions?: Partial<Contributions>;
  /** Called for each generation. */
  readonly code?: () => ExtensionDefinition;
}

/** The service that a fixture provides under a name. */
const serviceOf = (name: string) => defineService(name, '1.0.0', { generation: method([], Type.Integer()) });

/** What fixtures use of a context; `route` takes `GET /path`, `provide` a service of any name. */
export interface RigContext extends Pick<ExtensionContext, 'id' | 'generation' | 'signal' | 'onDispose' | 'hold'> {
  route(row: string): void;
  provide(name: string): void;
  tap(hook: string): void;
}

/** Fixtures see less than a whole context, and names that no contract has. */
export const code = (activate: (ctx: RigContext) => void | Promise<void>, rest: Omit<Partial<ExtensionDefinition>, 'activate'> = {}): ExtensionDefinition => ({
  ...rest,
  activate: activate as unknown as ExtensionDefinition['activate'],
});

/** An area that provides a service of its name and requires others. */
export const area = (id: string, requires: readonly string[] = [], rest: Fixture = {}): [string, Fixture] => [
  id,
  {
    code: () => code((ctx) => ctx.provide(id)),
    ...rest,
    manifest: { provides: { [id]: '1.0.0' }, requires: Object.fromEntries(requires.map((service) => [service, '^1'])), ...rest.manifest },
  },
];

export const createRig = (fixtures: Iterable<readonly [string, Fixture]>, options: { preset?: readonly string[]; essential?: readonly string[]; onMigrate?: () => void } = {}) => {
  const all = [...fixtures];
  const choices = new Map<string, boolean>();
  const settings = { configEnable: [] as string[], configDisable: [] as string[], when: new Set<string>() };
  const changes: string[] = [];
  const timers: Array<{ ms: number; fn: () => void; isOff: boolean }> = [];
  const routes = new ContributionRegistry<string>('route', {
    describe: (row) => row,
    check: (candidate, others) => {
      const other = others.find((row) => row.value === candidate.value);
      if (other) throw new Error(`${candidate.value} belongs to ${other.owner.id}`);
    },
  });
  const hooks = new HookRegistry(kernelHooks, { strike: () => undefined, timing: () => undefined });
  const services = new ServiceRegistry(() => undefined);
  const events = new EventHub({ failed: () => undefined, dropped: () => undefined, isDurable: () => false });
  const strikes = new StrikeRegistry(() => 0);
  const owners: Contributor[] = [];
  const migrated: string[] = [];
  const onDisk = new Map<string, Installed>();
  const logged: string[] = [];
  const time = { ms: Date.UTC(2026, 0, 1) };

  const createContext = (owner: Contributor): ExtensionContext => {
    owners.push(owner);
    const context: RigContext = {
      id: owner.id,
      generation: owner.generation,
      signal: owner.lifetime.signal,
      onDispose: (label, fn) => owner.lifetime.add(label, fn),
      hold: (label) => {
        const release = owner.lifetime.enter(label);
        return release ? { release } : null;
      },
      route: (row) => void routes.add(owner, row),
      provide: (name) => void services.provide(owner, serviceOf(name), { generation: () => owner.generation }),
      tap: (name) => {
        const hook = kernelHooks.find((one) => one.name === name);
        if (hook) hooks.tap(owner, hook, () => undefined);
      },
    };
    return context as unknown as ExtensionContext;
  };

  const store = createInstalledStore(all.map(([id, fixture]) => installedOf(id, fixture)));
  const lifecycle = new Lifecycle(
    {
      registries: [hooks.definitions, hooks.taps, routes, events.listeners, services.provided],
      createContext,
      latest: async (id) => onDisk.get(id),
      migrate: async (installed) => {
        migrated.push(installed.id);
        options.onMigrate?.();
      },
      apiVersion: '1.0.0',
      strikes,
      intents: () => ({ choices, ...settings, preset: { name: 'test', extensions: options.preset ?? all.map(([id]) => id), essential: options.essential ?? [] } }),
      choose: async (id, enabled) => {
        if (enabled === undefined) choices.delete(id);
        else choices.set(id, enabled);
      },
      wanted: (installed) => installed.manifest.when === undefined || settings.when.has(installed.manifest.when),
      clock: { now: () => time.ms, iso: () => new Date(time.ms).toISOString() },
      log: { info: () => undefined, warn: (message) => void logged.push(message), error: (message) => void logged.push(message) },
      changed: (id, state) => void changes.push(`${id} ${state}`),
      later: (ms, fn) => {
        const timer = { ms, fn, isOff: false };
        timers.push(timer);
        return () => {
          timer.isOff = true;
        };
      },
    },
    store,
  );

  return {
    lifecycle,
    settings,
    store,
    /** A newer build of `id` lies on disk; the next reload finds it. */
    rebuild: (id: string, fixture: Fixture) => void onDisk.set(id, installedOf(id, fixture)),
    choices,
    changes,
    owners,
    migrated,
    strikes,
    logged,
    /** The clock, for the test to move. */
    time,
    /** Routes that a client could call now, with the generation that answers. */
    visible: () => routes.active().map((row) => `${row.value} of ${row.owner.generation}`),
    hasService: (name: string) => services.has(serviceOf(name)),
    states: () => Object.fromEntries(lifecycle.statuses().map((one) => [one.id, one.state])),
    /** Delays that are being waited for. */
    waits: () => timers.filter((timer) => !timer.isOff).map((timer) => timer.ms),
    /** Lets the time of all waits pass. */
    elapse: async () => {
      for (const timer of timers.splice(0)) if (!timer.isOff) timer.fn();
      await lifecycle.settled();
    },
    /** What generations that are not in place left behind. */
    leftovers: () =>
      owners
        .filter((owner) => !lifecycle.statuses().some((one) => one.id === owner.id && one.generation === owner.generation))
        .flatMap((owner) => [...owner.lifetime.labels(), ...owner.lifetime.holds(), ...routes.describe(owner), ...services.provided.describe(owner), ...hooks.taps.describe(owner)]),
  };
};

const installedOf = (id: string, fixture: Fixture): Installed => ({
  id,
  version: '1.0.0',
  description: `The fixture ${id}`,
  bundled: true,
  manifest: { manifest: 1, id, api: '^1.0.0', ...fixture.manifest },
  contributions: { routes: [], sockets: [], tools: [], timers: [], migrations: [], config: {}, capabilities: [], ...fixture.contributions },
  load: async () => (fixture.code ?? (() => code(() => undefined)))(),
});

/** The message that `work` fails with. */
export const rejection = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
};
