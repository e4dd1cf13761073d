/** Tasks, as people see and handle them. */
import { Actor, defineResource, defineService, method, Nullable, OneOf, Type, Uuid } from '@svc/api';
export { BoardRows, TaskClaimed, TaskCompleted, TaskEnded, type TaskFact, TaskPosted, TaskWake } from './board/board-rows.js';
import { taskErrors } from './errors.js';
import { TaskRecord, TaskStateText } from './records.js';

export const DEFAULT_TASKS = 50;
export const MAX_TASKS = 200;
const Count = Type.Integer({ minimum: 0 });
/** The last message and the last task of the board that were shown: `ID`, `ID~ID` or `~ID`. */
const UUID = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';
const CURSOR = `^(${UUID})?(~${UUID})?$`;
const WHOSE = 'Owners and admins see the tasks of all agents; others those of their own.';

export const Tasks = defineResource({
  area: 'queue',
  one: 'task',
  word: 'tasks',
  path: '/api/tasks/list',
  itemPath: '/api/tasks/{id}',
  key: { name: 'id', schema: Type.String({ format: 'uuid', description: 'Task id' }) },
  item: TaskRecord,
  operations: {
    list: {
      summary: 'List tasks, newest first',
      description: `${WHOSE} Messages to agents and tasks of the task board, side by side; \`kind\` says which. A task that waits for an approval is \`in_progress\`. For steps and usage of a message, see \`GET /api/runs/{id}\`: the task and its run have the same id.`,
      cost: 3,
      errors: [404],
      query: Type.Object({
        status: Type.Optional({ ...TaskStateText, description: 'Only tasks in this state' }),
        before: Type.Optional(Type.String({ pattern: CURSOR, maxLength: 80, description: 'Only tasks older than these: `next` of the page before' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_TASKS, description: `How many at most; more than ${MAX_TASKS} is ${MAX_TASKS}` })),
      }),
      answer: Type.Object({
        tasks: Type.Array(TaskRecord),
        total: Type.Integer({ description: 'Tasks in this state, on all pages' }),
        next: Nullable(Type.String(), { description: 'Send it as `before` to get older ones; null if there are none' }),
      }),
    },
  },
  list: { filters: ['status'] },
  actions: {
    post: {
      on: 'list',
      id: 'postTask',
      path: '/api/comms/task',
      summary: 'Post a task on the task board',
      description:
        'Assigned to an agent, the task wakes it: three times at most, then its owner gets a notice. Otherwise any agent of yours may claim it. Agents claim tasks with task_claim and report with task_complete.',
      examples: {
        'for whoever has time': { title: 'Collect the release notes of last week' },
        'for one agent': { title: 'Check the links', description: 'All pages below /docs.', assigned_to: 'assistant' },
        'with details': { title: 'Compare two offers', description: 'They are in offers/. Say which one is cheaper over three years.' },
      },
      body: Type.Object(
        {
          title: Type.String({ minLength: 1, maxLength: 256, pattern: '\\S', description: 'What is to be done' }),
          description: Type.Optional(Type.String({ maxLength: 16_384, description: 'More about it' })),
          assigned_to: Type.Optional(Nullable(Type.String({ maxLength: 256, description: 'Id or name of an agent; left out, any agent may claim it', 'x-kind': 'reference', 'x-of': 'agents' }))),
        },
        { additionalProperties: false },
      ),
      permission: 'runs.send',
      audit: 'task_posted',
      cost: 10,
      errors: [404, 429],
      answer: Type.Object({ ok: Type.Literal(true), task_id: Uuid, assigned_to: Nullable(Uuid) }),
      done: { en: 'Posted task {task_id}.', zh: '已发布任务 {task_id}。' },
      button: { label: { en: 'Post a task', zh: '发布任务' }, icon: 'plus' },
      command: { verb: 'post', args: ['title', 'description'] },
    },
    count: {
      on: 'list',
      id: 'getTaskCounts',
      method: 'GET',
      path: '/api/tasks/status',
      summary: 'Count tasks by state',
      description: `A task is a run that no other run began, which is a message to an agent on any channel, or a task of the task board. Ended tasks are stored for thirty days. ${WHOSE}`,
      cost: 3,
      answer: Type.Object({ total: Count, pending: Count, in_progress: Count, completed: Count, failed: Count, cancelled: Count }, { 'x-name': 'TaskCounts' }),
    },
    cancel: {
      method: 'DELETE',
      path: '',
      isBlind: true,
      audit: false,
      summary: 'Cancel a task',
      description:
        'Stops a pending task or one in progress. A task of the board leaves it, and the run that claimed it is stopped. A message is stopped with the runs it started on other agents, as `POST /api/runs/{id}/stop` does. An active task ends a moment later. The text so far stays in the session. For a task that is already cancelled, the status is 200; for one that completed or failed, 409.',
      permission: 'runs.send',
      errors: [409],
      answer: Type.Object({ status: OneOf(['cancelled']), id: Uuid }),
      done: { en: 'Task cancelled.', zh: '任务已取消。' },
      button: {
        label: { en: 'Cancel', zh: '取消' },
        when: { completed_at: [null] },
        confirm: {
          title: { en: 'Cancel this task?', zh: '取消此任务？' },
          text: {
            en: 'This stops the run and the runs it started on other agents. The text so far stays in the conversation.',
            zh: '将停止此次运行以及由它发起的其他智能体的运行。此前的内容会保留在对话中。',
          },
          action: { en: 'Cancel task', zh: '取消任务' },
        },
        isDangerous: true,
      },
      command: { confirm: false },
    },
    retry: {
      isBlind: true,
      audit: false,
      summary: 'Retry a task',
      description:
        'Puts an ended task of the board back on it, and wakes its assignee. Of a message: sends the message of an ended task again, with its attachments, as a new task in the same session. Each task has one retry: a repeated request gets the same new task, with `replayed` true. To try again after that, retry the new task. The status is 409 if the task has not ended, or if its message is no longer stored.',
      permission: 'runs.send',
      cost: 30,
      errors: [409, 412, 429, 503],
      answer: Type.Object({
        status: OneOf(['retried']),
        id: Uuid,
        task_id: Type.String({ format: 'uuid', description: 'The new task' }),
        replayed: Type.Boolean({ description: 'The task was retried before' }),
      }),
      done: { en: 'Retried as task {task_id}.', zh: '已重试为任务 {task_id}。' },
      button: { label: { en: 'Retry', zh: '重试' }, when: { status: ['completed', 'failed', 'cancelled'] } },
    },
  },
  columns: [
    { field: 'title', title: { en: 'Task', zh: '任务' }, none: { en: 'Message not stored', zh: '消息未保存' } },
    { field: 'status', tones: { in_progress: 'info', completed: 'good', failed: 'bad' }, below: ['waits_for', 'error.message'] },
    { field: 'agent_name', title: { en: 'Agent', zh: '智能体' }, isMinor: true, none: { en: 'none', zh: '无' } },
    { field: 'created_at', title: { en: 'Created', zh: '创建时间' }, format: 'ago' },
  ],
  words: {
    title: { en: 'Tasks', zh: '任务' },
    one: { en: 'task', zh: '任务' },
    note: { en: 'Messages to agents on any channel, and tasks of the task board: pending, in progress and ended.', zh: '通过任意渠道发给智能体的消息，以及任务板上的任务：待处理、进行中和已结束。' },
    empty: { en: 'No tasks yet. Send a message to an agent, or post a task.', zh: '还没有任务。给智能体发送消息，或发布一个任务。' },
    fields: {
      title: { label: { en: 'Title', zh: '标题' }, hint: { en: 'What is to be done', zh: '要做什么' } },
      description: { label: { en: 'Description', zh: '说明' }, hint: { en: 'More about it', zh: '更多说明' } },
      assigned_to: { label: { en: 'Assigned to', zh: '分配给' } },
      status: {
        label: { en: 'State', zh: '状态' },
        values: {
          pending: { en: 'pending', zh: '排队中' },
          in_progress: { en: 'in progress', zh: '进行中' },
          completed: { en: 'completed', zh: '已完成' },
          failed: { en: 'failed', zh: '失败' },
          cancelled: { en: 'cancelled', zh: '已取消' },
        },
      },
    },
  },
  view: { opens: { panel: 'runs', field: 'run_id' }, event: 'run', cursor: 'before' },
  missing: taskErrors.not_found,
});

export const TaskCounts = defineService('tasks', '1.0.0', {
  /** Tasks that nobody has begun: messages that are queued, and tasks of the board that nobody claimed. */
  waiting: method([Actor], Type.Integer(), { what: 'counts your tasks' }),
});
