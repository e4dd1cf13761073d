/**
 * A conversation, without the screen: what was typed goes out one after another, what comes back goes to the view.
 *
 * C1  What is typed while an answer comes waits, is shown apart, and goes out next; nothing typed is lost. After a stop
 *     it goes back to where it was typed.
 * C2  A failure ends one answer, never the conversation.
 */
import { Failure, duration, typed } from '@svc/cli/area';
import type { AgentRow } from '@svc/ext-agents/cli';
import { previewLines, reviewLines, sentenceOf } from '@svc/ext-approvals/cli';
import type { RunEvent } from '../answer/run-stream.js';
import { attachedFiles } from './attached-files.js';
import type { Attachment, ChatDaemon, MissingGrant } from './chat-daemon.js';
import type { ToolCall } from './tool-line.js';

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** Where a conversation is seen. */
export interface ChatView {
  said(text: string, attached: readonly string[]): void;
  /** What the person waits for; undefined when for nothing. */
  waiting(what: string | undefined): void;
  text(content: string): void;
  /** What the model said since the last tool call is void. */
  voided(): void;
  toolBegan(id: string, tool: string): void;
  toolEnded(id: string, call: ToolCall): void;
  /** What will be said when the answer is there. */
  queued(texts: readonly string[]): void;
  /** Gives back what was queued. */
  restore(text: string): void;
  note(text: string): void;
  failed(text: string, fix: string | undefined): void;
  answered(figures: string | undefined): void;
  choose(question: string, choices: readonly Choice[]): Promise<string | undefined>;
  chatsWith(agent: AgentRow): void;
}

export interface ConversationDeps {
  readonly daemon: ChatDaemon;
  readonly view: ChatView;
  readonly cwd: string;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly remember: (text: string) => void;
  readonly leave: () => void;
}

export interface Conversation {
  readonly agent: AgentRow;
  readonly isAnswering: boolean;
  submit(text: string): void;
  /** Stops the answer that comes; false when none does. */
  stop(): boolean;
}

/** Words that are the terminal's own; every other `/word` goes to the agent. */
export const LOCAL_COMMANDS: ReadonlyArray<{ readonly name: string; readonly summary: string; readonly hint?: string }> = [
  { name: 'exit', summary: 'Leave' },
  { name: 'cost', summary: 'Show or hide tokens and cost after each answer', hint: '[on|off]' },
  { name: 'agent', summary: 'Chat with another agent', hint: 'NAME' },
];

const MAX_QUEUED = 20;

interface State {
  agent: AgentRow;
  readonly queue: string[];
  isAnswering: boolean;
  isStopping: boolean;
  showsCost: boolean;
}

export const createConversation = (deps: ConversationDeps, agent: AgentRow, showsCost: boolean): Conversation => {
  const state: State = { agent, queue: [], isAnswering: false, isStopping: false, showsCost };
  return {
    get agent() {
      return state.agent;
    },
    get isAnswering() {
      return state.isAnswering;
    },
    submit: (text) => submit(deps, state, text.trim()),
    stop: () => stop(deps, state),
  };
};

const submit = (deps: ConversationDeps, state: State, text: string): void => {
  if (text === '') return;
  deps.remember(text);
  if (!state.isAnswering) {
    void answerAll(deps, state, text);
    return;
  }
  if (state.queue.length >= MAX_QUEUED) {
    deps.view.note(`${MAX_QUEUED} messages are already waiting; this one stays in the input`);
    deps.view.restore(text);
    return;
  }
  state.queue.push(text);
  deps.view.queued(state.queue);
};

const stop = (deps: ConversationDeps, state: State): boolean => {
  if (!state.isAnswering) return false;
  const waiting = state.queue.splice(0);
  if (waiting.length > 0) {
    deps.view.queued([]);
    deps.view.restore(waiting.join('\n'));
  }
  if (!state.isStopping) {
    state.isStopping = true;
    deps.view.waiting('stopping');
    deps.daemon.stop(state.agent.id).catch((error: unknown) => complain(deps, error));
  }
  return true;
};

const answerAll = async (deps: ConversationDeps, state: State, first: string): Promise<void> => {
  state.isAnswering = true;
  for (let text: string | undefined = first; text !== undefined; text = state.queue.shift()) {
    deps.view.queued(state.queue);
    try {
      if (!(await answerLocally(deps, state, text))) await answer(deps, state, text);
    } catch (error) {
      complain(deps, error);
    }
    deps.view.waiting(undefined);
    state.isStopping = false;
  }
  state.isAnswering = false;
};

/** False for what is meant for the agent. */
const answerLocally = async (deps: ConversationDeps, state: State, text: string): Promise<boolean> => {
  const [, word, args = ''] = /^\/(\w+)(?:\s+(.*))?$/s.exec(text) ?? [];
  if (word === 'exit' || word === 'quit') deps.leave();
  else if (word === 'cost') {
    state.showsCost = args === 'on' || (args !== 'off' && !state.showsCost);
    deps.view.note(state.showsCost ? 'tokens and cost are shown after each answer' : 'tokens and cost are no longer shown');
  } else if (word === 'agent' && args !== '') {
    const agents = await deps.daemon.agents();
    const found = agents.find(({ name, id }) => name === args.trim() || id === args.trim());
    if (!found) throw new Failure(`There is no agent "${args.trim()}".`, { code: 'agent_not_found', why: `there are: ${agents.map(({ name }) => name).join(', ')}` });
    state.agent = found;
    deps.view.chatsWith(found);
  } else return false;
  return true;
};

