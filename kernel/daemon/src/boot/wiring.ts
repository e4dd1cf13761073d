/** The registries of the wiring, and the lifecycle over them. */
import * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import {
  type ActorRegistry,
  type ContractValidator,
  ContributionRegistry,
  createActorRegistry,
  createContractValidator,
  createUnhandledHandler,
  describeCapability,
  EventHub,
  type GenerationDeps,
  HookRegistry,
  type InstalledFiles,
  type InstalledStore,
  Lifecycle,
  type LifecycleDeps,
  LiveRegistry,
  type Violation,
  ServiceRegistry,
  StrikeRegistry,
  type UnhandledHandler,
} from '@svc/core';
import { type ContextParts, contextErrors, createContext, createProjectionRegistry, liveChanges } from '@svc/context';
import type { Bus } from '@svc/platform/bus/bus';
import type { TimerClock } from '@svc/platform/clock/clock';
import { kernelSections } from '@svc/platform/config/kernel-sections';
import { RECEIPTS_KIND } from '@svc/platform/http/idempotency';
import type { Log, ScopedLogger } from '@svc/platform/log/log';
import type { Projection } from '@svc/platform/streams/projections';

const KERNEL_EVENTS = [api.AuditRecorded, api.ExtensionChanged, api.ConfigChanged, api.EventsGap, api.PageChanged].map(({ name }) => name);
const KERNEL_KINDS = [RECEIPTS_KIND];

export interface Wiring {
  readonly hooks: HookRegistry;
  readonly services: ServiceRegistry;
  readonly events: EventHub;
  readonly tools: ContributionRegistry<api.AnyTool>;
  readonly slashCommands: ContributionRegistry<api.SlashCommand>;
  readonly tables: ContributionRegistry<api.TableDecl>;
  readonly capabilities: ContributionRegistry<api.CapabilityDecl>;
  readonly timers: LiveRegistry;
  readonly ready: LiveRegistry;
  readonly strikes: StrikeRegistry;
  readonly unhandled: UnhandledHandler;
  readonly projections: ContributionRegistry<Projection>;
  readonly validator: ContractValidator & { load(): Promise<void> };
  readonly actors: ActorRegistry;
}

export interface WiringInputs {
  readonly clock: TimerClock;
  readonly log: ScopedLogger;
  readonly bus: Bus;
  readonly installed: Pick<InstalledStore<InstalledFiles>, 'all'>;
  isDurable(extensionId: string, event: string): boolean;
  readonly validatesAll: boolean;
  /** Undefined until extensions start. */
  lifecycle(): Lifecycle | undefined;
}

export function createWiring({ bus, clock, installed, isDurable, lifecycle, log, validatesAll }: WiringInputs): Wiring {
  const validator = createContractValidator(loadChecker, validatesAll);
  const actors = createActorRegistry();
  const strikes = new StrikeRegistry(() => clock.now());
  const unhandled = createUnhandledHandler({ log, strikes, lifecycle });
  const events: EventHub = new EventHub(
    {
      failed: (owner, event, error) => unhandled.report(owner, `event ${event}`, error),
      dropped: (owner, event) => unhandled.report(owner, `event ${event}`, new Error('the listener fell behind and an event was dropped')),
      carry: (event, data) => bus.publish('events', { event, data }),
      said: (event, data) => {
        for (const change of liveChanges(installed.all(), event, data)) events.emit(api.PageChanged.name, change);
      },
      isDurable,
    },
    validator,
  );
  const hooks: HookRegistry = new HookRegistry(
    internal.kernelHooks,
    {
      strike: (owner, hook, error, lostMs) => unhandled.strike(hooks, owner, hook, error, lostMs),
      // Code that came with the daemon has the budget of the hook.
      patienceMs: (owner, hook) => (owner.build === undefined ? strikes.patienceMs(owner.id, hook) : Number.POSITIVE_INFINITY),
      answered: unhandled.answered,
      timing: () => undefined,
    },
    validator,
    actors,
  );
  return {
    validator,
    actors,
    unhandled,
    projections: createProjectionRegistry(),
    hooks,
    services: new ServiceRegistry((owner, service, error) => unhandled.report(owner, `watch of service ${service}`, error), validator, actors),
    events,
    tools: new ContributionRegistry<api.AnyTool>('tool', {
      describe: (tool) => tool.name,
      check: (candidate, others) => {
        const other = others.find((row) => row.value.name === candidate.value.name);
        if (other) throw new Error(`the tool ${candidate.value.name} is already contributed by ${other.owner.id}`);
      },
    }),
    slashCommands: new ContributionRegistry<api.SlashCommand>('slash command', {
      describe: (command) => api.namesOfSlashCommand(command).join(' '),
      check: ({ value }, others) => {
        const fault = internal.faultOfSlashCommand(value);
        if (fault !== undefined) throw new Error(fault);
        const [names, known] = [api.namesOfSlashCommand(value), others.flatMap((row) => api.namesOfSlashCommand(row.value).map((name) => ({ name, owner: row.owner.id })))];
        const taken = known.find(({ name }) => names.includes(name));
        if (taken) throw new Error(`the slash command /${taken.name} is already contributed by ${taken.owner}`);
      },
    }),
    tables: new ContributionRegistry<api.TableDecl>('table', { describe: ({ name }) => name }),
    capabilities: new ContributionRegistry<api.CapabilityDecl>('capability', { describe: describeCapability }),
    timers: new LiveRegistry('timer', { refuse: contextErrors.timer_twice }),
    // A run of an earlier life may ask for anything that an area brings: it goes on when the start has reached all of them.
    ready: new LiveRegistry('run listener', { isHeld: true }),
    strikes,
  };
}

