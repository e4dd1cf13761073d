/** What of a request an agent is asked: the last user message in a conversation, results for a run that waits, or all of it where it stands alone. */
import { isTable, type Origin } from '@svc/api';
import type { ClientResult, ClientTools, RunDraft } from '@svc/ext-runs/contract';
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import type { ChatMessage } from './chat-request.js';
import { plainParts, type ReadPart, strictParts } from './parts.js';

/** Each is an entry while the run goes on; more than a model's window holds. */
const MAX_STATELESS_MESSAGES = 10_000;
/** Of one message. */
const MAX_TOOL_CALLS = 128;

export type Asked = Pick<RunDraft, 'parts' | 'systemExtra' | 'history' | 'clientResults' | 'origin'>;
/** Results of calls of an earlier answer. */
export interface AskedToGoOn extends Pick<Asked, 'systemExtra'> {
  readonly results: readonly ClientResult[];
}

type Messages = readonly ChatMessage[];

/** The conversation is the history: earlier messages of the request are not read. */
export function askedInConversation(messages: Messages): Asked | AskedToGoOn {
  const last = messages.findLastIndex(({ role }) => role !== 'system' && role !== 'developer');
  if (messages[last]?.role === 'tool') return { results: resultsBefore(messages, last + 1), ...systemOf(messages) };
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const user = messages[at];
  const parts = user ? strictParts(user.content) : [];
  if (parts.length === 0) throw compatErrors.missing_message();
  const results = resultsBefore(messages, at).filter(({ callId }) => callId !== '');
  return { parts, ...(results.length > 0 ? { clientResults: results } : {}), ...systemOf(messages) };
}

/** Those that stand together before this place. */
function resultsBefore(messages: Messages, end: number): ClientResult[] {
  const from = messages.findLastIndex(({ role }, index) => index < end && role !== 'tool' && role !== 'system' && role !== 'developer');
  return messages
    .slice(from + 1, end)
    .filter(({ role }) => role === 'tool')
    .map((message) => ({ callId: callIdOf(message), content: textOf(message, PICTURE_OF_RESULT) }));
}

/** A run that waits takes the words of a result. */
const PICTURE_OF_RESULT = '[The result has a picture, which is taken in stateless requests only.]';

const callIdOf = (message: ChatMessage): string => (typeof message.tool_call_id === 'string' ? message.tool_call_id : '');

/** All messages as they were sent, in their order. What has no place among older ones is told in words; in the newest it is refused by name. */
export function askedAlone(messages: Messages, tools: ClientTools | undefined): Asked {
  if (messages.length > MAX_STATELESS_MESSAGES) throw compatErrors.unsupported_value(`A stateless request has at most ${MAX_STATELESS_MESSAGES} messages; this one has ${messages.length}.`);
  const reading = readingOf(messages, tools);
  const newest = messages.findLastIndex(({ role }) => role !== 'system' && role !== 'developer');
  const said = messages.flatMap((message, index) => turnOf(message, index === newest, reading));
  const last = said.at(-1);
  const isAnswer = (last?.results?.length ?? 0) > 0;
  if (last?.role !== 'user') throw compatErrors.no_question(last ? 'the last message is the assistant’s, and there is nothing to answer' : 'messages contains no user message');
  if (isAnswer) checkAnswered(said);
  const [first] = said;
  const opening = first?.role === 'assistant' ? [BEGUN_BY_ASSISTANT] : [];
  return {
    ...(isAnswer ? { parts: [], history: [...opening, ...said] } : { parts: last.parts, history: [...opening, ...said.slice(0, -1)], ...(last.origin ? { origin: last.origin } : {}) }),
    ...systemOf(messages),
  };
}

type Turn = NonNullable<RunDraft['history']>[number];

/** Providers take no conversation that the assistant begins; greetings of programs do. */
const BEGUN_BY_ASSISTANT: Turn = { role: 'user', parts: [{ type: 'text', text: '(The assistant began this conversation.)' }] };

/** Which calls are told as calls: those of tools that the request brings, with a result and with arguments that parse. */
interface Reading {
  readonly names: ReadonlyMap<string, string>;
  readonly replayed: ReadonlySet<string>;
}

function readingOf(messages: Messages, tools: ClientTools | undefined): Reading {
  const calls = messages.flatMap(callsOf);
  const declared = new Set(tools?.tools.map(({ name }) => name));
  const answered = new Set(messages.filter(({ role }) => role === 'tool').map(callIdOf));
  const lastCalls = messages.findLast((message) => callsOf(message).length > 0);
  const isOver = lastCalls !== undefined && messages.findLastIndex(({ role }) => role === 'user' || role === 'assistant') > messages.lastIndexOf(lastCalls);
  const open = new Set(lastCalls && !isOver ? callsOf(lastCalls).map(({ id }) => id) : []);
  const ids = calls.map(({ id }) => id);
  const isReplayed = ({ id, name, args }: ToolCall) => id !== '' && declared.has(name) && argsOf(args) !== undefined && (answered.has(id) || open.has(id)) && ids.indexOf(id) === ids.lastIndexOf(id);
  return { names: new Map(calls.map(({ id, name }) => [id, name])), replayed: new Set(calls.filter(isReplayed).map(({ id }) => id)) };
}

