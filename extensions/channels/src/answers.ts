/**
 * Answers of runs that no chat began, on their way to one: what an area asks for that has no delivery of its own.
 *
 * N1  The answer of a run goes there once, also over a crash. One that failed or was stopped sends nothing.
 * N2  Without a channel it goes where the person last wrote to the agent. Another channel is for whoever may write there.
 */
import type { Actor, Actors, Clock, Journal, LeasedRun } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunEnds, RunsService } from '@svc/ext-runs/contract';
import { type AnswerTo, ChannelAnswer, type ChannelsService, type Chat, mayWriteTo } from './contract.js';
import { channelErrors } from './errors.js';
import type { Outbox } from './outbox.js';

export interface AnswerDeps {
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'now'>;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly runs: Pick<RunsService, 'get'>;
  readonly ends: RunEnds;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly reach: Pick<ChannelsService, 'reach' | 'lastChat'>;
}

const CHECK_MS = 60_000;
const AT_ONCE = 64;

export const createAnswers = (deps: AnswerDeps): Pick<ChannelsService, 'chatFor' | 'answerTo'> => {
  const worker = deps.journal.worker(ChannelAnswer, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  return {
    chatFor: (actor, { agentId, channel }) => chatFor(deps, actor, agentId, channel),
    answerTo: async (actor, to) => {
      const { leased } = await deps.journal.open({ kind: ChannelAnswer.name, actor: deps.actors.of(actor.ownerId), key: `run:${to.runId}`, subject: to.agentId, input: to });
      if (leased) void worker.take(leased);
      else worker.poke();
    },
  };
};

const chatFor = async ({ agents, reach }: AnswerDeps, actor: Actor, agentId: string, channel: string | undefined): Promise<Chat> => {
  const last = await reach.lastChat(actor, { agentId });
  if (last && (channel === undefined || last.channel === channel)) return last;
  if (channel === undefined) throw channelErrors.no_last_chat();
  const { manifest } = await agents.get(actor, agentId);
  if (!mayWriteTo(actor, manifest.capabilities, channel)) throw channelErrors.denied(channel);
  return reach.reach({ channel });
};

async function drive(deps: AnswerDeps, run: LeasedRun): Promise<void> {
  const { runId, agentId, chat } = run.input as AnswerTo; // what answerTo stored
  const owner = deps.actors.of(run.ownerId);
  const { status, result } = await deps.runs.get(owner, runId);
  if (status === 'queued' || status === 'running' || status === 'waiting') {
    deps.ends.watch(runId, () => deps.journal.wake(owner, wakeKey(runId), {}));
    await deps.journal.wait(run, { reason: 'run', wakeKey: wakeKey(runId), until: new Date(deps.clock.now() + CHECK_MS).toISOString() });
    // It may have ended before anybody could be woken.
    const { status: now } = await deps.runs.get(owner, runId);
    if (now !== 'queued' && now !== 'running' && now !== 'waiting') await deps.journal.wake(owner, wakeKey(runId), {});
    return;
  }
  const text = status === 'done' ? (result?.response ?? '') : '';
  if (text.trim() !== '') await deps.outbox.send(run.ownerId, { ...chat, message: text, key: `run:${runId}`, runId, agentId });
  await deps.journal.advance(run, { finish: { status: 'done' } });
}

const wakeKey = (runId: string): string => `channel-answer:${runId}`;
