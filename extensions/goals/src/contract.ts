/** What a goal is. */
import { defineCollection, Field, type Item, itemOf, Nullable, OneOf, Type } from '@svc/api';
import { goalErrors } from './errors.js';
import { DEFAULT_ITERATIONS, GoalRun, MAX_ITERATIONS } from './runs.js';

export * from './runs.js';

export const GOAL_STATES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
const MAX_TITLE = 256;
const MAX_DESCRIPTION = 4_096;

export const MAX_CHILDREN = 500;

/** An empty text stands for none, too. */
const Reference = (of: string, description: string) =>
  Type.Union([Field.reference(of), Type.Literal(''), Type.Null()], { description: `${description}; null or an empty text for none`, 'x-kind': 'reference', 'x-of': of });

const fields = Type.Object({
  title: Type.String({ minLength: 1, maxLength: MAX_TITLE, pattern: '\\S', description: 'What you want to achieve' }),
  description: Type.String({ maxLength: MAX_DESCRIPTION, default: '', description: 'More about it, for the agent that works on it' }),
  status: OneOf(GOAL_STATES, { default: 'pending' }),
  progress: Field.percent({ default: 0, description: 'Percent' }),
  parent_id: Reference('goals', 'The goal above it'),
  agent_id: Reference('agents', 'The agent that works on it'),
  due_at: Nullable(Field.time(), { description: 'When it should be reached' }),
});

export const Goals = defineCollection({
  area: 'goals',
  one: 'goal',
  path: '/api/goals',
  fields,
  indexes: [['parent_id'], ['agent_id']],
  list: { as: ['goals', 'items'], sort: ['created_at', 'updated_at', 'due_at', 'title', 'progress'], filters: ['status', 'agent_id', 'parent_id'], search: ['title', 'description'] },
  createdStatus: 200,
  columns: ['title', 'status', 'progress', 'due_at'],
  words: {
    title: { en: 'Goals', zh: '目标' },
    one: { en: 'goal', zh: '目标' },
    note: { en: 'What you and your agents want to reach. An agent reads its open goals in its system prompt.', zh: '你和智能体想要达成的事。智能体会在系统提示词中读到自己未完成的目标。' },
    fields: {
      title: { label: { en: 'Title', zh: '标题' } },
      description: { label: { en: 'Description', zh: '说明' } },
      status: {
        label: { en: 'Status', zh: '状态' },
        values: {
          pending: { en: 'pending', zh: '待办' },
          in_progress: { en: 'in progress', zh: '进行中' },
          completed: { en: 'completed', zh: '已完成' },
          cancelled: { en: 'cancelled', zh: '已取消' },
        },
      },
      progress: { label: { en: 'Progress', zh: '进度' }, hint: { en: 'Percent', zh: '百分比' } },
      parent_id: { label: { en: 'Parent goal', zh: '上级目标' }, hint: { en: 'Id of the goal above it', zh: '上级目标的 ID' } },
      agent_id: { label: { en: 'Agent', zh: '智能体' }, hint: { en: 'Id of the agent that works on it', zh: '负责该目标的智能体 ID' } },
      due_at: { label: { en: 'Due', zh: '截止时间' } },
    },
  },
  operations: {
    create: {
      description: 'A goal can be a subgoal of another one of yours. You can assign it to one of your agents, which then reads it in its system prompt until it is completed or cancelled.',
      examples: {
        'a goal': { title: 'Launch the new site' },
        'a goal of an agent, below another': {
          title: 'Write the announcement',
          agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e',
          parent_id: '0b9d7c6a-1e2f-4a3b-8c4d-5e6f7a8b9c0d',
          due_at: '2026-12-01T09:00:00Z',
        },
        'one that has begun': { title: 'Clean up the backlog', status: 'in_progress', progress: 20 },
      },
      errors: [404],
    },
    update: { examples: { progress: { progress: 40 }, 'it is done': { status: 'completed', progress: 100 }, 'no agent works on it any more': { agent_id: null } } },
    delete: { description: 'All goals below it are deleted with it.' },
  },
  actions: {
    start: {
      summary: 'Have its agent work at a goal',
      description:
        'The agent is asked turn by turn, in a conversation of its own, until the goal is done, cancelled or blocked, until its turns or a limit of [roots] or of a budget are used up, or three turns in a row failed. It goes on after a restart. Work at the goal that is under way is stopped and replaced.',
      bodyRule: 'optional',
      body: Type.Object({ max_iterations: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ITERATIONS, default: DEFAULT_ITERATIONS, description: 'Turns at most' })) }),
      examples: { 'until it is done': {}, 'one turn': { max_iterations: 1 }, 'a long piece of work': { max_iterations: 200 } },
      answer: Type.Object({ ok: Type.Boolean(), run: GoalRun }),
      errors: [400],
      cost: 10,
      done: { en: 'Its agent works at it now.', zh: '智能体已开始处理。' },
      button: { label: { en: 'Start', zh: '开始' }, icon: 'play', when: { status: ['pending', 'in_progress'] } },
    },
    run: {
      id: 'getGoalRun',
      method: 'GET',
      summary: 'How the work at a goal stands',
      description: 'The newest work: its phase, its turns and why it ended. There is no `run` before the first start.',
      answer: Type.Object({ running: Type.Boolean(), run: Type.Optional(GoalRun) }),
      command: { output: { kind: 'record', fields: ['running', 'run.phase', 'run.iteration', 'run.max_iterations', 'run.last_progress', 'run.last_error', 'run.updated_at'] } },
    },
    stop: {
      summary: 'Stop the work at a goal',
      description: 'Ends the turn under way. `stopped` is false where nothing went on. The goal keeps its status.',
      answer: Type.Object({ ok: Type.Boolean(), stopped: Type.Boolean() }),
      done: { en: 'Stopped: {stopped}.', zh: '已停止：{stopped}。' },
      button: { label: { en: 'Stop', zh: '停止' }, icon: 'square', when: { status: ['in_progress'] } },
    },
    children: {
      id: 'listGoalChildren',
      method: 'GET',
      summary: 'List the goals directly below a goal',
      description: `Oldest first, ${MAX_CHILDREN} at most.`,
      answer: Type.Object({ children: Type.Array(itemOf({ fields }, 'Goal')), total: Type.Integer() }),
      command: false,
    },
  },
  missing: goalErrors.not_found,
});

export type Goal = Item<typeof Goals.spec.fields>;
