/** What goes over the wire to an agent elsewhere: its card, messages in the three forms, and what it answers. */
import { isSvcError, type ExtensionContext } from '@svc/api';
import { a2aErrors } from './errors.js';
import { type A2aTask, said, type Skill, type TaskStatus } from './shapes.js';

export type Protocol = '1.0' | '0.3' | 'rest';
export interface ReadCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: Skill[];
  readonly endpoint: string;
  readonly protocol: Protocol;
}
export interface Remote {
  readonly name: string;
  readonly endpoint: string;
  readonly protocol: Protocol;
}
export type RemoteAnswer = Omit<A2aTask, 'task_id'> & { readonly remoteId: string | null };
type Json = Readonly<Record<string, unknown>>;
type Net = Pick<ExtensionContext, 'fetch' | 'ids'>;

const MAX_CARD_BYTES = 262_144;
const MAX_TASK_BYTES = 1_048_576;
const TIMEOUT_MS = 30_000;
const MAX_NAME = 200;
const MAX_TEXT = 4_000;
const MAX_SKILLS = 100;

const object = (value: unknown): Json => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown, max: number): string => (typeof value === 'string' ? value.slice(0, max) : '');

/** One spelling of an address. */
export const canonicalUrl = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') throw a2aErrors.invalid_url(given.slice(0, MAX_NAME));
  url.hash = '';
  return url.href.replace(/\?$/, '').replace(/\/$/, '');
};

const cardPaths = (url: string): string[] => (url.endsWith('.json') ? [url] : ['/.well-known/agent-card.json', '/.well-known/agent.json'].map((path) => `${new URL(url).origin}${path}`));

export async function fetchCard({ fetch }: Net, url: string): Promise<ReadCard> {
  let why = '';
  for (const address of cardPaths(url)) {
    const answer = await asked(
      () => fetch(address, { purpose: 'webhook', timeoutMs: TIMEOUT_MS, maxBytes: MAX_CARD_BYTES, redirect: 'manual', headers: { accept: 'application/json' } }),
      (cause) => a2aErrors.no_card(url, cause),
    );
    if (answer.status === 200)
      return readCard(
        url,
        await asked(
          () => answer.json(),
          (cause) => a2aErrors.no_card(url, cause),
        ),
      );
    answer.cancel();
    why = `it answered ${answer.status}`;
  }
  throw a2aErrors.no_card(url, why);
}

export const readCard = (url: string, given: unknown): ReadCard => {
  const card = object(given);
  const name = text(card.name, MAX_NAME).trim();
  if (name === '') throw a2aErrors.no_card(url, 'it has no name');
  const shown = { name, description: text(card.description, MAX_TEXT), version: text(card.version, MAX_NAME), skills: list(card.skills).slice(0, MAX_SKILLS).map(skillOf) };
  const offered = list(card.supportedInterfaces).map(object);
  const rpc = (version: string) => offered.find(({ protocolBinding, protocolVersion }) => protocolBinding === 'JSONRPC' && text(protocolVersion, MAX_NAME).startsWith(version));
  for (const protocol of ['1.0', '0.3'] as const) {
    const found = rpc(protocol);
    if (found) return { ...shown, protocol, endpoint: canonicalUrl(text(found.url, MAX_TEXT)) };
  }
  if (offered.length > 0) throw a2aErrors.no_card(url, 'it offers no JSON-RPC interface of A2A 1.0 or 0.3');
  const endpoint = canonicalUrl(text(card.url, MAX_TEXT) || new URL(url).origin);
  return { ...shown, protocol: typeof card.protocolVersion === 'string' ? '0.3' : 'rest', endpoint };
};

const skillOf = (given: unknown): Skill => {
  const skill = object(given);
  return { id: text(skill.id, MAX_NAME), name: text(skill.name, MAX_NAME), description: text(skill.description, MAX_TEXT), tags: list(skill.tags).map((tag) => text(tag, MAX_NAME)) };
};

