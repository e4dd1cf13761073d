/**
 * What an extension contributes, derived from its code: all its declarations, without what handles them. It is enough
 * to mount, document, authorise, price and validate each of them before a line of the extension runs.
 */
import {
  type AnyTool,
  type CollectionView,
  type CommandDecl,
  type CommandWordDecl,
  type CompletionDecl,
  type EventDecl,
  type ExtensionDefinition,
  namesOfSlashCommand,
  type Migration,
  type MigrationBuilder,
  type RouteDecl,
  type ServiceDecl,
  type SlashCommandFacts,
  type SocketDecl,
} from '@svc/api';
import { type AnyMethodDecl, type Contributions, type Declared, isCapability, faultOfSlashCommand, isOptional, type Manifest, MIGRATION_STEPS } from '@svc/api/internal';
import { checkCapabilities } from './declared-capabilities.js';
import { checkTables } from './declared-tables.js';
import { isCliWord } from './commands/cli-words.js';
import { completionsOf, faultsOfCompletions } from './commands/completions.js';
import { faultsOfCommands, wordsOf } from './commands/declared-commands.js';
import { type Seen, recordingContext } from './recording-context.js';

type Json = Readonly<Record<string, unknown>>;

/** contributions.json. Committed, never edited, compared at activation. */
export interface AllContributions {
  readonly routes: readonly Json[];
  readonly sockets: readonly Json[];
  readonly tools: readonly Json[];
  /** Services, hooks, events, frame formats, kinds of work, tables and capabilities, and what else it registers by a declaration. */
  readonly declares: readonly Json[];
  readonly taps: readonly Json[];
  /** In the order in which they are applied, each with what it does. */
  readonly migrations: readonly MigrationSteps[];
  readonly timers: Contributions['timers'];
  readonly workers: readonly Json[];
  /** JSON Schemas of the claimed config sections. */
  readonly config: Json;
  /** Left out where there are none, as in packages that were built before there were any. */
  readonly commands?: readonly CommandDecl[];
  readonly collections?: readonly CollectionView[];
  readonly commandWords?: readonly CommandWordDecl[];
  readonly slashCommands?: readonly SlashCommandFacts[];
  readonly completions?: readonly CompletionDecl[];
}

/** What a migration asks of its builder, call by call: enough to apply it without its code. */
export interface MigrationSteps {
  readonly name: string;
  readonly replaces?: readonly string[];
  readonly steps: ReadonlyArray<{ readonly do: keyof MigrationBuilder; readonly with: readonly unknown[] }>;
}

/** Activates the definition against recorders. Throws where the code and extension.json do not say the same. */
export const deriveContributions = async (definition: ExtensionDefinition, manifest: Manifest, version: string): Promise<AllContributions> => {
  const config = Object.fromEntries((definition.config ?? []).map(({ section, schema }) => [section, schema]));
  checkClaims(manifest, Object.keys(config));
  checkTables(definition, manifest);
  checkCapabilities(definition, manifest);
  const { ctx, seen } = recordingContext({ id: manifest.id, version });
  await definition.activate(ctx);
  const routes = seen.routes.map(routeFacts).sort(byPlace);
  const panel = (manifest.panels ?? []).find(({ collection }) => collection !== undefined && !definition.views?.some(({ path }) => path === collection));
  if (panel) throw new Error(`has a panel "${panel.id}" of ${panel.collection}, which is the path of none of its collections`);
  const doubled = twice(routes.map(placeOf));
  if (doubled !== undefined) throw new Error(`declares the route ${doubled} twice`);
  const timerTwice = twice(seen.timers.map(({ name }) => name));
  if (timerTwice !== undefined) throw new Error(`has two timers called ${timerTwice}`);
  const all = plain({
    routes,
    sockets: seen.sockets.map(socketFacts).sort(byPlace),
    tools: seen.tools.map(toolFacts).sort(byName),
    declares: declarationsOf(definition, seen),
    taps: seen.taps.map(tapFacts).sort(byName),
    migrations: (definition.migrations ?? []).map(stepsOf),
    timers: seen.timers.toSorted(byName),
    workers: (definition.workers ?? []).map(({ name, input, output }) => ({ name, input, output })),
    config: Object.fromEntries(Object.entries(config).sort(([a], [b]) => byText(a, b))),
    ...(definition.commands?.length ? { commands: definition.commands } : {}),
    ...(definition.views?.length ? { collections: definition.views } : {}),
    ...(definition.commandWords?.length ? { commandWords: definition.commandWords } : {}),
    ...(definition.completions?.length ? { completions: definition.completions } : {}),
    ...(seen.slashCommands.length > 0 ? { slashCommands: slashFacts(seen.slashCommands) } : {}),
  });
  const [fault] = [...faultsOfCommands(manifest.id, all), ...faultsOfCompletions(all)];
  if (fault !== undefined) throw new Error(fault);
  const taken = wordsOf(all).find(isCliWord);
  if (taken !== undefined) throw new Error(`the command word "${taken}" belongs to the command line itself`);
  return all;
};

