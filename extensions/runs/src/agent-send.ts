/** The tool by which one agent asks another. Its effect is a run, so it lives here. */
import { type AnyTool, type Events, type HookHandle, isSvcError, type Streams, type ToolCall, type ToolOutput, Type, defineTool } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { PeerAgentsService } from './peer-agents.js';
import type { CircularWaits } from './loop/circular-wait.js';
import { AgentMessaged, type RunChild, type RunFrame, RunFrames, type RunsService, type Submitted } from './contract.js';
import { runErrors } from './errors.js';

export interface AgentSendDeps {
  readonly runs: RunsService;
  readonly agents: AgentsService;
  readonly ctx: { readonly streams: Streams; readonly events: Pick<Events, 'publish'> };
  readonly circles: CircularWaits;
  readonly child: HookHandle<typeof RunChild>;
  /** Reaches agents of other daemons, where an area does. */
  readonly peers: { readonly value: PeerAgentsService | undefined };
  /** Resolves when the wait has lasted long enough. */
  deadline(signal: AbortSignal): Promise<void>;
}

const MAX_SHOWN = 200;

/** A reload ends the call as well; then the other run goes on, and the call is made again. */
const STOPS: ReadonlySet<string> = new Set([runErrors.stopped().code, runErrors.unwatched().code]);

export const agentSendTool = (deps: AgentSendDeps): AnyTool =>
  defineTool({
    name: 'agent_send',
    description: 'Send a message to another agent and wait for its answer.',
    params: Type.Object({
      agent_id: Type.String({ minLength: 1, description: 'Id or name of the other agent; name@node for one of another daemon' }),
      message: Type.String({ minLength: 1 }),
    }),
    risk: 'agent',
    openWorld: false,
    capabilities: ['agent_message'],
    needs: ({ agent_id }) => [
      { capability: 'agent_message', target: agent_id },
      ...(isElsewhere(agent_id) ? [{ capability: 'ofp_connect', target: agent_id.slice(agent_id.lastIndexOf('@') + 1) }] : []),
    ],
    replay: 'keyed',
    parallel: true,
    timeoutMs: 86_400_000,
    run: async (args, call) => {
      if (isElsewhere(args.agent_id)) return askElsewhere(deps, args, call);
      const other = await deps.agents.find(call.actor, args.agent_id);
      if (!other) return { content: `There is no agent "${args.agent_id}". Use agent_list to see all.`, isError: true };
      if (other.id === call.agentId) return { content: 'An agent cannot send a message to itself.', isError: true };
      await sayChild(deps, call, 'start', other.id, args.message);
      const submitted = await deps.runs.submit(call.actor, {
        agentId: other.id,
        door: 'agent',
        parts: [{ type: 'text', text: args.message }],
        // Small servers number their calls anew in each answer: only with its run is a call's id its own.
        key: `call:${call.runId}:${call.callId}`,
        depth: call.depth + 1,
        parentRunId: call.runId,
        cause: { kind: 'agent', id: call.agentId },
        origin: { labels: ['UntrustedAgent'], source: 'another agent', sessionId: call.sessionId },
      });
      if (!submitted.replayed) deps.ctx.events.publish(AgentMessaged, { ownerId: other.ownerId, runId: submitted.runId, fromId: call.agentId, toId: other.id, text: args.message.slice(0, MAX_SHOWN) });
      const frame = await answerTo(deps, call, submitted, other.name).catch(async (error: unknown) => {
        // Whoever stopped the asking run may have looked for what it began before this was there.
        if (isStopped(call.signal)) await deps.runs.stop(call.actor, { runId: submitted.runId }, 'the run that asked was stopped');
        throw error;
      });
      await sayChild(deps, call, 'end', other.id, args.message);
      if (!frame) return { content: `${other.name} has not answered yet; its run ${submitted.runId} goes on.`, isError: true };
      if (frame.type === 'error') return { content: `${other.name} could not answer: ${frame.data.error}`, isError: true };
      return { content: frame.type === 'done' ? frame.data.result.response : '', origin: { labels: [], source: other.name, sessionId: submitted.sessionId } };
    },
  });

const sayChild = async ({ child }: AgentSendDeps, { actor, agentId, runId, sessionId }: ToolCall, moment: 'start' | 'end', childId: string, message: string): Promise<void> => {
  if (!child.isEmpty()) await child.call({ moment, actor, parentId: agentId, childId, parentRunId: runId, sessionId, message });
};

/** `name@node` is an agent of another daemon. */
const isElsewhere = (id: string): boolean => id.includes('@');

async function askElsewhere(deps: AgentSendDeps, { agent_id: to, message }: { readonly agent_id: string; readonly message: string }, call: ToolCall): Promise<ToolOutput> {
  const peers = deps.peers.value;
  if (!peers) return { content: `${to} is an agent of another daemon, and the extension ofp is off.`, isError: true };
  const own = await deps.agents.find(call.actor, call.agentId);
  const done = new AbortController();
  const signal = AbortSignal.any([call.signal, done.signal]);
  const late = deps.deadline(signal);
  const answer = await Promise.race([peers.send(call.actor, { from: own?.name ?? call.agentId, to, message }), late]).finally(() => {
    done.abort();
    late.catch(() => undefined);
  });
  if (!answer) return { content: `${to} has not answered yet.`, isError: true };
  const { content, isError, source } = answer;
  return { content, isError, ...(isError ? {} : { origin: { labels: ['UntrustedAgent', 'ExternalNetwork'], source } }) };
}

const isStopped = ({ aborted, reason }: AbortSignal): boolean => aborted && isSvcError(reason) && STOPS.has(reason.code);

/** Its last frame, or nothing once the wait has lasted long enough. Rejects when the call is over before. */
async function answerTo(deps: AgentSendDeps, call: ToolCall, submitted: Submitted, name: string): Promise<RunFrame | undefined> {
  // One that runs at once waits for nobody.
  if (submitted.position > 0 || submitted.replayed) await deps.circles.refuse(call, submitted);
  const done = new AbortController();
  const signal = AbortSignal.any([call.signal, done.signal]);
  showWaits(deps, call, submitted.topic, name, signal).catch((cause: unknown) => call.log.debug('what another run waits for is no longer shown', { run: submitted.runId, cause }));
  return (await Promise.race([deps.ctx.streams.final(RunFrames, submitted.topic, signal), deps.deadline(signal)]).finally(() => done.abort())) ?? undefined;
}

/** What the other run waits for is shown in this one too, whose people may be the ones to decide. */
async function showWaits({ ctx: { streams } }: AgentSendDeps, call: ToolCall, topic: string, name: string, signal: AbortSignal): Promise<void> {
  const frames = streams.follow(RunFrames, topic);
  const close = (): void => frames.close();
  signal.addEventListener('abort', close);
  let isWaiting = false;
  try {
    for await (const frame of frames) {
      if (signal.aborted || frame.final) return;
      if (frame.type !== 'phase') continue;
      const { phase, detail, approval_id } = frame.data;
      if (phase === 'waiting') streams.publish(RunFrames, call.runId, 'phase', { phase, detail: `${name}: ${detail ?? 'waiting'}`, ...(approval_id === undefined ? {} : { approval_id }) });
      else if (isWaiting) streams.publish(RunFrames, call.runId, 'phase', { phase: 'thinking', detail: `${name} goes on` });
      isWaiting = phase === 'waiting';
    }
  } finally {
    signal.removeEventListener('abort', close);
    frames.close();
  }
}