/** `id` makes it the same message when it is sent again. */
export async function sendTo(net: Net, remote: Remote, id: string, message: string): Promise<RemoteAnswer> {
  if (remote.protocol === 'rest') return answerOf(await call(net, remote, 'POST', '/tasks/send', { message: { role: 'user', messageId: id, parts: [{ text: message }] } }));
  const isOld = remote.protocol === '0.3';
  const shown = isOld ? { kind: 'message', messageId: id, role: 'user', parts: [{ kind: 'text', text: message }] } : { messageId: id, role: 'ROLE_USER', parts: [{ text: message }] };
  return answerOf(await rpc(net, remote, isOld ? 'message/send' : 'SendMessage', { message: shown }));
}

export async function lookAt(net: Net, remote: Remote, taskId: string): Promise<RemoteAnswer> {
  if (remote.protocol === 'rest') return answerOf(await call(net, remote, 'GET', `/tasks/${encodeURIComponent(taskId)}`));
  return answerOf(await rpc(net, remote, remote.protocol === '0.3' ? 'tasks/get' : 'GetTask', { id: taskId }));
}

const rpc = async (net: Net, remote: Remote, method: string, params: Json): Promise<unknown> => {
  const answer = object(await call(net, remote, 'POST', '', { jsonrpc: '2.0', id: net.ids.uuid(), method, params }));
  if (answer.error !== undefined) throw a2aErrors.upstream(remote.name, text(object(answer.error).message, MAX_TEXT) || 'it answered with an error');
  return answer.result;
};

async function call({ fetch }: Net, { name, endpoint, protocol }: Remote, method: string, path: string, body?: Json): Promise<unknown> {
  const headers = { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}), ...(protocol === 'rest' ? {} : { 'a2a-version': protocol }) };
  const failed = (why: string) => a2aErrors.upstream(name, why);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await asked(() => fetch(`${endpoint}${path}`, { purpose: 'webhook', method, headers, ...sent, timeoutMs: TIMEOUT_MS, maxBytes: MAX_TASK_BYTES, redirect: 'manual' }), failed);
  if (answer.status === 200) return asked(() => answer.json(), failed);
  answer.cancel();
  throw failed(answer.status === 401 ? 'it asks for a key' : `it answered ${answer.status}`);
}

/** Errors of the egress say more than ours, and keep their status; what the other server sent does not. */
const asked = async <T>(run: () => Promise<T>, failed: (why: string) => Error): Promise<T> => {
  try {
    return await run();
  } catch (cause) {
    if (isSvcError(cause) && cause.status < 500) throw cause;
    throw failed(cause instanceof Error ? cause.message.replace(/\.$/, '') : 'no answer came');
  }
};

const STATES: ReadonlyMap<string, TaskStatus> = new Map<string, TaskStatus>(
  Object.entries({
    submitted: 'submitted',
    working: 'working',
    inputrequired: 'input_required',
    authrequired: 'input_required',
    completed: 'completed',
    canceled: 'cancelled',
    cancelled: 'cancelled',
    failed: 'failed',
    rejected: 'failed',
  }),
);
export const statusOf = (given: unknown): TaskStatus | undefined => {
  const state = text(given, MAX_NAME)
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll(/[-_]/g, '');
  return STATES.get(state);
};

const textIn = (message: unknown): string =>
  list(object(message).parts)
    .map((part) => text(object(part).text, MAX_TASK_BYTES))
    .filter((one) => one !== '')
    .join('\n');

/** A task, or a message in its place: that is all there is to it, and it has no id. */
export const answerOf = (given: unknown): RemoteAnswer => {
  const outer = object(given);
  const task = outer.task === undefined ? outer : object(outer.task);
  const direct = outer.message === undefined ? outer : outer.message;
  const id = task.task_id ?? task.id;
  const status = object(task.status);
  const state = statusOf(status.state ?? task.status);
  if (state === undefined && list(object(direct).parts).length > 0) return { remoteId: null, status: 'completed', result: said(textIn(direct)) };
  if (state === undefined || typeof id !== 'string' || id === '') throw a2aErrors.upstream('The other server', 'its answer is neither a task nor a message');
  const words = [...list(task.artifacts).map(textIn), textIn(task.result), textIn(status.message)].filter((one) => one !== '').join('\n');
  return { remoteId: id.slice(0, MAX_NAME), status: state, ...(words === '' ? {} : { result: said(words) }) };
};
