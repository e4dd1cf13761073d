/**
 * A model that does what the message says: `plan {"mark": …, "rounds": [[call, …], …]}` makes the calls of each round
 * in one message, then answers `answered <mark>`. It also validates what it is sent: a call without a result is a fault.
 */
import { type RecordedRequest, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';

export interface PlannedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Plan {
  readonly mark: string;
  readonly rounds: readonly (readonly PlannedCall[])[];
}

export const planText = (plan: Plan): string => `plan ${JSON.stringify(plan)}`;
export const answerTo = (mark: string): string => `answered ${mark}`;

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: ReadonlyArray<{ readonly id: string }>;
  readonly tool_call_id?: string;
}

type Listener = (request: RecordedRequest) => Partial<ScriptedAnswer> | undefined;

export interface PlannedModel {
  readonly url: string;
  /** Requests in which a call stood without its result, or a result without its call. */
  readonly faults: readonly string[];
  /** Called with each request before it is answered; what it gives changes the answer. */
  onRequest(fn: Listener | undefined): void;
  close(): Promise<void>;
}

/** `eventDelayMs` is the time between the pieces of an answer. */
export const startPlannedModel = async (eventDelayMs = 0): Promise<PlannedModel> => {
  const faults: string[] = [];
  let listener: Listener | undefined;
  const server = await startOpenAiServer((request) => {
    const messages = request.body.messages as readonly WireMessage[];
    const fault = unpaired(messages);
    if (fault) faults.push(fault);
    return { eventDelayMs, ...answerOf(messages), ...listener?.(request) };
  });
  return {
    url: server.url,
    faults,
    onRequest: (fn) => {
      listener = fn;
    },
    close: () => server.close(),
  };
};

const answerOf = (messages: readonly WireMessage[]): ScriptedAnswer => {
  const at = messages.findLastIndex((message) => message.role === 'user');
  const plan = planIn(messages[at]);
  if (!plan) return { text: 'nothing was planned' };
  const round = messages.slice(at).filter((message) => (message.tool_calls?.length ?? 0) > 0).length;
  const calls = plan.rounds[round];
  return calls ? { text: `round ${round} `, toolCalls: calls } : { deltas: ['answered ', plan.mark] };
};

/** The last line that is a plan: an earlier one that was never answered may stand before it. */
const planIn = (message: WireMessage | undefined): Plan | undefined => {
  const { content } = message ?? {};
  const text = Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('\n') : String(content ?? '');
  const line = text.split('\n').findLast((one) => one.startsWith('plan {'));
  return line === undefined ? undefined : (JSON.parse(line.slice('plan '.length)) as Plan);
};

const unpaired = (messages: readonly WireMessage[]): string | undefined => {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) return `a result without its call: ${message.tool_call_id}`;
      continue;
    }
    if (open.size > 0) return `calls without result: ${[...open].join(', ')}`;
    open = new Set((message.tool_calls ?? []).map((call) => call.id));
  }
  return open.size > 0 ? `calls without result: ${[...open].join(', ')}` : undefined;
};
