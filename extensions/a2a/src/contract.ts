/** Agents elsewhere and their tasks, with routes, commands and the page. */
import { defineResource, Type, Uuid } from '@svc/api';
import { a2aErrors } from './errors.js';
import { A2aTask, Skill, TaskStatus } from './shapes.js';

const MAX_MESSAGE = 100_000;

export const RemoteAgent = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    url: Type.String({ description: 'The server it was found at' }),
    description: Type.String(),
    version: Type.String(),
    protocol: Type.String({ description: 'How it is asked: `1.0` and `0.3` of A2A over JSON-RPC, or `rest`' }),
    status: Type.Literal('trusted'),
    skills: Type.Array(Skill),
    created_at: Type.String({ format: 'date-time' }),
  },
  { 'x-name': 'A2aRemoteAgent' },
);

const sendBody = Type.Object({
  agent_id: Type.String({ minLength: 1, description: 'Id, URL or name of an agent elsewhere' }),
  message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE, pattern: '\\S', description: 'What you ask it' }),
});
const examples = {
  'by name': { agent_id: 'travel', message: 'Which trains go to Ghent tomorrow morning?' },
  'by URL': { agent_id: 'https://agents.example.com', message: 'Sum up the open tickets.' },
  'by id': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', message: 'Are you there?' },
};
const SENDING = 'Sends the message to the other server and waits up to 30 seconds for its answer. The task may go on after that; read it with `GET /api/a2a/tasks/{id}`.';

export const RemoteAgents = defineResource({
  area: 'a2a',
  one: 'remote agent',
  path: '/api/a2a/agents',
  key: { name: 'id', schema: Type.String({ minLength: 1, maxLength: 2_000, description: 'Id, URL (encoded) or name', examples: ['travel'] }) },
  item: RemoteAgent,
  operations: {
    list: { summary: 'List agents elsewhere', description: 'Agents of other servers that you added by URL.' },
    get: { summary: 'Get an agent elsewhere', description: 'A name that several agents have is refused with 409: use the id or the URL.', errors: [409] },
  },
  list: { as: ['agents'], search: ['name', 'description', 'url'], sort: ['name', 'created_at'] },
  columns: ['name', 'url', 'description', 'protocol'],
  word: 'a2a',
  actions: {
    discover: {
      on: 'list',
      id: 'discoverRemoteAgent',
      path: '/api/a2a/discover',
      summary: 'Add an agent elsewhere by its URL',
      description:
        'Fetches the agent card of that server: `/.well-known/agent-card.json`, else `/.well-known/agent.json`. The same URL again updates the agent. Only public addresses and those under `[web.fetch] ssrf_allowed_hosts` are reached.',
      examples: {
        'a server': { url: 'https://agents.example.com' },
        'a server on a port': { url: 'https://agents.example.com:8443' },
        'a card': { url: 'https://agents.example.com/cards/travel.json' },
      },
      body: Type.Object({ url: Type.String({ minLength: 1, maxLength: 2_000, description: 'Address of the other server' }) }),
      answer: RemoteAgent,
      errors: [403, 502],
      cost: 20,
      audit: 'remote_agent_discovered',
      done: { en: 'Added {name}.', zh: '已添加 {name}。' },
      button: { label: { en: 'Add by URL', zh: '通过网址添加' }, icon: 'plus' },
      command: { args: ['url'] },
    },
    send: {
      on: 'list',
      id: 'sendToRemoteAgent',
      path: '/api/a2a/send',
      summary: 'Ask an agent elsewhere',
      description: SENDING,
      examples,
      body: sendBody,
      answer: A2aTask,
      errors: [403, 404, 409, 502],
      cost: 20,
      audit: 'remote_agent_asked',
      done: { en: 'Task {task_id}: {status}. {result.parts.0.text}', zh: '任务 {task_id}：{status}。{result.parts.0.text}' },
      button: { label: { en: 'Ask an agent', zh: '询问智能体' }, icon: 'message-square' },
      command: { args: ['agent_id', 'message'], output: { kind: 'record' } },
    },
  },
  words: {
    title: { en: 'Agents elsewhere', zh: '外部智能体' },
    one: { en: 'agent elsewhere', zh: '外部智能体' },
    note: { en: 'Agents of other servers that speak A2A. You and your agents can ask them.', zh: '其他服务器上支持 A2A 的智能体，你和你的智能体都可以向它们提问。' },
    empty: { en: 'No agents yet. Add one by the URL of its server.', zh: '还没有智能体。请通过其服务器网址添加。' },
    fields: {
      name: { label: { en: 'Name', zh: '名称' } },
      url: { label: { en: 'URL', zh: '网址' } },
      description: { label: { en: 'Description', zh: '说明' } },
      protocol: { label: { en: 'Protocol', zh: '协议' } },
      agent_id: { label: { en: 'Agent', zh: '智能体' }, hint: { en: 'Name, URL or id', zh: '名称、网址或 ID' } },
      message: { label: { en: 'Message', zh: '消息' } },
    },
  },
  missing: a2aErrors.agent_not_found,
});

const RemoteTask = Type.Object({ id: Uuid, ...A2aTask.properties }, { 'x-name': 'A2aRemoteTask' });

export const RemoteTasks = defineResource({
  area: 'a2a',
  one: 'remote task',
  path: '/api/a2a/tasks',
  item: RemoteTask,
  operations: { get: { summary: 'Get a task of an agent elsewhere', description: 'Asks the other server how far a task is that has not ended.', errors: [403, 502] } },
  word: 'a2a',
  verbs: { get: 'task' },
  actions: {
    status: {
      method: 'GET',
      id: 'getRemoteTaskStatus',
      summary: 'Get the status of a task of an agent elsewhere',
      description: 'Asks the other server, as `GET /api/a2a/tasks/{id}` does, and leaves out the result.',
      answer: Type.Object({ task_id: Uuid, status: TaskStatus }),
      errors: [403, 502],
      command: { verb: 'task-status' },
    },
    send: {
      on: 'list',
      id: 'sendRemoteTask',
      summary: 'Start a task of an agent elsewhere',
      description: SENDING,
      examples,
      body: sendBody,
      answer: A2aTask,
      errors: [403, 404, 409, 502],
      cost: 20,
      audit: 'remote_agent_asked',
      command: { verb: 'start', args: ['agent_id', 'message'], output: { kind: 'record' } },
    },
  },
  missing: a2aErrors.task_not_found,
});