/** A model that is asked to go on needs the results of all calls of the last answer. */
function checkAnswered(said: readonly Turn[]): void {
  const at = said.findLastIndex(({ role }) => role === 'assistant');
  const given = new Set(said.slice(at + 1).flatMap(({ results = [] }) => results.map(({ callId }) => callId)));
  const missing = (said[at]?.calls ?? []).filter(({ id }) => !given.has(id));
  if (missing.length > 0) throw compatErrors.results_missing(missing.map(({ id }) => id).join(', '));
}

/** A client's tool read something that nobody here knows. */
const FROM_CLIENT_TOOL: Origin = { labels: ['ExternalNetwork'], source: "a client's tool" };

/**
 * None for a system text, which stands elsewhere, and for a message without words. What a tool was asked and gave that this request does
 * not bring is told in words: the agent cannot call that tool, but what was found out is part of what was said.
 */
function turnOf(message: ChatMessage, isNewest: boolean, { names, replayed }: Reading): Turn[] {
  const { role } = message;
  if (role === 'system' || role === 'developer') return [];
  if (role === 'tool' || role === 'function') {
    const callId = callIdOf(message);
    const tool = toolOf(message, names);
    const pictures = plainParts(message.content).filter((part) => part.type === 'image');
    if (replayed.has(callId)) return [{ role: 'user', parts: pictures, results: [{ callId, tool, content: textOf(message) }], ...(pictures.length > 0 ? { origin: FROM_CLIENT_TOOL } : {}) }];
    return [{ role: 'user', parts: [{ type: 'text', text: `Result of the tool ${tool}:\n${textOf(message)}` }, ...pictures], origin: FROM_CLIENT_TOOL }];
  }
  const called = role === 'assistant' ? callsOf(message) : [];
  const calls = called.filter(({ id }) => replayed.has(id)).map(({ id, name, args }) => ({ id, name, args: argsOf(args) ?? {} }));
  const inWords = called.filter(({ id }) => !replayed.has(id)).map(({ name, args }) => `I asked the tool ${name}: ${args}`);
  const said = role === 'user' ? (isNewest ? strictParts : plainParts)(message.content) : plainParts(message.content).map(inWordsOfAssistant);
  const parts: Part[] = inWords.length === 0 ? said : [...said, { type: 'text', text: `${said.length === 0 ? '' : '\n'}${inWords.join('\n')}` }];
  return parts.length === 0 && calls.length === 0 ? [] : [{ role, parts, ...(calls.length > 0 ? { calls } : {}) }];
}

/** Providers take pictures of people only. */
const inWordsOfAssistant = (part: ReadPart): Part => (part.type === 'image' ? { type: 'text', text: `[a picture, ${part.mediaType}]` } : part);

/** Undefined where they are not those of a call: no provider takes such a call back. */
function argsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const args: unknown = JSON.parse(text);
    return isTable(args) ? args : undefined;
  } catch {
    return undefined;
  }
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Of an assistant message, in today's form and in the older one of a single function. */
function callsOf(message: ChatMessage): ToolCall[] {
  const fields: Readonly<Record<string, unknown>> = message;
  const calls = Array.isArray(fields.tool_calls) ? fields.tool_calls.slice(0, MAX_TOOL_CALLS) : isTable(fields.function_call) ? [{ function: fields.function_call }] : [];
  return calls.filter(isTable).map(({ id, function: called, custom }) => {
    const { name, arguments: args = {} } = isTable(called) ? called : isTable(custom) ? { name: custom.name, arguments: { input: custom.input } } : {};
    return { id: typeof id === 'string' ? id : '', name: typeof name === 'string' && name !== '' ? name : 'without a name', args: typeof args === 'string' ? args : JSON.stringify(args ?? {}) };
  });
}

/** A result names its call, and sometimes the tool. */
const toolOf = (message: ChatMessage, names: ReadonlyMap<string, string>): string => {
  const { name, tool_call_id: id }: Readonly<Record<string, unknown>> = message;
  return (typeof id === 'string' ? names.get(id) : undefined) ?? (typeof name === 'string' && name !== '' ? name : undefined) ?? 'of the client';
};

const systemOf = (messages: Messages): Pick<Asked, 'systemExtra'> => {
  const system = messages.filter((message) => message.role === 'system' || message.role === 'developer').map((message) => textOf(message, '[a picture]'));
  return system.length > 0 ? { systemExtra: system.join('\n\n') } : {};
};

/** The words of a message, with `picture` for each picture. */
const textOf = (message: ChatMessage, picture = ''): string =>
  plainParts(message.content)
    .map((part) => (part.type === 'image' ? picture : part.text))
    .filter((text) => text !== '')
    .join('\n');
