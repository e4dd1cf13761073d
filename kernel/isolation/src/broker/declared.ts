/** What contributions.json says of an extension, made into the declarations that the daemon registers for it. */
import {
  type AnyMethodDecl,
  type CapabilityDecl,
  type ConfigDecl,
  type EventDecl,
  type HookDecl,
  isCapability,
  majorOf,
  type Migration,
  type RouteDecl,
  type ServiceDecl,
  type TableDecl,
  type TSchema,
  Type,
} from '@svc/api';
import type { Stage, ToolDecl } from '@svc/api';

type Json = Readonly<Record<string, unknown>>;

/** contributions.json, as @svc/installer derives it. */
export interface Contributed {
  readonly routes: readonly Json[];
  readonly sockets: readonly Json[];
  readonly tools: readonly Json[];
  readonly declares: readonly Json[];
  readonly taps: readonly Json[];
  readonly migrations: ReadonlyArray<{ readonly name: string; readonly steps: ReadonlyArray<{ readonly do: string; readonly with: readonly unknown[] }> }>;
  readonly timers: ReadonlyArray<{ readonly name: string; readonly everyMs?: number; readonly afterMs?: number }>;
  readonly config: Json;
}

export interface DeclaredTap {
  readonly hook: HookDecl;
  /** Which of its taps of this hook, in the order in which its code adds them; from 0. */
  readonly nth: number;
  readonly stage?: Stage;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

// The build wrote these from declarations of the types that they are read as, and the schema of an installation judged them.

/** What answers while the areas of security are missing brings them back: that is no stranger's business. */
export const declaredRoutes = ({ routes }: Contributed): Array<Omit<RouteDecl, 'handler'>> => routes.map(({ repairs: _repairs, ...route }) => route as unknown as Omit<RouteDecl, 'handler'>);

export const declaredTools = ({ tools }: Contributed): Array<Omit<ToolDecl, 'run'>> => tools as unknown as Array<Omit<ToolDecl, 'run'>>;

const ofKind = <T>({ declares }: Contributed, kind: string): T[] => declares.filter((one) => one.declares === kind) as unknown as T[];

export const declaredTables = (from: Contributed): TableDecl[] => ofKind<TableDecl>(from, 'table');

export const declaredCapabilities = (from: Contributed): CapabilityDecl[] => ofKind<CapabilityDecl>(from, 'capability').filter(isCapability);

export const declaredEvents = (from: Contributed): ReadonlyMap<string, EventDecl> => new Map(ofKind<EventDecl>(from, 'event').map((event) => [event.name, event]));

/** Services, by `name@version`. Which arguments may be left out stands as a number: they are the last ones. */
export const declaredServices = (from: Contributed): ServiceDecl[] =>
  ofKind<ServiceDecl>(from, 'service').map((service) => ({ ...service, methods: Object.fromEntries(Object.entries(service.methods).map(([name, method]) => [name, withOptional(method)])) }));

const withOptional = (method: AnyMethodDecl & { readonly optional?: number }): AnyMethodDecl => {
  const from = method.args.length - (method.optional ?? 0);
  return { ...method, args: method.args.map((schema, index) => (index >= from ? Type.Optional(schema) : schema)) };
};

export const declaredConfig = ({ config }: Contributed): ConfigDecl[] => Object.entries(config).map(([section, schema]) => ({ declares: 'config', section, schema: schema as TSchema }));

/** The hook is found by its name and version; its owner says what crosses it. */
export const declaredTaps = ({ taps }: Contributed): DeclaredTap[] =>
  numberedTaps(taps).map(({ nth, tap: { name, version, kind, stage, before, after } }) => ({
    nth,
    hook: { declares: 'hook', name, version, kind, policy: 'observe', budgetMs: 0, subject: Type.Unknown() } as unknown as HookDecl,
    ...(stage === undefined ? {} : { stage: stage as Stage }),
    ...(Array.isArray(before) ? { before: before.map(String) } : {}),
    ...(Array.isArray(after) ? { after: after.map(String) } : {}),
  }));

const numberedTaps = (taps: Contributed['taps']): Array<{ readonly nth: number; readonly tap: Json }> => {
  const counts = new Map<string, number>();
  return taps.map((tap) => {
    const key = `${String(tap.name)}@${majorOf(String(tap.version))}`;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return { nth, tap };
  });
};

const STEPS = ['createTable', 'addColumn', 'createIndex', 'sql'] as const;

/** The steps that the build recorded, told to the builder again. Throws for a step that no builder has. */
export const declaredMigrations = ({ migrations }: Contributed): Migration[] =>
  migrations.map(({ name, steps }) => ({
    name,
    up: (builder) => {
      for (const step of steps) {
        const known = STEPS.find((one) => one === step.do);
        if (known === undefined) throw new Error(`the migration ${name} has a step "${step.do}", which there is not`);
        (builder[known] as (...args: readonly unknown[]) => void)(...step.with);
      }
    },
  }));
