/** What prompt versions and experiments are. */
import { defineEvent, defineResource, defineTable, Nullable, OneOf, type Plain, type RowOf, Type } from '@svc/api';
import { promptErrors } from './errors.js';

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;
const json = { kind: 'json', notNull: true } as const;
const id = { kind: 'text', primaryKey: true } as const;
const belonging = { owner: 'owner_id', agent: 'agent_id' } as const;

export const VersionRows = defineTable('prompt_versions', '1.0.0', {
  columns: { id, owner_id: text, agent_id: text, version: count, content_hash: text, system_prompt: text, tools: json, variables: json, description: text, created_by: text, created_at: text },
  ...belonging,
  indexes: [['agent_id', 'created_at']],
  unique: [['agent_id', 'version']],
});
export type VersionRow = RowOf<typeof VersionRows>;
export const ExperimentRows = defineTable('prompt_experiments', '1.0.0', {
  columns: {
    ...{ id, owner_id: text, agent_id: text, name: text, status: text, traffic_split: json, success_criteria: json, variants: json, created_at: text },
    /** The agent while it runs: no two run at once. */
    running_agent: { kind: 'text' },
    started_at: { kind: 'text' },
    ended_at: { kind: 'text' },
    winner_variant_id: { kind: 'text' },
    decision: { kind: 'json' },
  },
  ...belonging,
  indexes: [['agent_id', 'created_at']],
  unique: [['running_agent']],
});
export type ExperimentRow = RowOf<typeof ExperimentRows>;
/** The arm of a session: `id` is the experiment and the session. */
export const ArmRows = defineTable('prompt_arms', '1.0.0', { columns: { id, owner_id: text, agent_id: text, experiment_id: text, variant_id: text }, ...belonging, indexes: [['experiment_id']] });
/** Runs of an experiment: `id` is the run. */
export const TrialRows = defineTable('prompt_trials', '1.0.0', {
  columns: {
    ...{ id, owner_id: text, agent_id: text, experiment_id: text, variant_id: text, status: text, created_at: text },
    meets: { kind: 'boolean', notNull: true },
    tool_errors: count,
    rating: { kind: 'text' },
    cost_usd: { kind: 'real', notNull: true },
    latency_ms: count,
  },
  ...belonging,
  indexes: [['experiment_id']],
});
export type TrialRow = RowOf<typeof TrialRows>;

export const PromptsChanged = defineEvent('prompts.changed', '1.0.0', Type.Object({ agentId: Type.String(), ownerId: Type.String() }), {
  permission: 'prompt-lab.read',
  owner: 'ownerId',
  id: 'agentId',
});

const MAX_PROMPT = 32_768;
const Strings = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 200, default: [] });
const when = Type.String({ format: 'date-time' });
export const Version = Type.Object(
  {
    ...{ id: Type.String(), agent_id: Type.String(), version: Type.Integer(), content_hash: Type.String({ description: 'SHA-256 of the prompt' }) },
    system_prompt: Type.String(),
    tools: Type.Array(Type.String()),
    variables: Type.Array(Type.String()),
    description: Type.String(),
    created_by: Type.String(),
    created_at: when,
    is_active: Type.Boolean({ description: 'Whether the agent has this prompt' }),
  },
  { 'x-name': 'PromptVersion' },
);
export type Version = Plain<typeof Version>;