/** The names alone, and the capabilities whole: what the daemon keeps of each installed extension. */
export const namesOf = (all: AllContributions): Contributions => ({
  routes: all.routes.map(placeOf).sort(byText),
  sockets: all.sockets.map(({ path }) => String(path)).sort(byText),
  ...(all.slashCommands?.length ? { slashCommands: all.slashCommands.map((command) => namesOfSlashCommand(command).join(' ')) } : {}),
  tools: all.tools.map(({ name, risk, replay }) => ({ name: String(name), risk: String(risk), replay: String(replay) })),
  timers: all.timers,
  migrations: all.migrations.map(({ name }) => name),
  config: all.config,
  capabilities: all.declares.flatMap((one) => (isCapability(one) ? [one] : [])),
  services: servicesOf(all.declares),
  ...(all.collections?.length ? { collections: all.collections } : {}),
  ...referencesIn(all),
  live: Object.fromEntries(all.declares.flatMap((one) => (isLive(one) ? [[one.name, one.live]] : []))),
  ...(all.commands?.length || all.commandWords?.length ? { commandWords: wordsOf(all) } : {}),
});

/** Where fields that refer to something find what there is. */
const referencesIn = (all: AllContributions): Pick<Contributions, 'references'> => {
  const found = completionsOf(all).flatMap(({ name, path, rows, key, value }) => (key === undefined ? [] : [[name, { path, key, value, ...(rows === undefined ? {} : { rows }) }] as const]));
  return found.length === 0 ? {} : { references: Object.fromEntries(found) };
};

const isLive = (one: Json): one is Json & Required<Pick<EventDecl, 'name' | 'live'>> => one.declares === 'event' && typeof one.live === 'object' && one.live !== null;

