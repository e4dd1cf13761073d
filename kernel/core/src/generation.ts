/**
 * One generation from load to disposal.
 *
 * G1  A candidate registers where nobody sees it; what it adds must be what its manifest and contributions.json say.
 * G2  Conflicts with what is visible are validated in the same step as the swap. The swap of routes, taps, tools, services and timers is one synchronous step; a start that fails swaps back.
 * G3  A candidate that may be seen has erased what was to be erased while its area was off.
 * G4  A retired generation leaves no row and no label; what remains is reported as a leak.
 * G5  Each phase has a time, and nobody waits for it longer. What takes the place of another version is seen when it counts.
 */
import type { ExtensionContext, ExtensionDefinition, StopReason } from '@svc/api';
import { declaredAs } from '@svc/api/internal';
import type { AnyRegistry } from './contribution-registry.js';
import { describeCapability, ownCapabilities } from './installed/capabilities.js';
import type { Installed } from './installed/installed.js';
import { Lifetime } from './lifetime.js';
import { type Contributor, runAs } from './owner.js';

export interface Generation {
  readonly owner: Contributor;
  readonly installed: Installed;
  readonly definition: ExtensionDefinition;
  readonly context: ExtensionContext;
}

export interface GenerationDeps {
  readonly registries: readonly AnyRegistry[];
  createContext(owner: Contributor, installed: Installed): ExtensionContext;
  migrate(installed: Installed, definition: ExtensionDefinition): Promise<void>;
  /** Registers what the definition declares beside what `activate` registers. */
  declare?(owner: Contributor, definition: ExtensionDefinition): void;
  /** Erases of this area what was to be erased while it was off. */
  erase?(owner: Contributor): Promise<void>;
}

export type Phase = 'load' | 'migrate' | 'activate' | 'erase' | 'start';

/** Which phase failed, for `svc ext why`. */
export class PhaseError extends Error {
  override readonly name = 'PhaseError';
  readonly phase: Phase;

  constructor(phase: Phase, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.phase = phase;
  }
}

export const phaseOf = (error: unknown): Phase | null => (error instanceof PhaseError ? error.phase : null);
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const LOAD_BUDGET_MS = 15_000;
/** Code that came with the daemon may have years of rows to go through. */
const OWN_MIGRATE_BUDGET_MS = 600_000;
const MIGRATE_BUDGET_MS = 60_000;
const ACTIVATE_BUDGET_MS = 2_000;
const ERASE_BUDGET_MS = 60_000;
const START_BUDGET_MS = 15_000;
/** What came in while a candidate that failed was visible may finish. */
const FAILED_DRAIN_MS = 5_000;

/** How a start is followed from outside. */
export interface Starting {
  onPhase(phase: Phase): void;
  /** Aborted when nobody wants it any more: what it waits for is not waited for. */
  readonly signal?: AbortSignal;
  /** Makes it count. Then it is started first, and seen when this has resolved: nobody was answered by one whose tables are put back. */
  confirm?(): Promise<void>;
}

/** Loads, migrates and activates a candidate that nobody sees yet, each within its time. On failure nothing of it is left. */
export async function prepare(deps: GenerationDeps, installed: Installed, number: number, { onPhase, signal }: Starting): Promise<Generation> {
  const owner: Contributor = {
    id: installed.id,
    generation: number,
    lifetime: new Lifetime(`${installed.id}@${number}`),
    ...(installed.build === undefined ? {} : { build: installed.build }),
    ...(installed.isRemote ? { isRemote: true } : {}),
  };
  let phase: Phase = 'load';
  const enter = (next: Phase) => {
    phase = next;
    onPhase(next);
  };
  try {
    enter('load');
    const definition = await within({ budgetMs: LOAD_BUDGET_MS, what: 'load', signal }, () => runAs(owner, () => installed.load()));
    enter('migrate');
    const migrateMs = installed.build === undefined ? MIGRATE_BUDGET_MS : OWN_MIGRATE_BUDGET_MS;
    await within({ budgetMs: migrateMs, what: 'its migration', signal }, () => deps.migrate(installed, definition));
    enter('activate');
    const context = deps.createContext(owner, installed);
    await within({ budgetMs: ACTIVATE_BUDGET_MS, what: 'activate', signal }, () => runAs(owner, () => definition.activate(context)));
    deps.declare?.(owner, definition);
    compareWithManifest(deps.registries, owner, installed);
    enter('erase');
    await within({ budgetMs: ERASE_BUDGET_MS, what: 'the erasure of who was to be erased', signal }, () => deps.erase?.(owner));
    return { owner, installed, definition, context };
  } catch (error) {
    await discard(deps, owner);
    throw new PhaseError(phase, error);
  }
}

async function discard(deps: GenerationDeps, owner: Contributor): Promise<void> {
  for (const registry of deps.registries) registry.drop(owner);
  await owner.lifetime.close();
}