const answer = async (deps: ConversationDeps, state: State, text: string): Promise<void> => {
  const { view, daemon } = deps;
  const files = attachedFiles(text, deps.cwd);
  view.said(text, files);
  view.waiting(files.length > 0 ? 'attaching' : 'thinking');
  const attachments: Attachment[] = [];
  for (const file of files) attachments.push(await daemon.upload(state.agent.id, file));
  view.waiting('thinking');
  const startedAt = deps.now();
  const began = new Map<string, number>();
  const missing: MissingGrant[] = [];
  for await (const event of daemon.send(state.agent.id, text, attachments, new AbortController().signal)) {
    show(deps, event, began, state.isStopping);
    if (event.type === 'phase' && event.data.phase === 'waiting' && event.data.approval_id) void askToApprove(deps, event.data.approval_id).catch((error: unknown) => complain(deps, error));
    if (event.type === 'done' && event.data.result?.finish === 'cancelled') view.note('Stopped.');
    if (event.type === 'tool_result' && event.data.missing) missing.push(...event.data.missing);
    if (event.type === 'error') throw new Failure(event.data.error, { code: event.data.code ?? 'run_failed', fix: event.data.hint });
    if (event.type === 'done') view.answered(state.showsCost ? figures(event.data, deps.now() - startedAt) : undefined);
  }
  view.waiting(undefined);
  if (missing.length > 0 && !state.isStopping) await offerGrants(deps, state, missing);
};

const show = ({ view, now }: ConversationDeps, event: RunEvent, began: Map<string, number>, isStopping: boolean): void => {
  if (event.type === 'chunk') {
    view.text(event.data.content);
    if (!isStopping) view.waiting('answering');
  } else if (event.type === 'thinking_delta') {
    if (!isStopping) view.waiting('thinking');
  } else if (event.type === 'tool_use') {
    const id = event.data.id ?? event.data.tool;
    began.set(id, now());
    view.toolBegan(id, event.data.tool);
    if (!isStopping) view.waiting(`using ${event.data.tool}`);
  } else if (event.type === 'tool_result') {
    const { tool, id = tool, input, result, is_error: isError } = event.data;
    const at = began.get(id);
    view.toolEnded(id, {
      tool,
      input,
      ...(result === undefined ? {} : { result }),
      ...(isError === undefined ? {} : { isError }),
      ...(at === undefined ? {} : { ms: now() - at }),
    });
    if (!isStopping) view.waiting('thinking');
  } else if (event.type === 'phase') {
    if (event.data.phase === 'restarted') view.voided();
    const what = phaseText(event.data);
    if (what !== undefined && !isStopping) view.waiting(what);
  }
};

const phaseText = ({ phase, detail }: { readonly phase: string; readonly detail?: string }): string | undefined => {
  if (phase === 'queued') return 'waits for the message before it';
  if (phase === 'thinking') return detail ?? 'thinking';
  if (phase === 'waiting') return `waits for an approval${detail === undefined ? '' : `: ${detail}`}`;
  if (phase === 'restarted') return detail ?? 'the daemon restarted; this step starts again';
  return detail;
};

const figures = ({ usage, result }: Extract<RunEvent, { type: 'done' }>['data'], ms: number): string => {
  const cost = typeof result?.cost_usd === 'number' ? ` · $${result.cost_usd.toFixed(4)}` : '';
  return `${usage?.input_tokens ?? 0} → ${usage?.output_tokens ?? 0} tokens${cost} · ${ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : duration(ms / 1_000)}`;
};

/** What was refused for want of a capability can be granted there and then; the daemon validates whether this person may. */
const offerGrants = async (deps: ConversationDeps, state: State, missing: readonly MissingGrant[]): Promise<void> => {
  const asked = new Map(missing.map((need) => [`${need.capability} ${need.target ?? ''}`, need]));
  for (const need of asked.values()) {
    const what = need.target === undefined ? need.capability : `${need.capability}: ${need.target}`;
    const chosen = await deps.view.choose(`${state.agent.name} was refused: missing grant (${what}).`, [
      { value: 'again', label: 'Grant it and try again' },
      { value: 'grant', label: 'Grant it', hint: 'adds it to the agent permanently' },
      { value: 'no', label: 'No' },
    ]);
    if (chosen !== 'again' && chosen !== 'grant') continue;
    await deps.daemon.grant(state.agent.id, need);
    deps.view.note(`granted ${what}`);
    if (chosen === 'again') state.queue.unshift('The refused permission is granted now. Try again.');
  }
};

const PLAIN = { red: same, green: same, dim: same, yellow: same };

/** Beside the answer that comes: somebody may decide on the page meanwhile. */
const askToApprove = async ({ daemon, view }: ConversationDeps, id: string): Promise<void> => {
  const request = await daemon.approval(id);
  if (request.status !== 'pending') return;
  const later = `svc approvals approve ${id}`;
  const what = [`${sentenceOf(request)}:`, ...reviewLines(request, PLAIN), ...previewLines(request, PLAIN)].join('\n');
  if (request.needs_totp) return view.note(`${what}\nIt needs a code from your authenticator: ${later} --code CODE`);
  const chosen = await view.choose(what, [
    { value: 'approve', label: 'Approve' },
    ...(request.can_remember ? [{ value: 'session', label: 'Approve, also later in this session', hint: 'the same call only' }] : []),
    { value: 'reject', label: 'Reject', hint: 'the agent is told' },
  ]);
  if (chosen === 'approve') await daemon.approve(id);
  else if (chosen === 'session') await daemon.approve(id, 'session');
  else if (chosen === 'reject') await daemon.reject(id);
  else view.note(`It still waits: ${later}`);
};

function same(text: string): string {
  return text;
}

const complain = ({ view }: ConversationDeps, error: unknown): void => {
  const fix = error instanceof Failure && error.fix !== undefined ? typed(error.fix) : undefined;
  view.failed(error instanceof Error ? error.message : String(error), fix);
};
