/**
 * The tap of tool.after: where a result came from, and whether it gives orders.
 *
 * A1  What a tool declares is the least: a result of one that reads the open world is from outside, whatever it says of itself.
 * A2  A result that gives orders is shown with a warning before it, and never withheld.
 */
import type { Clock, Origin, TaintLabel, ToolOutput, ToolRequest } from '@svc/api';
import { matchesAny, parsedUrl } from '@svc/api';
import type { Taint } from './config.js';
import type { Conversations } from './conversations.js';
import type { Counter } from './counter.js';
import type { FileLabels } from './files.js';
import { scanText, withWarning } from './injection/scan.js';
import { commandsIn, fileWords, mayFetch, readsUnnamed } from './policy/commands.js';
import { type Corpus, outsideSourceOf, type Source } from './policy/corpus.js';
import { addressesIn } from './policy/identifiers.js';
import { squeezed } from './policy/normal-text.js';

export interface AfterDeps {
  readonly settings: () => Taint;
  readonly conversations: Conversations;
  readonly files: FileLabels;
  readonly counter: Counter;
  readonly clock: Pick<Clock, 'now'>;
}

const OUTSIDE: readonly TaintLabel[] = ['ExternalNetwork'];
/** Of a line that stands in a file as it stood outside. Shorter ones stand everywhere. */
const MIN_LINE_CHARS = 30;
const MAX_LINES = 5_000;
/** The longest that a command runs, and a process. */
const MAX_COMMAND_MS = 610_000;
const MAX_PROCESS_MS = 86_400_000;

export const createAfter =
  (deps: AfterDeps) =>
  async (output: ToolOutput, request: ToolRequest): Promise<ToolOutput | undefined> => {
    if (request.call.agentId === '') return undefined;
    const origin = await originOf(deps, output, request);
    if (!origin) return undefined;
    const ids = origin.labels.length > 0 && deps.settings().scan ? scanText(output.content) : [];
    if (ids.length === 0) return { ...output, origin };
    deps.counter.injection(ids);
    return { ...output, content: withWarning(output.content, ids), origin };
  };

const originOf = async (deps: AfterDeps, { origin }: ToolOutput, request: ToolRequest): Promise<Origin | undefined> => {
  const { tool, call, needs } = request;
  if (tool.risk === 'exec') return ofCommand(deps, request);
  const paths = needs.flatMap(({ capability, target }) => (capability === 'file_system' && target !== undefined ? [target] : []));
  if (paths.length > 0 && tool.risk === 'write' && tool.openWorld === false) {
    if (call.runId !== '') await noteWritten(deps, request, paths);
    return origin;
  }
  if (paths.length > 0 && tool.openWorld === false) {
    for (const path of paths) {
      const source = await deps.files.of(call.agentId, path);
      if (source) return { labels: [...source.labels], source: `${path}, with text from ${source.name}` };
    }
    return origin;
  }
  if (tool.openWorld === false) return origin;
  const host = hostOf(needs.find(({ capability }) => capability === 'network')?.target);
  const name = host === undefined ? tool.name : `${tool.name} (${host})`;
  const { trusted_tools: tools, trusted_hosts: hosts } = deps.settings();
  if (matchesAny(tools, tool.name) || (host !== undefined && matchesAny(hosts, host))) {
    await noteFetched(deps, request, paths, undefined);
    return { labels: [], source: name };
  }
  await noteFetched(deps, request, paths, { labels: OUTSIDE, name });
  return { labels: [...new Set([...OUTSIDE, ...(origin?.labels ?? [])])], source: name, ...(origin?.sessionId === undefined ? {} : { sessionId: origin.sessionId }) };
};

/** What a tool of the open world wrote came from there. */
const noteFetched = async ({ files }: AfterDeps, { tool, call }: ToolRequest, paths: readonly string[], source: Source | undefined): Promise<void> => {
  if (tool.risk === 'read' || call.runId === '') return;
  for (const path of paths) await files.wrote({ agentId: call.agentId, ownerId: call.actor.ownerId, path }, source);
};

const hostOf = (url: string | undefined): string | undefined => (url === undefined ? undefined : parsedUrl(url)?.hostname);

const ofCommand = async (deps: AfterDeps, { tool, call, needs }: ToolRequest): Promise<Origin | undefined> => {
  const line = needs.find(({ capability }) => capability === 'shell')?.target ?? '';
  const begun = deps.counter.begun(call.callId);
  const source = (await sourceOfCommand(deps, call.agentId, line, call.capabilities.network.length > 0, tool.name)) ?? begun?.source;
  if (!source) return tool.openWorld === false ? undefined : { labels: [], source: tool.name };
  const runsOn = tool.name !== 'shell_exec';
  const now = deps.clock.now();
  // A command began when it began; the longest that it may have run is long enough.
  await deps.files.ran(
    { agentId: call.agentId, ownerId: call.actor.ownerId },
    { since: new Date(now - (runsOn ? 1_000 : Math.min(MAX_COMMAND_MS, now - (begun?.atMs ?? 0) + 1_000))).toISOString(), untilMs: runsOn ? now + MAX_PROCESS_MS : now },
    source,
  );
  return { labels: [...source.labels], source: source.name };
};

const sourceOfCommand = async ({ files }: AfterDeps, agentId: string, line: string, isOnline: boolean, tool: string): Promise<Source | undefined> => {
  if (mayFetch(line, isOnline)) {
    const host = addressesIn(line).find((one) => one.host !== undefined)?.host;
    return { labels: OUTSIDE, name: host === undefined ? tool : `${tool} (${host})` };
  }
  return (await files.among(agentId, fileWords(line)))?.source ?? (readsUnnamed(line) ? files.all(agentId) : undefined);
};

const noteWritten = async (deps: AfterDeps, { call, args }: ToolRequest, paths: readonly string[]): Promise<void> => {
  const corpora = await deps.conversations.corporaOf(call);
  const texts = Object.values(args).filter((value) => typeof value === 'string');
  // What was in the file before is still in it, or in the one that it was moved to.
  const source = sourceOfText(corpora, texts.join('\n')) ?? deps.counter.begun(call.callId)?.source;
  for (const path of paths) await deps.files.wrote({ agentId: call.agentId, ownerId: call.actor.ownerId, path }, source);
};

/** Where a text has something from: an address, a whole line, or a command that nobody but the text from outside wrote. */
export const sourceOfText = (corpora: readonly Corpus[], text: string): Source | undefined => {
  if (corpora.every(({ outside }) => outside.length === 0)) return undefined;
  for (const { value, host } of addressesIn(text)) {
    if (corpora.some(({ trusted }) => trusted.has(value) || (host !== undefined && trusted.has(host)))) continue;
    const source = outsideSourceOf(corpora, value);
    if (source) return source;
  }
  for (const line of text.split('\n', MAX_LINES)) {
    const form = squeezed(line.replace(/^[+\- ]/, ''));
    const forms = [
      ...(form.length < MIN_LINE_CHARS ? [] : [form]),
      ...commandsIn(line.replace(/^[+\-$# ]+/, '')).filter((command) => !corpora.some(({ trustedText }) => trustedText.includes(command))),
    ];
    for (const one of forms) {
      const source = outsideSourceOf(corpora, one);
      if (source) return source;
    }
  }
  return undefined;
};
