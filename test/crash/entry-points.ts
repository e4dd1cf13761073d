/** The adapters that a message comes in by, as clients use them: each keeps what it saw before the daemon died. */
import { setTimeout } from 'node:timers/promises';
import WebSocket from 'ws';
import { httpOf } from './daemon-life.js';

export type EntryPoint = 'rest' | 'sse' | 'openai' | 'ws';

export interface Message {
  readonly entryPoint: EntryPoint;
  readonly text: string;
  /** Undefined where the adapter takes none. */
  readonly key?: string;
  /** Undefined means the agent's own session. */
  readonly sessionId?: string;
}

export interface Seen {
  /** A status line, or a frame about this message, has come. */
  acknowledged: boolean;
  status?: number;
  runId?: string;
  answer?: string;
  /** Why there is no answer. */
  problem?: string;
}

/** Sends and waits for the answer. Never throws: the death of the daemon is what is tested. */
export const send = async (url: string, agentId: string, message: Message): Promise<Seen> => {
  const seen: Seen = { acknowledged: false };
  try {
    if (message.sessionId !== undefined) await beginSession(url, agentId, message.sessionId);
    await inTime(message.entryPoint === 'ws' ? overSocket(url, agentId, message, seen) : overHttp(url, agentId, message, seen));
  } catch (error) {
    seen.problem = `${error instanceof Error ? error.message : String(error)}${error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''}`;
  }
  return seen;
};

/** A message that nobody ever answers is a fault that is named, and not a test that hangs. */
const ANSWER_MS = 180_000;

const inTime = (answered: Promise<void>): Promise<void> => {
  const over = new AbortController();
  const late = setTimeout(ANSWER_MS, undefined, { signal: over.signal }).then(() => Promise.reject(new Error(`no answer within ${ANSWER_MS / 1_000} s`)));
  return Promise.race([answered, late]).finally(() => over.abort());
};

/** The same request as often as it is sent: a session of this id is there afterwards. */
const beginSession = async (url: string, agentId: string, sessionId: string): Promise<void> =>
  void (await httpOf(url).expect(200, 'POST', `/api/agents/${agentId}/sessions`, { session_id: sessionId, activate: false }));

const overHttp = async (url: string, agentId: string, message: Message, seen: Seen): Promise<void> => {
  const [path, body] = requestOf(agentId, message);
  const headers = { ...(message.key === undefined ? {} : { 'idempotency-key': message.key }), ...(message.entryPoint === 'openai' ? { 'x-svc-session': await sessionOf(url, agentId) } : {}) };
  const response = await httpOf(url).raw('POST', path, body, headers);
  seen.status = response.status;
  // A refusal acknowledges nothing.
  seen.acknowledged = response.ok;
  const runId = response.headers.get('x-svc-run');
  if (runId !== null) seen.runId = runId;
  const text = await response.text();
  if (!response.ok) seen.problem = `${response.status}: ${text.slice(0, 300)}`;
  else Object.assign(seen, message.entryPoint === 'sse' ? lastOf(text) : { answer: answerIn(message.entryPoint, JSON.parse(text)) });
};

/** Unasked, a client of /v1 has a session of its own. */
const sessionOf = async (url: string, agentId: string): Promise<string> => (await httpOf(url).expect(200, 'GET', `/api/agents/${agentId}`)).body.session_id;

const requestOf = (agentId: string, { entryPoint, text, sessionId }: Message): [path: string, body: object] => {
  if (entryPoint === 'openai') return ['/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: text }] }];
  return [`/api/agents/${agentId}/message${entryPoint === 'sse' ? '/stream' : ''}`, { message: text, ...(sessionId === undefined ? {} : { session_id: sessionId }) }];
};

const answerIn = (entryPoint: EntryPoint, body: { response?: string; choices?: Array<{ message: { content: string } }> }): string =>
  (entryPoint === 'openai' ? body.choices?.[0]?.message.content : body.response) ?? '';

/** A stream that was cut off has no last event of these two. */
const lastOf = (text: string): Pick<Seen, 'answer' | 'problem'> => {
  const [, event, data] = /event: (done|error)\ndata: (.*)\n\n$/.exec(text) ?? [];
  if (event === undefined || data === undefined) return { problem: 'the stream ended early' };
  const body = JSON.parse(data) as { result?: { response: string }; error?: string };
  return event === 'done' ? { answer: body.result?.response ?? '' } : { problem: body.error ?? 'unknown' };
};

const overSocket = (url: string, agentId: string, message: Message, seen: Seen): Promise<void> =>
  new Promise((resolve, reject) => {
    const query = message.sessionId === undefined ? '' : `?session_id=${message.sessionId}`;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/agents/${agentId}/ws${query}`);
    socket.on('error', reject);
    socket.on('close', () => {
      if (seen.answer === undefined) seen.problem ??= 'the socket closed';
      resolve();
    });
    socket.on('message', (raw) => {
      const frame = JSON.parse(String(raw)) as { type: string; content?: string };
      if (frame.type === 'connected') socket.send(JSON.stringify({ type: 'message', content: message.text }));
      else if (frame.type !== 'agents_updated') seen.acknowledged = true;
      if (frame.type === 'response') seen.answer = frame.content ?? '';
      if (frame.type === 'error') seen.problem = frame.content ?? 'unknown';
      if (frame.type === 'response' || frame.type === 'error') socket.close();
    });
  });

const manifestOf = (name: string): string => `
name = "${name}"
description = "Counts."
[model]
provider = "openai"
model = "gpt-4o"
[capabilities]
tools = ["*"]
network = ["*"]
shell = ["*"]
agent_message = ["*"]
file_system = true
[autonomous]
max_iterations = 40
`;

/** An agent of the test: spawned once, under a key, in whichever life that succeeds. Throws when the daemon dies meanwhile. */
export const ensureAgent = async (url: string, name = 'counter'): Promise<string> => {
  const { body } = await httpOf(url).expect(201, 'POST', '/api/agents', { manifest_toml: manifestOf(name) }, { 'idempotency-key': `spawn-${name}` });
  return body.agent_id;
};
