/**
 * Videos take minutes: each is a task, a row with a run in the journal.
 *
 * T1  The row stands before the provider is asked. A task that svc stopped in the middle of asking for has failed and is not asked for again.
 * T2  A task belongs to one person. Nobody else sees it.
 * T3  It goes on after a restart, and its file is stored once: the row names it in the commit that ends the run.
 * T4  Its money is reserved before and settled at its end. A provider that failed or refused it took nothing.
 * T5  Where a message of a chat led to it, its end is sent there by the outbox of channels. What becomes of that is no matter of the task.
 */
import { type Actor, type Actors, type Clock, type Ids, isSvcError, type Journal, type LeasedRun, type OptionalHandle, type Row, type SvcError, type Write } from '@svc/api';
import type { ChannelsService } from '@svc/ext-channels/contract';
import { MediaSection } from './config.js';
import { MediaChanged, MediaTask, TaskRows, type TaskRow } from './contract.js';
import type { Target, VideoState } from './drivers/driver.js';
import { wasRefused } from './drivers/wire.js';
import { mediaErrors } from './errors.js';
import { choose, type Chosen } from './making/choosing.js';
import { type StoredFile, storeFile } from './making/files.js';
import { needed, type Receipt, type StudioDeps } from './making/studio.js';
import { reserve, usd, type Who } from './making/spending.js';
import { providerName } from './offers.js';

export interface TaskDeps extends StudioDeps {
  readonly actors: Actors;
  readonly clock: Pick<Clock, 'iso' | 'now' | 'sleep'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly journal: Journal;
  readonly channels: OptionalHandle<ChannelsService>;
  readonly closing: AbortSignal;
}

export interface VideoRequest {
  readonly prompt: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly duration_secs?: number | undefined;
  readonly resolution?: string | undefined;
  readonly image_url?: string | undefined;
  readonly optimize_prompt?: boolean | undefined;
}

export interface Begun {
  readonly task_id: string;
  readonly provider: string;
}

const DEFAULT_SECS = 6;
const MAX_POLL_MS = 30_000;
const SLOWER_BY = 1.3;
const REQUEST_MS = 60_000;
const NO_VIDEO = 'Sorry, the video could not be made.';
/** Before the row says whether the provider took it. */
const LOOK_AGAIN_MS = 100;

export interface Tasks {
  /** Resolves when the provider took it. Throws what the provider refused it with. */
  begin(who: Who, request: VideoRequest, receipt?: Receipt<Begun>): Promise<Begun>;
  /** Throws `media_task_not_found`. */
  get(actor: Actor, id: string, provider: string | undefined): Promise<TaskRow>;
  costOf(row: TaskRow): number;
  drive(run: LeasedRun): Promise<void>;
}

export const createTasks = (deps: TaskDeps, worker: () => { take(run: LeasedRun): Promise<void>; poke(): void }): Tasks => {
  /** Errors of tasks that somebody waits for. Each is taken by the request that waits. */
  const refused = new Map<string, SvcError>();
  return {
    begin: async (who, request, receipt) => {
      const row = await open(deps, worker(), who, request);
      try {
        return await begun(deps, refused, who, row, receipt);
      } finally {
        refused.delete(row.id);
      }
    },
    get: async (actor, id, provider) => {
      const row = await deps.db.as(actor).first<TaskRow>({ from: TaskRows.name, where: { id: id.toLowerCase() } });
      if (!row || (provider !== undefined && row.provider !== providerName(provider))) throw mediaErrors.task_not_found(id);
      return row;
    },
    costOf: (row) => usd({ reservation: '', quantity: row.seconds, priceMicros: row.state === 'failed' ? 0 : row.price_micros }, row.seconds),
    drive: (run) => drive(deps, refused, run),
  };
};