/** Makes the candidate visible in place of `previous` and starts it; a start that fails swaps back. */
export async function publish(deps: GenerationDeps, next: Generation, previous: Generation | undefined, { confirm, onPhase, signal }: Starting): Promise<void> {
  const { definition, context, owner } = next;
  try {
    // Validated now and not before: of two candidates that start side by side the second sees the first.
    for (const registry of deps.registries) registry.verify(owner, previous?.owner);
  } catch (error) {
    await discard(deps, owner);
    throw new PhaseError('activate', error);
  }
  const show = (): void => {
    for (const registry of deps.registries) registry.swap(previous?.owner, owner);
  };
  if (!confirm) show();
  onPhase('start');
  try {
    if (definition.start) await within({ budgetMs: START_BUDGET_MS, what: 'start', signal }, () => runAs(owner, () => definition.start?.(context)));
    await confirm?.();
    if (confirm) show();
  } catch (error) {
    if (!confirm) for (const registry of deps.registries) registry.swap(owner, previous?.owner);
    await retire(deps, next, 'failed', FAILED_DRAIN_MS);
    throw error instanceof Error && error.name === 'NotReady' ? error : new PhaseError('start', error);
  }
}

/** Takes a generation out of sight at once; `retire` ends it. */
export function unpublish(deps: GenerationDeps, generation: Generation): void {
  for (const registry of deps.registries) registry.swap(generation.owner, undefined);
}

/** Lets it finish what it holds, stops it, disposes all it opened. Resolves with what it left behind. */
export async function retire(deps: GenerationDeps, generation: Generation, why: StopReason, drainMs: number): Promise<string[]> {
  const { owner, definition } = generation;
  const leaks: string[] = [];
  const drained = await owner.lifetime.drain(drainMs);
  if (!drained && drainMs > 0) leaks.push(...owner.lifetime.holds().map((label) => `still held after ${drainMs} ms: ${label}`));
  try {
    await within({ budgetMs: START_BUDGET_MS, what: 'stop' }, () => runAs(owner, () => definition.stop?.(why)));
  } catch (error) {
    leaks.push(`stop failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  const problems = await owner.lifetime.close();
  leaks.push(...problems.map(({ label, error }) => `${label}: ${error instanceof Error ? error.message : String(error)}`));
  for (const registry of deps.registries) {
    leaks.push(...registry.describe(owner).map((row) => `${registry.name} ${row} was not removed`));
    registry.drop(owner);
  }
  leaks.push(...owner.lifetime.labels().map((label) => `${label} was not disposed`));
  return leaks;
}

function compareWithManifest(registries: readonly AnyRegistry[], owner: Contributor, installed: Installed): void {
  const { manifest, contributions } = installed;
  const expected: Readonly<Record<string, { rows: readonly string[]; exact: boolean; where: string }>> = {
    route: { rows: contributions.routes, exact: true, where: 'contributions.json' },
    socket: { rows: contributions.sockets, exact: true, where: 'contributions.json' },
    tool: { rows: contributions.tools.map((tool) => tool.name), exact: true, where: 'contributions.json' },
    'slash command': { rows: contributions.slashCommands ?? [], exact: true, where: 'contributions.json' },
    service: {
      rows: Object.entries(manifest.provides ?? {}).flatMap(([name, versions]) => [versions].flat().map((version) => declaredAs({ name, version }))),
      exact: true,
      where: 'provides in extension.json',
    },
    tap: { rows: (manifest.hooks ?? []).map((hook) => hook.name), exact: false, where: 'hooks in extension.json' },
    table: { rows: manifest.tables ?? [], exact: true, where: 'tables in extension.json' },
    capability: { rows: capabilityRows(installed), exact: true, where: 'contributions.json together with extension.json' },
    hook: { rows: manifest.defines ?? [], exact: true, where: 'defines in extension.json' },
    listener: { rows: manifest.events?.listens ?? [], exact: false, where: 'events.listens in extension.json' },
  };
  for (const registry of registries) {
    const rule = expected[registry.name];
    if (!rule) continue;
    const actual = registry.describe(owner);
    const undeclared = actual.find((row) => !rule.rows.includes(row));
    if (undeclared !== undefined) throw new Error(`it adds the ${registry.name} ${undeclared}, which ${rule.where} does not declare`);
    const missing = rule.exact ? rule.rows.find((row) => !actual.includes(row)) : undefined;
    if (missing !== undefined) throw new Error(`${rule.where} declares the ${registry.name} ${missing}, which it does not add`);
  }
}

/** One that the manifest names and the contributions do not hold stands as its bare name, which nothing adds. */
function capabilityRows(installed: Installed): string[] {
  const own = new Map(ownCapabilities(installed).map((one) => [one.name, describeCapability(one)]));
  return (installed.manifest.capabilities ?? []).map((name) => own.get(name) ?? name);
}

async function within<T>({ budgetMs, signal, what }: { readonly budgetMs: number; readonly what: string; readonly signal?: AbortSignal | undefined }, fn: () => T): Promise<Awaited<T>> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not finish within ${budgetMs} ms: it may be waiting on a service, a network or a lock`)), budgetMs);
    stop = () => reject(signal?.reason instanceof Error ? signal.reason : new Error(`${what} was abandoned`));
    signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([Promise.resolve(fn()), late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
