/** What contributions.json says of an extension, made into the declarations that the daemon registers for it. */
import {
  type CapabilityDecl,
  type ConfigDecl,
  type EventDecl,
  type HookDecl,
  type Migration,
  type RouteDecl,
  type ServiceDecl,
  type TableDecl,
  type TSchema,
  Type,
  type SlashCommandFacts,
  type Stage,
  type ToolDecl,
} from '@svc/api';
import { type AnyMethodDecl, isCapability, majorOf, MIGRATION_STEPS } from '@svc/api/internal';
import type { AllContributions } from '@svc/installer/contributions';

export interface DeclaredTap {
  readonly hook: HookDecl;
  /** Which of its taps of this hook, in the order in which its code adds them; from 0. */
  readonly nth: number;
  readonly stage?: Stage;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

// The build wrote these from declarations of the types that they are read as, and the schema of an installation validated them.

/** What answers while the areas of security are missing brings them back: that is no third party's business. */
export const declaredRoutes = ({ routes }: AllContributions): Array<Omit<RouteDecl, 'handler'>> => routes.map(({ repairs: _repairs, ...route }) => route as unknown as Omit<RouteDecl, 'handler'>);

export const declaredTools = ({ tools }: AllContributions): Array<Omit<ToolDecl, 'run'>> => tools as unknown as Array<Omit<ToolDecl, 'run'>>;

export const declaredSlashCommands = ({ slashCommands = [] }: AllContributions): readonly SlashCommandFacts[] => slashCommands;

const ofKind = <T>({ declares }: AllContributions, kind: string): T[] => declares.filter((one) => one.declares === kind) as unknown as T[];

export const declaredTables = (from: AllContributions): TableDecl[] => ofKind<TableDecl>(from, 'table');

export const declaredCapabilities = (from: AllContributions): CapabilityDecl[] => ofKind<CapabilityDecl>(from, 'capability').filter(isCapability);

export const declaredEvents = (from: AllContributions): ReadonlyMap<string, EventDecl> => new Map(ofKind<EventDecl>(from, 'event').map((event) => [event.name, event]));

/** Services, by `name@version`. Which arguments may be left out stands as a number: they are the last ones. */
export const declaredServices = (from: AllContributions): ServiceDecl[] =>
  ofKind<ServiceDecl>(from, 'service').map((service) => ({ ...service, methods: Object.fromEntries(Object.entries(service.methods).map(([name, method]) => [name, withOptional(method)])) }));

const withOptional = (method: AnyMethodDecl & { readonly optional?: number }): AnyMethodDecl => {
  const from = method.args.length - (method.optional ?? 0);
  return { ...method, args: method.args.map((schema, index) => (index >= from ? Type.Optional(schema) : schema)) };
};

export const declaredConfig = ({ config }: AllContributions): ConfigDecl[] => Object.entries(config).map(([section, schema]) => ({ declares: 'config', section, schema: schema as TSchema }));

/** The hook is found by its name and version; its owner says what crosses it. */
export const declaredTaps = ({ taps }: AllContributions): DeclaredTap[] =>
  numbered(taps, ({ name, version }) => `${String(name)}@${majorOf(String(version))}`).map(({ nth, of: { name, version, kind, stage, before, after } }) => ({
    nth,
    hook: { declares: 'hook', name, version, kind, policy: 'observe', budgetMs: 0, subject: Type.Unknown() } as unknown as HookDecl,
    ...(stage === undefined ? {} : { stage: stage as Stage }),
    ...(Array.isArray(before) ? { before: before.map(String) } : {}),
    ...(Array.isArray(after) ? { after: after.map(String) } : {}),
  }));

/** The steps that the build recorded, told to the builder again. Throws for a step that no builder has. */
export const declaredMigrations = ({ migrations }: AllContributions): Migration[] =>
  migrations.map(({ name, replaces, steps }) => ({
    name,
    ...(replaces === undefined ? {} : { replaces }),
    up: (builder) => {
      for (const step of steps) {
        const known = MIGRATION_STEPS.find((one) => one === step.do);
        if (known === undefined) throw new Error(`the migration ${name} has a step "${step.do}", which there is not`);
        (builder[known] as (...args: readonly unknown[]) => void)(...step.with);
      }
    },
  }));

/** Each with how many of the same key stand before it; from 0. */
export const numbered = <T>(list: readonly T[], keyOf: (one: T) => string): Array<{ readonly nth: number; readonly of: T }> => {
  const counts = new Map<string, number>();
  return list.map((of) => {
    const key = keyOf(of);
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return { nth, of };
  });
};