export const PromptVersions = defineResource({
  area: 'prompt-lab',
  one: 'prompt version',
  path: '/agents/{agent_id}/prompts/versions',
  itemPath: '/prompts/versions/{id}',
  under: { field: 'agent_id', of: 'agents' },
  fields: Type.Object({
    system_prompt: Type.String({ minLength: 1, maxLength: MAX_PROMPT, description: 'The prompt' }),
    description: Type.String({ maxLength: 1_000, default: '', description: 'What is new in it' }),
    tools: Strings,
    variables: Strings,
    created_by: Type.String({ maxLength: 200, default: '', description: 'Default: you' }),
  }),
  item: Version,
  operations: {
    list: {
      id: 'listPromptVersions',
      description: 'Newest first. svc saves a version by itself whenever the prompt of the agent changes; the newest 50 are kept, and the active one and those that an experiment compares.',
    },
    create: {
      status: 200,
      id: 'createPromptVersion',
      description: 'Saves a prompt as the next version. The agent keeps the prompt that it has until you activate another one.',
      examples: {
        'the prompt alone': { system_prompt: 'You are a helpful assistant. Be brief.' },
        'with what is new in it': { system_prompt: 'You answer in one sentence.', description: 'Shorter answers' },
        'with what it names': { system_prompt: 'You look things up for {{person}} with web_search.', tools: ['web_search'], variables: ['person'], created_by: 'alice' },
      },
    },
    get: { id: 'getPromptVersion', description: 'A version with its prompt. `is_active` says whether the agent has this prompt now.' },
    delete: { id: 'deletePromptVersion', description: 'Deletes a version. The one that the agent has, and those that a running or paused experiment compares, are refused with 409.', errors: [409] },
  },
  list: { as: ['versions'] },
  columns: ['version', 'description', 'is_active', 'created_at'],
  view: { event: 'prompts.changed' },
  word: 'prompts',
  words: {
    title: { en: 'Prompts', zh: '提示词' },
    one: { en: 'prompt version', zh: '提示词版本' },
    empty: { en: 'No versions yet. Save one, or change the prompt of the agent.', zh: '还没有版本。保存一个，或修改智能体的提示词。' },
    fields: {
      version: { label: { en: 'Version', zh: '版本' } },
      system_prompt: { label: { en: 'System prompt', zh: '系统提示词' }, hint: { en: 'What the agent is given before each conversation', zh: '每次对话前给智能体的内容' } },
      description: { label: { en: 'Description', zh: '说明' }, hint: { en: 'What is new in it', zh: '有哪些变化' } },
      is_active: { label: { en: 'Is active', zh: '使用中' } },
      tools: { label: { en: 'Tools', zh: '工具' } },
      variables: { label: { en: 'Variables', zh: '变量' } },
      created_by: { label: { en: 'Created by', zh: '创建者' }, hint: { en: 'Default: you', zh: '默认为你' } },
    },
  },
  actions: {
    activate: {
      id: 'activatePromptVersion',
      summary: 'Give the agent this prompt',
      description: 'Changes the prompt in the manifest of the agent. The prompt that it had is saved as a version first. Runs in progress keep theirs.',
      answer: Version,
      errors: [409],
      done: { en: 'Activated version {version}.', zh: '已启用版本 {version}。' },
      button: { label: { en: 'Activate', zh: '启用' }, icon: 'check', when: { is_active: [false] } },
    },
  },
  missing: promptErrors.version_not_found,
});