const servicesOf = (declares: readonly Json[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    declares.flatMap((one) => {
      if (one.declares !== 'service') return [];
      const methods = Object.values((one.methods ?? {}) as Readonly<Record<string, Pick<AnyMethodDecl, 'others'>>>);
      return [[String(one.name), [...new Set(methods.flatMap(({ others }) => (others ? [others.what] : [])))]]];
    }),
  );

/** A claimed section without a schema, or the other way round, would be refused at activation: say so now. */
const checkClaims = (manifest: Manifest, given: readonly string[]): void => {
  const claimed = (manifest.config ?? []).map((claim) => ('section' in claim ? claim.section : 'key' in claim ? claim.key : claim.setting));
  const bare = claimed.find((name) => !given.includes(name));
  if (bare !== undefined) throw new Error(`extension.json claims the config section "${bare}", but the code gives no schema for it`);
  const unclaimed = given.find((name) => !claimed.includes(name));
  if (unclaimed !== undefined) throw new Error(`the code gives a schema for the config section "${unclaimed}", which extension.json does not claim`);
};

const routeFacts = ({ handler: _handler, errorShape, ...facts }: RouteDecl): Json => ({ ...facts, ...(errorShape ? { errorShape: { under: errorShape.under } } : {}) });

const socketFacts = ({ upgrade: _upgrade, opened: _opened, message: _message, closed: _closed, ...facts }: SocketDecl): Json => facts;

/** Needs that code tells are not told here: a call of such a tool needs the whole of each capability until its code runs. */
const toolFacts = ({ run: _run, needs, ...facts }: AnyTool): Json => (typeof needs === 'object' ? { ...facts, needs } : facts);

/** Throws for one that could not be typed, or would be another's. */
const slashFacts = (commands: Seen['slashCommands']): SlashCommandFacts[] => {
  const facts = commands.map(({ run: _run, ...rest }) => rest).sort((a, b) => byText(a.name, b.name));
  const [fault] = faultsOfSlashCommands(facts);
  if (fault !== undefined) throw new Error(fault);
  return facts;
};

/** One sentence for each that cannot be used; none where all can. */
export const faultsOfSlashCommands = (commands: readonly SlashCommandFacts[]): string[] => {
  const faults = commands.flatMap((command) => faultOfSlashCommand(command) ?? []);
  if (faults.length > 0) return faults;
  const doubled = twice(commands.flatMap(namesOfSlashCommand));
  return doubled === undefined ? [] : [`the slash command /${doubled} is declared twice`];
};

/** The hook by name and version, what kind of answer a tap gives, and where it stands among the taps. */
const tapFacts = ({ hook: { name, version, kind }, options: { stage, before, after } }: Seen['taps'][number]): Json => ({
  name,
  version,
  kind,
  ...(stage === undefined ? {} : { stage }),
  ...(before ? { before } : {}),
  ...(after ? { after } : {}),
});

const stepsOf = ({ name, replaces, up }: Migration): MigrationSteps => {
  const steps: Array<MigrationSteps['steps'][number]> = [];
  const noted = MIGRATION_STEPS.map((step) => [step, (...args: unknown[]): void => void steps.push({ do: step, with: args })] as const);
  up(Object.fromEntries(noted) as Record<keyof MigrationBuilder, (...args: unknown[]) => void>);
  return { name, ...(replaces === undefined ? {} : { replaces }), steps };
};

/** What the contract exports, and what was registered besides, each once. */
const declarationsOf = (definition: ExtensionDefinition, seen: Seen): Json[] => {
  const all = [...Object.values(definition.contract ?? {}).filter(isDeclared), ...(definition.tables ?? []), ...(definition.capabilities ?? []), ...seen.services, ...seen.hooks, ...seen.projections];
  const known = new Map(all.map((one) => [`${one.declares} ${one.name}@${one.version}`, one]));
  return [...known].sort(([a], [b]) => byText(a, b)).map(([, one]) => declarationFacts(one));
};

const isDeclared = (value: unknown): value is Declared => typeof value === 'object' && value !== null && 'declares' in value && 'name' in value && 'version' in value;

/** A projection names its format; the format stands where it is declared. */
const declarationFacts = (one: Declared): Json => {
  if (one.declares === 'projection' && 'format' in one) return { ...one, format: isDeclared(one.format) ? `${one.format.name}@${one.format.version}` : undefined };
  return isService(one) ? { ...one, methods: Object.fromEntries(Object.entries(one.methods).map(([name, spec]) => [name, methodFacts(spec)])) } : { ...one };
};

const isService = (one: Declared): one is ServiceDecl => one.declares === 'service' && 'methods' in one;

/** Which arguments may be left out is no part of a JSON Schema. */
const methodFacts = (spec: AnyMethodDecl): Json => {
  const optional = spec.args.filter(isOptional).length;
  return { ...spec, ...(optional > 0 ? { optional } : {}) };
};

const plain = (value: AllContributions): AllContributions => JSON.parse(JSON.stringify(value));

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: Json, b: Json): number => byText(String(a.name), String(b.name));
const placeOf = ({ method, path }: Json): string => `${String(method)} ${String(path)}`;
const byPlace = (a: Json, b: Json): number => byText(placeOf(a), placeOf(b));
const twice = (list: readonly string[]): string | undefined => list.find((item, index) => list.indexOf(item) !== index);
