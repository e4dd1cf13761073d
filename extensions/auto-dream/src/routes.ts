/** Dreams, as people see and handle them. */
import { defineResource, Field, Nullable, OneOf, Type, Uuid } from '@svc/api';
import { dreamErrors } from './errors.js';
import { PHASES, STATES } from './tables.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Ms = (description: string) => Nullable(Type.Integer({ description }));

const Progress = Type.Object({
  task_id: Text,
  agent_id: Text,
  started_at_ms: Type.Integer(),
  ended_at_ms: Nullable(Type.Integer()),
  status: OneOf(STATES),
  phase: OneOf(PHASES),
  tool_use_count: Count,
  memories_touched: Type.Array(Text, { description: 'Keys, pages and names that were written' }),
  turns: Type.Array(Type.Object({ text: Text, tool_use_count: Count })),
  error: Nullable(Text),
  usage: Nullable(Type.Object({ input_tokens: Count, output_tokens: Count, cost_usd: Type.Number() })),
});

export const DreamingAgent = Type.Object(
  {
    id: Uuid,
    agent_id: Type.String({ format: 'uuid', description: 'The same as id' }),
    agent_name: Text,
    auto_dream_enabled: Type.Boolean({ description: 'The agent opted in' }),
    last_consolidated_at_ms: Ms('When its last dream ended well; null if none did'),
    next_eligible_at_ms: Ms('Before this it does not dream by itself; null if it never dreamt'),
    hours_since_last: Nullable(Type.Number()),
    sessions_since_last: Type.Integer({ minimum: 0, description: 'Conversations that it has begun since its last dream' }),
    effective_min_hours: Type.Number(),
    effective_min_sessions: Type.Integer(),
    lock_path: Type.String({ description: 'What its dream is locked by: a lease in the database' }),
    can_abort: Type.Boolean(),
    progress: Nullable(Progress, { description: 'Of the dream under way, or of the last one' }),
    unavailable: Nullable(Text, { description: 'Why it does not dream' }),
  },
  { 'x-name': 'DreamingAgent' },
);

export const Status = Type.Object({
  enabled: Type.Boolean({ description: 'From [auto_dream] in config.toml' }),
  unavailable: Nullable(Text, { description: 'Why no agent can dream' }),
  min_hours: Type.Number(),
  min_sessions: Type.Integer(),
  check_interval_secs: Type.Integer(),
  lock_dir: Type.String({ description: 'Empty: dreams are locked in the database' }),
  agents: Type.Array(DreamingAgent),
});

export const Dreams = defineResource({
  area: 'auto-dream',
  one: 'dream',
  path: '/api/auto-dream/status',
  itemPath: '/api/auto-dream/agents/{id}',
  key: { name: 'id', schema: Field.reference('agents', { description: 'The agent' }) },
  item: DreamingAgent,
  operations: {
    list: {
      id: 'getAutoDreamStatus',
      summary: 'Show which agents tidy their memory by themselves',
      description: 'Your agents, with the dream that is under way, or the last one. An agent dreams if `[auto_dream] enabled` and its own `auto_dream_enabled` are true.',
      cost: 3,
      query: Type.Object({}),
      answer: Status,
    },
  },
  list: { as: ['agents'] },
  columns: [
    { field: 'agent_name', title: { en: 'Agent', zh: '智能体' }, below: ['progress.error', 'unavailable'] },
    { field: 'auto_dream_enabled', title: { en: 'Opted in', zh: '已同意' }, format: 'yes' },
    {
      field: 'progress.status',
      title: { en: 'Last dream', zh: '上次整理' },
      format: 'badge',
      tones: { running: 'info', completed: 'good', failed: 'bad', aborted: 'warn' },
      none: { en: 'none', zh: '无' },
    },
    { field: 'progress.tool_use_count', title: { en: 'Tool calls', zh: '工具调用' }, format: 'number', isMinor: true },
    { field: 'sessions_since_last', title: { en: 'Conversations since', zh: '此后的对话' }, format: 'number', isMinor: true },
  ],
  verbs: { list: 'status' },
  actions: {
    trigger: {
      id: 'startDream',
      isBlind: true,
      summary: 'Let an agent dream now',
      description: 'Skips the hours and conversations that it would wait for. It does not skip its consent, its budget, or a dream under way: then `fired` is false, and `reason` says why.',
      answer: Type.Object({ fired: Type.Boolean(), agent_id: Uuid, task_id: Nullable(Uuid), reason: Text }),
      cost: 30,
      audit: 'dream_started',
      done: { en: '{reason}', zh: '{reason}' },
      button: { label: { en: 'Dream now', zh: '立即整理' }, icon: 'play', when: { can_abort: [false], unavailable: [null] } },
    },
    abort: {
      id: 'abortDream',
      isBlind: true,
      summary: 'Stop the dream of an agent',
      description: 'What it has stored so far stays.',
      answer: Type.Object({ aborted: Type.Boolean(), agent_id: Uuid, reason: Text }),
      audit: 'dream_aborted',
      done: { en: '{reason}', zh: '{reason}' },
      button: { label: { en: 'Stop', zh: '停止' }, icon: 'square', when: { can_abort: [true] } },
    },
    setEnabled: {
      id: 'setDreamEnabled',
      method: 'PUT',
      path: '/enabled',
      isBlind: true,
      summary: 'Set whether an agent dreams',
      description: 'The same as `auto_dream_enabled` in its manifest.',
      examples: { on: { enabled: true }, off: { enabled: false }, 'as the page sends it': { enabled: true } },
      body: Type.Object({ enabled: Type.Boolean() }),
      answer: Type.Object({ agent_id: Uuid, enabled: Type.Boolean() }),
      errors: [400, 403, 409],
      audit: 'dream_enabled',
      done: { en: 'Set.', zh: '已设置。' },
      button: { label: { en: 'Set consent', zh: '设置同意' } },
      command: { verb: 'set', args: ['enabled'] },
    },
  },
  words: {
    title: { en: 'Dreams', zh: '记忆整理' },
    one: { en: 'dream', zh: '整理' },
    note: {
      en: 'Agents that tidy their memory by themselves, while nobody waits. Off until you switch it on in the settings and for an agent.',
      zh: '在无人等待时自行整理记忆的智能体。在设置中并为智能体开启之前不会运行。',
    },
    empty: { en: 'You have no agents.', zh: '还没有智能体。' },
    fields: { enabled: { label: { en: 'Dreams by itself', zh: '自行整理' } } },
  },
  view: { event: 'auto-dream', detail: false },
  missing: dreamErrors.agent_not_found,
});