export const STATES = ['draft', 'running', 'paused', 'completed'] as const;
const criteria = {
  require_user_helpful: Type.Boolean({ default: false, description: 'A person rated the answer up' }),
  require_no_tool_errors: Type.Boolean({ default: false, description: 'No tool call failed' }),
  require_non_empty: Type.Boolean({ default: true, description: 'The answer has text' }),
};
const Criteria = Type.Object(criteria);
/** As a person gives them: what is left out has its default. */
const CriteriaDraft = Type.Partial(Type.Object(criteria), { additionalProperties: false, default: {}, description: 'When a run is a win' });
export type Criteria = Plain<typeof Criteria>;
const arm = { name: Type.String({ minLength: 1, maxLength: 100 }), prompt_version_id: Type.String({ maxLength: 100 }) };
const Variant = Type.Object({ id: Type.String(), ...arm, description: Type.String() });
export type Variant = Plain<typeof Variant>;
export const Metric = Type.Object(
  {
    ...{ variant_id: Type.String(), variant_name: Type.String(), impressions: Type.Integer(), wins: Type.Integer(), cost_usd: Type.Number(), latency_ms: Type.Number() },
    ...{ total_requests: Type.Integer(), successful_requests: Type.Integer(), failed_requests: Type.Integer() },
    success_rate: Type.Number({ description: 'Percent' }),
    ...{ avg_latency_ms: Type.Number(), avg_cost_usd: Type.Number(), total_cost_usd: Type.Number() },
    interval: Nullable(Type.Object({ low: Type.Number(), high: Type.Number() }), { description: 'Of the share of wins, with 95 % confidence; null below 30 runs' }),
  },
  { 'x-name': 'PromptMetric' },
);
export type Metric = Plain<typeof Metric>;
const Percent = Nullable(Type.Number(), { description: 'Percent' });
export const Course = Type.Object(
  {
    starts: Type.Array(when, { description: 'Times at which the intervals begin, the oldest first' }),
    interval_seconds: Type.Integer(),
    arms: Type.Array(
      Type.Object({
        variant_id: Type.String(),
        points: Type.Array(Type.Object({ runs: Type.Integer(), share: Percent, low: Percent, high: Percent }), { description: 'One for each interval: all runs up to its end' }),
      }),
    ),
  },
  { 'x-name': 'PromptCourse' },
);
export type Course = Plain<typeof Course>;
export const Experiment = Type.Object(
  {
    ...{ id: Type.String(), agent_id: Type.String(), name: Type.String(), status: OneOf(STATES), traffic_split: Type.Array(Type.Integer()), success_criteria: Criteria },
    ...{ variants: Type.Array(Variant), created_at: when, started_at: Nullable(when), ended_at: Nullable(when), winner_variant_id: Nullable(Type.String()) },
    decision: Nullable(Type.Object({ by: Type.String(), metrics: Type.Array(Metric) }), { description: 'Who completed it, and on what numbers' }),
  },
  { 'x-name': 'PromptExperiment' },
);
export type Experiment = Plain<typeof Experiment>;

const TWO_ARMS = [
  { name: 'as it is', prompt_version_id: '7d0c1f8e-0a44-4a0e-8f5b-2f6f5d5b9c01' },
  { name: 'new', prompt_version_id: '7d0c1f8e-0a44-4a0e-8f5b-2f6f5d5b9c02' },
] as const;