export function createLifecycle(
  parts: ContextParts,
  wiring: Wiring,
  installed: InstalledStore<InstalledFiles>,
  rest: Pick<LifecycleDeps, 'choose' | 'attempt' | 'trials' | 'intents' | 'latest' | 'adopted' | 'processOf' | 'storedBy' | 'forgiven'> & { clock: TimerClock; log: Log; settled(): void },
): Lifecycle {
  const generations: GenerationDeps = {
    // Services last: whoever is called through one finds its routes, tools and timers in place.
    registries: [
      wiring.hooks.definitions,
      wiring.hooks.taps,
      parts.http.routes,
      parts.http.sockets,
      wiring.tools,
      wiring.slashCommands,
      wiring.tables,
      wiring.capabilities,
      wiring.events.listeners,
      wiring.projections,
      wiring.services.provided,
      wiring.timers,
      wiring.ready,
    ],
    createContext: (owner, one) => createContext(parts, owner, one as InstalledFiles), // all that the store holds, and so all that is ever started
    migrate: async (one, definition) => {
      // What another build made is held to the contracts at each crossing.
      if (one.build === undefined) await wiring.validator.load();
      if (definition.migrations?.length) await parts.storage.migrate({ id: one.id, tables: one.manifest.tables ?? [], isThirdParty: !one.bundled }, definition.migrations);
    },
    declare: (owner, { tables = [], capabilities = [] }) => {
      for (const table of tables) wiring.tables.add(owner, table);
      for (const capability of capabilities) wiring.capabilities.add(owner, capability);
    },
    erase: (owner) => parts.purges.settleCandidate(owner),
  };
  return new Lifecycle(
    {
      ...generations,
      apiVersion: internal.API_VERSION,
      names: { sections: Object.keys(kernelSections), events: KERNEL_EVENTS, kinds: KERNEL_KINDS },
      strikes: wiring.strikes,
      choose: rest.choose,
      ...(rest.attempt ? { attempt: rest.attempt } : {}),
      ...(rest.trials ? { trials: rest.trials } : {}),
      intents: rest.intents,
      ...(rest.latest ? { latest: rest.latest } : {}),
      ...(rest.adopted ? { adopted: rest.adopted } : {}),
      ...(rest.processOf ? { processOf: rest.processOf } : {}),
      ...(rest.storedBy ? { storedBy: rest.storedBy } : {}),
      ...(rest.forgiven ? { forgiven: rest.forgiven } : {}),
      wanted: (one) => one.manifest.when === undefined || Boolean(pointer(parts, one.manifest.when)),
      clock: rest.clock,
      log: rest.log.logger('kernel'),
      changed: (id, state) => {
        wiring.events.emit('extension.changed', { id, state });
        if (state === 'active') parts.purges.wentLive(id);
        rest.settled();
      },
      later: (ms, fn) => rest.clock.schedule(ms, fn),
    },
    installed,
  );
}

/** `/prompt_intelligence/enabled` → the value of that setting; undefined when nobody claims the section. */
function pointer(parts: ContextParts, path: string): unknown {
  const [section, ...rest] = path.slice(1).split('/');
  if (section === undefined || !(section in parts.claims() || `/${section}` in parts.claims())) return undefined;
  let value: unknown = parts.config.get(section in parts.claims() ? section : `/${section}`);
  for (const key of rest) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return value;
}

/** Loaded with the first extension that has to be validated. */
const loadChecker = async (): Promise<Violation> => (await import('@svc/platform/schema/violation')).loadViolation();
