/**
 * The tap of tool.before: whether a call may carry what it would carry.
 *
 * B1  A person decides where one can be asked. Where approvals are off, the call is refused: a missing answer is no consent.
 * B2  The question names the label, where it would go and where it came from. A secret's value is in no question, log or audit entry.
 * B3  A call that a person made themselves, without a run, is theirs.
 */
import type { Clock, Logger, OptionalHandle, ToolRequest, Verdict } from '@svc/api';
import type { ApprovalsService } from '@svc/ext-approvals/contract';
import type { Taint } from './config.js';
import type { Conversations } from './conversations.js';
import type { Counter } from './counter.js';
import type { FileLabels, LabelledFile } from './files.js';
import { fileWords, mayRunFiles } from './policy/commands.js';
import type { Corpus } from './policy/corpus.js';
import { type Flow, flowOf, sinkOf } from './policy/flows.js';
import { squeezed } from './policy/normal-text.js';

export interface BeforeDeps {
  readonly settings: () => Taint;
  readonly conversations: Conversations;
  readonly files: Pick<FileLabels, 'among' | 'first'>;
  readonly approvals: OptionalHandle<ApprovalsService>;
  readonly counter: Counter;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** The tool that writes a whole file. */
const REPLACES = 'file_write';
const WOULD: Readonly<Record<Flow['sink'], string>> = {
  shell_exec: 'would run a command with',
  net_fetch: 'would send a request with',
  agent_message: 'would send a message with',
  tool_call: 'would change something with',
};

export const createBefore =
  (deps: BeforeDeps) =>
  async (request: ToolRequest): Promise<Verdict | undefined> => {
    const { call } = request;
    const sink = sinkOf(request);
    // A call without a run is a person's own (B3).
    if (call.runId === '' || sink === undefined || actionOn(deps.settings(), sink) === 'allow') return undefined;
    const [corpora, file] = await Promise.all([deps.conversations.corporaOf(call), fileOf(deps, request, sink)]);
    const found = flowOf(corpora, request) ?? (sink === 'shell_exec' && file ? fileFlow(corpora, commandOf(request), file) : undefined);
    const verdict = found === undefined ? undefined : await verdictOn(deps, request, found);
    if (!verdict && (file || request.tool.risk === 'exec')) deps.counter.begin(call.callId, { atMs: deps.clock.now(), source: file?.source });
    return verdict;
  };

export const actionOn = (settings: Taint, sink: Flow['sink']): Taint['mode'] => settings[sink] ?? settings.mode;

/** The file with text from outside that a call runs, reads or changes. Writing one as a whole leaves nothing of it. */
const fileOf = async ({ files }: BeforeDeps, request: ToolRequest, sink: Flow['sink']): Promise<LabelledFile | undefined> => {
  const { tool, call, needs } = request;
  if (sink === 'shell_exec') return files.among(call.agentId, fileWords(commandOf(request)));
  const paths = needs.flatMap(({ capability, target }) => (capability === 'file_system' && target !== undefined ? [target] : []));
  return tool.name === REPLACES || paths.length === 0 ? undefined : files.first(call.agentId, paths);
};

const commandOf = ({ needs, args }: ToolRequest): string => needs.find(({ capability }) => capability === 'shell')?.target ?? Object.values(args).join(' ');

/** A file with text from outside, as a program or in the hands of one. Programs that only show or move it are not held. */
const fileFlow = (corpora: readonly Corpus[], line: string, { path, source }: LabelledFile): Flow | undefined => {
  if (!mayRunFiles(line) || corpora.some(({ trustedText }) => trustedText.includes(squeezed(line)))) return undefined;
  return { sink: 'shell_exec', label: source.labels[0] ?? 'ExternalNetwork', source: source.name, what: `the file ${path}, whose text`, rules: [] };
};

const verdictOn = async ({ settings, approvals, counter, log }: BeforeDeps, request: ToolRequest, flow: Flow): Promise<Verdict | undefined> => {
  const { tool, call } = request;
  const action = actionOn(settings(), flow.sink);
  const question = questionOn(tool.name, flow);
  counter.flow(flow.sink, action);
  if (action === 'log')
    log.warn('a call carries something from outside', { tool: tool.name, run: call.runId, call: call.callId, label: flow.label, sink: flow.sink, source: flow.source, rules: flow.rules });
  if (action === 'log' || action === 'allow') return undefined;
  const refusal = { deny: `This call is refused: ${question} Do not try another way. Say what you wanted to do, and go on without it.`, code: 'taint_refused' };
  if (action === 'refuse') return refusal;
  if (!approvals.value) return { ...refusal, deny: `This call is refused: ${question} A person could approve it, but the extension approvals is off.` };
  const { deny, code, suspend } = await approvals.value.ask(request, question);
  if (suspend) return { suspend };
  return deny === undefined ? undefined : { deny, ...(code === undefined ? {} : { code }) };
};

export const questionOn = (tool: string, { sink, label, source, what, rules }: Flow): string => {
  const from = source === '' ? '' : ` came from ${source}`;
  const would = what.startsWith('a command') ? 'would run' : WOULD[sink];
  return `${tool} ${would} ${what}${from}${rules.length === 0 ? '' : ` (${rules.join(', ')})`}. Label ${label}, sink ${sink}.`;
};
