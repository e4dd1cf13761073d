/** When an agent works without being asked: `schedule` and `[[triggers]]` of agent.toml. The areas schedules and triggers do what they say. */
import { OneOf, type Plain, Type } from '@svc/api';

const MAX_SECS = 86_400;
/** The shortest time between two of its own questions. */
export const MIN_CONTINUOUS_SECS = 60;

const Periodic = Type.Object(
  {
    cron: Type.String({ minLength: 1, maxLength: 200, description: 'Five cron fields, or an interval such as `every 5m`' }),
    tz: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone; by default UTC' })),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'What it is asked; by default, to do what its instructions say for this time' })),
  },
  { additionalProperties: false },
);
const Continuous = Type.Object(
  { check_interval_secs: Type.Integer({ minimum: 1, maximum: MAX_SECS, default: 300, description: 'Seconds between two questions; less than 60 is taken as 60' }) },
  { additionalProperties: false },
);
const CONDITION = '^(all|event:(all|lifecycle|system|agent_spawned|agent_terminated|memory_update|task_posted|task_claimed|task_completed)|memory:.{1,256}|content:.{1,256})$';
const Proactive = Type.Object(
  {
    conditions: Type.Array(Type.String({ pattern: CONDITION }), {
      maxItems: 20,
      description: 'What it is asked about: `event:agent_spawned`, `event:task_posted`, `memory:PART OF A KEY`, `content:WORDS`, `all`',
    }),
  },
  { additionalProperties: false },
);

/** One table with all forms: what is wrong with it is named by its key. */
export const AgentSchedule = Type.Union(
  [
    OneOf(['reactive']),
    Type.Object(
      {
        mode: Type.Optional(OneOf(['reactive'])),
        periodic: Type.Optional(Periodic),
        continuous: Type.Optional(Continuous),
        proactive: Type.Optional(Proactive),
      },
      { additionalProperties: false },
    ),
  ],
  { description: 'When it works without being asked: at set times (`periodic`), again and again (`continuous`), or when something happens (`proactive`)' },
);
export type AgentSchedule = Plain<typeof AgentSchedule>;

export const AgentTrigger = Type.Object(
  {
    pattern: Type.Unknown({ description: 'As in POST /api/triggers: a word such as `lifecycle`, or a table such as `{ agent_spawned = { name_pattern = "*" } }`' }),
    prompt_template: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'What it is asked; `{{event}}` is what happened' })),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    max_fires: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: '0: no limit' })),
    cooldown_secs: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800, description: 'By default `[triggers] cooldown_secs`' })),
    session_mode: Type.Optional(OneOf(['persistent', 'new'])),
    target_agent: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Name or id of the agent that is asked instead' })),
    workflow_id: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Id or name of a workflow that starts instead' })),
  },
  { additionalProperties: false },
);
export type AgentTrigger = Plain<typeof AgentTrigger>;

type Table = Readonly<Record<string, unknown>>;

const known = ({ properties }: { readonly properties: object }, value: unknown): Table =>
  Object.fromEntries(Object.entries(typeof value === 'object' && value !== null ? value : {}).filter(([key]) => Object.hasOwn(properties, key)));

/** Of a table that its schema has let pass, without keys that are unknown and were warned of. */
export const scheduleFrom = (value: unknown): AgentSchedule => {
  if (typeof value === 'string') return 'reactive';
  const { mode, periodic, continuous, proactive } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...(mode === undefined ? {} : { mode: 'reactive' }),
    ...(periodic === undefined ? {} : { periodic: known(Periodic, periodic) as Plain<typeof Periodic> }),
    ...(continuous === undefined ? {} : { continuous: { check_interval_secs: 300, ...known(Continuous, continuous) } }),
    ...(proactive === undefined ? {} : { proactive: known(Proactive, proactive) as Plain<typeof Proactive> }),
  };
};

/** The same of `[[triggers]]`. */
export const triggersFrom = (value: readonly unknown[]): AgentTrigger[] => value.map((one) => known(AgentTrigger, one) as AgentTrigger);

export const ORPHANS = ['keep', 'warn', 'delete'] as const;

/** As lists show it. */
export const scheduleWords = (schedule: AgentSchedule | undefined): string => {
  if (schedule === undefined || typeof schedule === 'string') return 'manual';
  const { periodic, continuous, proactive } = schedule;
  if (periodic) return periodic.cron;
  if (continuous) return `continuous · ${Math.max(MIN_CONTINUOUS_SECS, continuous.check_interval_secs)}s`;
  return proactive ? 'proactive' : 'manual';
};