const open = async (deps: TaskDeps, worker: { take(run: LeasedRun): Promise<void>; poke(): void }, who: Who, request: VideoRequest): Promise<TaskRow> => {
  const prompt = request.prompt.trim();
  if (prompt === '') throw mediaErrors.invalid('`prompt` is empty');
  const chosen = await choose(deps, 'video', request);
  const seconds = request.duration_secs ?? DEFAULT_SECS;
  const { video_timeout_secs: limitSecs } = deps.config.get(MediaSection);
  const id = deps.ids.uuid();
  const money = await reserve(deps, { ...who, runId: who.agentId === '' ? id : who.runId }, { ...chosen, kind: 'video', resolution: request.resolution }, seconds, limitSecs * 1_000 + REQUEST_MS);
  const row: TaskRow = {
    id,
    owner_id: who.actor.ownerId,
    agent_id: who.agentId === '' ? null : who.agentId,
    provider: chosen.provider,
    model: chosen.model,
    prompt,
    image_url: request.image_url ?? null,
    resolution: request.resolution ?? null,
    seconds,
    state: 'processing',
    upstream_id: null,
    reservation: money.reservation,
    price_micros: money.priceMicros,
    polls: 0,
    file_id: null,
    width: null,
    height: null,
    error: null,
    created_at: deps.clock.iso(),
    ended_at: null,
  };
  const parent = who.agentId === '' ? {} : { parentId: who.runId };
  const { leased } = await deps.journal.open({ id, kind: MediaTask.name, actor: who.actor, input: { taskId: id, optimizePrompt: request.optimize_prompt }, ...parent }, [
    deps.db.insert(TaskRows.name, [row]),
  ]);
  if (leased) void worker.take(leased);
  else worker.poke();
  return row;
};

const begun = async (deps: TaskDeps, refused: Map<string, SvcError>, { actor }: Who, { id, provider }: TaskRow, receipt: Receipt<Begun> | undefined): Promise<Begun> => {
  for (;;) {
    const row = await deps.db.as(actor).first<TaskRow>({ from: TaskRows.name, where: { id } });
    if (!row) throw mediaErrors.task_not_found(id);
    if (row.upstream_id !== null) break;
    if (row.state === 'failed') throw refused.get(id) ?? mediaErrors.upstream_failed(provider, row.error ?? 'it failed');
    await deps.clock.sleep(LOOK_AGAIN_MS, deps.closing);
  }
  const answer = { task_id: id, provider };
  const writes = receipt?.(answer) ?? [];
  if (writes.length > 0) await deps.db.commit(writes);
  return answer;
};

async function drive(deps: TaskDeps, refused: Map<string, SvcError>, run: LeasedRun): Promise<void> {
  const row = await deps.db.system('a video on its way').first<TaskRow>({ from: TaskRows.name, where: { id: run.id } });
  if (!row) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  if (row.state !== 'processing') return deps.journal.advance(run, { finish: { status: row.state === 'completed' ? 'done' : 'failed' } });
  try {
    const chosen = await choose(deps, 'video', row);
    const target: Target = { provider: chosen.provider, model: row.model, baseUrl: chosen.baseUrl, secret: chosen.secret, timeoutMs: REQUEST_MS, signal: run.signal };
    if (row.upstream_id === null) return await submit(deps, refused, run, row, chosen, target);
    return await look(deps, run, row, chosen, target);
  } catch (error) {
    if (deps.closing.aborted || run.signal.aborted || !isSvcError(error) || error.code.startsWith('journal_')) throw error;
    // What cannot be asked now is asked again until its time is over.
    if (row.upstream_id !== null && !isFinal(error)) return rest(deps, run, row);
    refused.set(row.id, error);
    return fail(deps, run, row, error);
  }
}

/** The video is lost, however often its state is asked for. */
const isFinal = ({ cause, code, status }: SvcError): boolean =>
  (isSvcError(cause) && cause.code === 'fetch_refused_address') ||
  code === 'media_rejected' ||
  code === 'media_content_refused' ||
  code === 'media_unknown_provider' ||
  code.startsWith('upload_') ||
  status === 413;

const submit = async (deps: TaskDeps, refused: Map<string, SvcError>, run: LeasedRun, row: TaskRow, { driver }: Chosen, target: Target): Promise<void> => {
  if (run.steps.length > 0) {
    const unknown = mediaErrors.outcome_unknown(row.provider);
    refused.set(row.id, unknown);
    return fail(deps, run, row, unknown);
  }
  await deps.journal.advance(run, { intents: [{ seq: 1, kind: 'submit', key: run.id, replay: 'never', intent: { provider: row.provider } }] });
  const { optimizePrompt } = run.input as { optimizePrompt?: boolean };
  const upstreamId = await needed(driver.beginVideo)(deps.wire, target, {
    prompt: row.prompt,
    seconds: row.seconds,
    resolution: row.resolution ?? undefined,
    imageUrl: row.image_url ?? undefined,
    optimizePrompt,
  });
  await rest(deps, run, row, { upstream_id: upstreamId });
};

