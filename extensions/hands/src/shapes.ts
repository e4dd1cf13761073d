/** What routes of hands answer. */
import { Nullable, OneOf, Type, Uuid } from '@svc/api';
import { CATEGORIES, Requirement, Setting } from './hand-file.js';
import { RESULTS } from './install-deps.js';

const Text = Type.String();
const Texts = Type.Array(Text);
const Count = Type.Integer({ minimum: 0 });

const ShownRequirement = Type.Object({ key: Text, label: Text, satisfied: Type.Boolean(), optional: Type.Boolean() });
const WholeRequirement = Type.Object({
  ...Requirement.properties,
  optional: Type.Boolean(),
  satisfied: Type.Boolean(),
  command: Type.Optional(Type.String({ description: 'What installs it on this machine' })),
});

const common = {
  id: Text,
  hand_id: Type.String({ description: 'The same as id' }),
  name: Text,
  description: Text,
  category: OneOf(CATEGORIES),
  icon: Type.String({ description: '`lucide:NAME`, or an emoji' }),
  version: Text,
  tools: Texts,
  requirements_met: Type.Boolean({ description: 'All that are not optional' }),
  active: Type.Boolean({ description: 'You have an instance of it, running or paused' }),
  degraded: Type.Boolean({ description: 'Active, and something that it needs is missing' }),
  is_custom: Type.Boolean({ description: 'Somebody installed it; false for those that come with svc' }),
  has_settings: Type.Boolean(),
  settings_count: Count,
  dashboard_metrics: Count,
  metadata: Nullable(
    Type.Object({
      frequency: Nullable(Text),
      token_consumption: Nullable(Text),
      default_active: Type.Boolean({ description: 'The author would have it active; svc activates nothing by itself' }),
      activation_warning: Nullable(Text),
    }),
  ),
  i18n: Type.Record(Text, Type.Record(Text, Type.Unknown())),
};

export const HandItem = Type.Object({ ...common, requirements: Type.Array(ShownRequirement) }, { 'x-name': 'Hand' });

const ShownSetting = Type.Object({
  key: Text,
  label: Text,
  description: Text,
  setting_type: Setting.properties.setting_type,
  default: Text,
  env_var: Nullable(Type.String({ description: 'Set where the daemon starts, and not here' })),
  options: Type.Array(
    Type.Object({ value: Text, label: Text, provider_env: Type.Optional(Text), binary: Type.Optional(Text), available: Type.Boolean({ description: 'Its variable is set and its program is there' }) }),
  ),
});

export const HandDetail = Type.Object(
  {
    ...common,
    requirements: Type.Array(WholeRequirement),
    server_platform: OneOf(['linux', 'macos', 'windows']),
    agent: Nullable(Type.Object({ name: Text, description: Text, provider: Text, model: Text }), { description: 'The coordinator' }),
    agents: Type.Array(
      Type.Object({
        role: Text,
        name: Text,
        description: Text,
        coordinator: Type.Boolean(),
        provider: Text,
        model: Text,
        steps: Type.Array(Text, { description: 'Numbered lines of its prompt' }),
        system_prompt: Text,
        capabilities_tools: Texts,
        capabilities: Type.Record(Text, Type.Unknown(), { description: 'What the file grants it: read this before you activate it' }),
        loop: Nullable(Text, { description: 'When it works by itself; null if it only answers' }),
      }),
    ),
    dashboard: Type.Array(Type.Object({ label: Text, memory_key: Text, format: Text })),
    settings: Type.Array(ShownSetting),
    skills: Texts,
    mcp_servers: Texts,
    skill_content: Type.String({ description: 'Text that all its agents read' }),
    unknown_keys: Type.Array(Text, { description: 'Keys of its file without effect here' }),
    remarks: Type.Array(Text, { description: 'What of it has no effect on this daemon' }),
  },
  { 'x-name': 'HandDetail' },
);

export const Config = Type.Record(Text, Text, { description: 'Settings by key, with their defaults filled in' });

export const InstanceItem = Type.Object(
  {
    id: Uuid,
    instance_id: Type.String({ format: 'uuid', description: 'The same as id' }),
    hand_id: Text,
    hand_name: Text,
    hand_icon: Text,
    status: OneOf(['running', 'paused', 'error']),
    error: Nullable(Text, { description: 'Why it cannot work' }),
    agent_id: Nullable(Uuid, { description: 'The coordinator' }),
    agent_name: Nullable(Text),
    agent_ids: Type.Record(Text, Uuid, { description: 'By role' }),
    coordinator_role: Text,
    activated_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    config: Config,
  },
  { 'x-name': 'HandInstance' },
);

export const Activated = Type.Object({
  instance_id: Uuid,
  hand_id: Text,
  status: OneOf(['running', 'paused', 'error']),
  agent_id: Nullable(Uuid),
  agent_name: Nullable(Text),
  activated_at: Type.String({ format: 'date-time' }),
  warnings: Type.Array(Text, { description: 'What of it has no effect, and what it lacks' }),
});

const DepResult = Type.Object({
  key: Text,
  status: OneOf(RESULTS, { description: '`skipped`: no program, a person sets it. `waiting` and `running`: the work goes on; ask again' }),
  command: Type.Optional(Text),
  exit_code: Type.Optional(Type.Integer()),
  message: Text,
});

export const DepsChecked = Type.Object({
  hand_id: Text,
  requirements_met: Type.Boolean(),
  active: Type.Boolean(),
  degraded: Type.Boolean(),
  server_platform: OneOf(['linux', 'macos', 'windows']),
  requirements: Type.Array(WholeRequirement),
  plan: Type.Array(DepResult, { description: 'What `install-deps` would run' }),
  progress: Type.Array(DepResult, { description: 'Of an installation under way, or of the last one' }),
});

export const DepsInstalled = Type.Object({ hand_id: Text, results: Type.Array(DepResult), requirements_met: Type.Boolean(), requirements: Type.Array(WholeRequirement) });

export const SettingsShown = Type.Object({
  hand_id: Text,
  settings: Type.Array(ShownSetting),
  current_values: Type.Record(Text, Text, { description: 'What you chose' }),
  effective_values: Config,
  unknown_values: Type.Record(Text, Text, { description: 'What you chose for settings that the hand no longer has' }),
});

/** As one list of types: generators of clients have no type for a null among others. */
const Scalar = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'], maxLength: 5_000 });
export const Given = Type.Record(Type.String({ maxLength: 128 }), Scalar, { maxProperties: 100, description: 'Settings by key; null takes a value away' });

export const Stats = Type.Object({
  instance_id: Uuid,
  hand_id: Text,
  status: OneOf(['running', 'paused', 'error']),
  agent_id: Nullable(Uuid),
  uptime_secs: Type.Integer({ minimum: 0, description: 'Since it was activated' }),
  events_processed: Type.Integer({ minimum: 0, description: 'Runs of its agents that ended well, since it was activated; of each agent at most the newest 1,000' }),
  errors: Type.Integer({ minimum: 0, description: 'Those that failed' }),
  metrics: Type.Record(Text, Type.Object({ value: Type.Unknown(), format: Text }), { description: 'What the hand says of itself, by label; a value that it has not stored is null' }),
});

export const Browser = Type.Object({
  active: Type.Boolean(),
  url: Type.Optional(Text),
  title: Type.Optional(Text),
  content: Type.Optional(Type.String({ maxLength: 2_000 })),
  screenshot_base64: Type.Optional(Text),
  reason: Type.Optional(Type.String({ description: 'Why there is no browser' })),
});