export const PromptExperiments = defineResource({
  area: 'prompt-lab',
  one: 'prompt experiment',
  path: '/agents/{agent_id}/prompts/experiments',
  itemPath: '/prompts/experiments/{id}',
  under: { field: 'agent_id', of: 'agents' },
  fields: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 200 }),
    variants: Type.Array(Type.Object({ ...arm, description: Type.Optional(Type.String({ maxLength: 1_000 })) }, { additionalProperties: false }), { minItems: 2, maxItems: 10 }),
    traffic_split: Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), { minItems: 2, maxItems: 10, description: 'Percent of each variant' }),
    success_criteria: CriteriaDraft,
  }),
  item: Experiment,
  operations: {
    list: { id: 'listPromptExperiments', description: 'Experiments of an agent, newest first, with their variants and states.' },
    create: {
      status: 200,
      id: 'createPromptExperiment',
      description: 'Creates a draft that compares two to ten versions of the prompt of one agent. `traffic_split` has one whole number of percent for each variant; together they are 100.',
      examples: {
        'two halves': { name: 'tone', variants: [TWO_ARMS[0], TWO_ARMS[1]], traffic_split: [50, 50] },
        'a small share for the new one': { name: 'shorter', variants: [TWO_ARMS[0], { ...TWO_ARMS[1], description: 'One sentence' }], traffic_split: [90, 10] },
        'where people must like it': { name: 'helpful', variants: [TWO_ARMS[0], TWO_ARMS[1]], traffic_split: [50, 50], success_criteria: { require_user_helpful: true, require_no_tool_errors: true } },
      },
    },
    get: { id: 'getPromptExperiment', description: 'An experiment with its variants, its state and, once completed, the numbers that decided it.' },
  },
  list: { as: ['experiments'] },
  columns: ['name', 'status', 'started_at', 'winner_variant_id'],
  view: { event: 'prompts.changed' },
  word: 'experiments',
  words: {
    title: { en: 'Experiments', zh: '实验' },
    one: { en: 'experiment', zh: '实验' },
    empty: { en: 'No experiments yet. Create one with two versions of a prompt.', zh: '还没有实验。用两个提示词版本创建一个。' },
    fields: {
      name: { label: { en: 'Name', zh: '名称' } },
      status: { label: { en: 'State', zh: '状态' } },
      started_at: { label: { en: 'Started at', zh: '开始时间' } },
      variants: { label: { en: 'Variants', zh: '变体' } },
      traffic_split: { label: { en: 'Traffic split', zh: '流量分配' }, hint: { en: 'One per line. Percent of each variant', zh: '每行一项。各变体的百分比' } },
      success_criteria: { label: { en: 'Success criteria', zh: '成功标准' }, hint: { en: 'When a run is a win', zh: '何时算成功' } },
      'success_criteria.require_user_helpful': { label: { en: 'A person rated the answer up', zh: '有人给回答点赞' } },
      'success_criteria.require_no_tool_errors': { label: { en: 'No tool call failed', zh: '没有工具调用失败' } },
      'success_criteria.require_non_empty': { label: { en: 'The answer has text', zh: '回答有内容' } },
      winner_variant_id: { label: { en: 'Winner', zh: '胜出变体' }, hint: { en: 'The id of a variant; left out: the one that is certainly better', zh: '变体的标识；不填则为明显更好的一个' } },
    },
  },
  actions: {
    start: {
      id: 'startPromptExperiment',
      summary: 'Start an experiment',
      description: 'From now on each conversation with the agent has one of the variants for as long as the experiment lasts. One experiment of an agent runs at a time. A paused one goes on.',
      answer: Experiment,
      errors: [409],
      done: { en: 'Started.', zh: '已开始。' },
      button: { label: { en: 'Start', zh: '开始' }, icon: 'play', when: { status: ['draft', 'paused'] } },
    },
    pause: {
      id: 'pausePromptExperiment',
      summary: 'Pause an experiment',
      description: 'The agent answers with the prompt of its manifest until you start the experiment again. Conversations keep their variants.',
      answer: Experiment,
      errors: [409],
      done: { en: 'Paused.', zh: '已暂停。' },
      button: { label: { en: 'Pause', zh: '暂停' }, icon: 'pause', when: { status: ['running'] } },
    },
    complete: {
      id: 'completePromptExperiment',
      summary: 'Complete an experiment',
      description: 'Activates the best variant if its interval does not overlap the next one, or the variant that the body names.',
      body: Type.Object({ winner_variant_id: Type.Optional(Type.String({ maxLength: 100 })) }, { additionalProperties: false }),
      bodyRule: 'optional',
      examples: {
        'the one that is certainly better': {},
        'another one that you name': { winner_variant_id: '5c2a90c7-6a3e-4c1e-8b0e-3f1d7b6e2a44' },
        'the one that you name': { winner_variant_id: '0b6f4f3a-5f0e-4f53-9a51-0d2f6c1c7a10' },
      },
      answer: Experiment,
      errors: [409],
      done: { en: 'Completed.', zh: '已完成。' },
      button: { label: { en: 'Complete', zh: '完成' }, icon: 'check', when: { status: ['running', 'paused'] } },
    },
    metrics: {
      method: 'GET',
      id: 'getPromptMetrics',
      summary: 'Get the numbers of each variant',
      description: 'Runs that ended, wins, cost and time by variant. Below 30 runs a variant has counts and no interval. `over_time` says how the shares came about.',
      answer: Type.Object({ metrics: Type.Array(Metric), total: Type.Integer(), over_time: Course }),
    },
  },
  missing: promptErrors.experiment_not_found,
});