const look = async (deps: TaskDeps, run: LeasedRun, row: TaskRow, { driver }: Chosen, target: Target): Promise<void> => {
  const found = await needed(driver.videoState)(deps.wire, target, row.upstream_id ?? '');
  if (found.state === 'processing') return rest(deps, run, row);
  if (found.state === 'failed') return fail(deps, run, row, mediaErrors.rejected(row.provider, found.error));
  return keep(deps, run, row, target, found);
};

const keep = async (deps: TaskDeps, run: LeasedRun, row: TaskRow, target: Target, found: Extract<VideoState, { state: 'completed' }>): Promise<void> => {
  const actor = deps.actors.of(row.owner_id);
  const file = await deps.wire.download(target, found.url);
  const stored = await storeFile(deps.uploads, { actor, agentId: row.agent_id ?? '', runId: row.id }, row.provider, { kind: 'video', prompt: row.prompt }, { data: file.data, type: 'video/mp4' });
  await sendLate(deps, run, stored.name, stored);
  await end(deps, run, row, { state: 'completed', file_id: stored.id, width: found.width, height: found.height }, row.seconds);
};

/** Before the task ends, so that no crash comes between; the same again is the same message. */
const sendLate = async ({ channels, log }: TaskDeps, run: LeasedRun, message: string, file?: StoredFile): Promise<void> => {
  if (run.rootId === run.id) return;
  const late = { rootId: run.rootId, about: run.id, message, ...(file ? { file: { id: file.id, name: file.name, mediaType: file.mediaType } } : {}) };
  await channels.value?.deliverLate(late).catch((cause: unknown) => log.warn('A video could not be sent to the chat that asked for it; it is in the gallery.', { task: run.id, cause }));
};

/** Holds nothing until the provider is asked again, or the task has taken too long. */
const rest = async (deps: TaskDeps, run: LeasedRun, row: TaskRow, to: Row = {}): Promise<void> => {
  const { video_poll_secs: first, video_timeout_secs: limitSecs } = deps.config.get(MediaSection);
  if (deps.clock.now() - Date.parse(row.created_at) > limitSecs * 1_000) return fail(deps, run, row, mediaErrors.too_slow(row.provider, limitSecs), row.seconds);
  const inMs = Math.max(50, Math.min(first * 1_000 * SLOWER_BY ** row.polls, Math.max(MAX_POLL_MS, first * 1_000)));
  const also = [deps.db.update(TaskRows.name, ['id'], [{ id: row.id, polls: row.polls + 1, ...to }])];
  const outcomes = to.upstream_id === undefined ? {} : { outcomes: [{ seq: 1, status: 'done' as const, outcome: {} }] };
  await deps.journal.wait(run, { reason: 'the provider makes the video', wakeKey: `media:${row.id}`, until: new Date(deps.clock.now() + inMs).toISOString() }, { ...outcomes, also });
};

/** Who refused it took nothing; of what nobody knows the end, all counts. */
const fail = async (deps: TaskDeps, run: LeasedRun, row: TaskRow, error: SvcError, used = wasRefused(error) || row.upstream_id !== null ? 0 : row.seconds): Promise<void> => {
  // Before the provider took it, whoever asked is still there and gets the error.
  if (row.upstream_id !== null) await sendLate(deps, run, NO_VIDEO);
  await end(deps, run, row, { state: 'failed', error: error.message.slice(0, 500) }, used);
};

const end = async (deps: TaskDeps, run: LeasedRun, row: TaskRow, to: { readonly state: 'completed' | 'failed' } & Row, used: number): Promise<void> => {
  const settled: Write[] = [...(await deps.llm.settleUnits(row.reservation, used))];
  await deps.journal.advance(run, {
    finish: to.state === 'completed' ? { status: 'done' } : { status: 'failed', error: { code: 'media_upstream_failed', message: String(to.error) } },
    also: [
      deps.db.update(TaskRows.name, ['id'], [{ id: row.id, ...to, ended_at: deps.clock.iso() }]),
      deps.events.event(MediaChanged, { id: row.id, ownerId: row.owner_id, change: to.state }),
      ...settled,
    ],
  });
};
