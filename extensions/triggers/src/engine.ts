/**
 * From an event to fires.
 *
 * R1  An event that is stored until it is taken makes its fires once, also after a crash: the fire and its work are one commit, with the event as key.
 * R2  A trigger gets events of its owner alone. Owners also get those of the daemon.
 * R3  The cooldown is counted for each subject alone, in the database: of two daemons one fires.
 * R4  What does not fire leaves a row that says why: cooldown, limit, depth.
 * R5  What follows from a fire has one root with what caused it, so that triggers that wake each other end.
 */
import { type Actors, type Clock, type Db, type Events, type Ids, isSvcError, type Journal, type Logger, type Write } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { TriggersConfig } from './config.js';
import { type FireRow, type Trigger, TriggerFire, TriggerFired, Triggers } from './contract.js';
import type { Fires } from './fires.js';
import { createListening, type Happening, type Source } from './happenings.js';
import { matches } from './matching.js';
import { isPerSubject, kindsOf } from './pattern.js';
import { render } from './values.js';

export interface EngineDeps {
  readonly db: Db;
  readonly events: Events;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'task' | 'get'>;
  readonly sources: readonly Source[];
  readonly fires: Fires;
  settings(): TriggersConfig;
  /** Triggers that are enabled. */
  read(): Promise<readonly Trigger[]>;
}

export interface Engine {
  /** Reads which triggers there are. */
  reload(): Promise<void>;
  /** Resolves when the fires of this event are stored. `also`: a trigger that may be newer than what was read. */
  receive(happening: Happening, also?: Trigger): Promise<void>;
  /** Leaves a row that says why it did not fire. */
  skip(trigger: Trigger, happening: Happening, reason: string): Promise<void>;
}

const MAX_WORDS = 500;
/** Owner of the daemon, who also gets what belongs to nobody. */
const OWNER = 'owner';

export const createEngine = (deps: EngineDeps): Engine => {
  let triggers: readonly Trigger[] = [];
  let reading: Promise<void> | undefined;
  let isRead = false;
  const receive = async (happening: Happening, also?: Trigger): Promise<void> => {
    // A stored event may come before the daemon is ready, and is not given again once it is taken.
    await (reading ?? (isRead ? undefined : reload()));
    const others = triggers.filter(({ owner_id, id }) => owner_id === (happening.ownerId ?? OWNER) && id !== also?.id);
    const known = also === undefined ? others : [also, ...others];
    const possible = known.filter(({ pattern }) => kindsOf(pattern)?.includes(happening.kind) !== false);
    if (possible.length > 0) await fireAll(deps, possible, await described(deps, happening));
  };
  const listening = createListening(deps.events, deps.sources, (happening) => receive(happening));
  const read = async (): Promise<void> => {
    triggers = [...(await deps.read())].sort((one, other) => (one.id < other.id ? -1 : 1));
    isRead = true;
  };
  const reload = async (): Promise<void> => {
    const mine = (reading ?? Promise.resolve()).catch(() => undefined).then(read);
    reading = mine;
    await mine.finally(() => {
      if (reading !== mine) return;
      reading = undefined;
      const asked = triggers.map(({ pattern }) => kindsOf(pattern));
      listening.only(({ kinds }) => asked.some((wanted) => wanted === undefined || wanted.some((kind) => kinds.includes(kind))));
    });
  };
  deps.events.on(Triggers.changed, () => {
    // Until it is known what is asked for, nothing is missed.
    listening.only(() => true);
    reload().catch((cause: unknown) => deps.log.error('Triggers could not be read; svc tries again within a minute.', { cause }));
  });
  return { reload, receive, skip: async (trigger, happening, reason) => skip(deps, rowOf(deps, trigger, happening, FIRST), reason) };
};

/** The words of a message, read only where a trigger waits for them. */
const described = async ({ runs, actors }: EngineDeps, happening: Happening): Promise<Happening> => {
  const { kind, runId, ownerId, text } = happening;
  if (!runId || ownerId === null || (kind !== 'message_received' && kind !== 'message_completed')) return happening;
  const actor = actors.of(ownerId);
  const said = kind === 'message_received' ? (await runs.task(actor, runId))?.words : (await runs.get(actor, runId).catch(() => undefined))?.result?.response;
  return said
    ? {
        ...happening,
        text: `${text} ${kind === 'message_received' ? 'user' : 'assistant'}: ${said.slice(0, MAX_WORDS)}`,
        origin: { labels: ['UntrustedAgent'], source: 'a message of another conversation' },
      }
    : happening;
};

const fireAll = async (deps: EngineDeps, possible: readonly Trigger[], happening: Happening): Promise<void> => {
  const agentId = async (ownerId: string, name: string): Promise<string | undefined> => (await deps.agents.find(deps.actors.of(ownerId), name))?.id;
  const { max_per_event: most, max_depth: deepest } = deps.settings();
  let fired = 0;
  let place: Place | undefined;
  for (const trigger of possible) {
    if (!(await matches({ agentId }, trigger, happening))) continue;
    place ??= await placeOf(deps, happening);
    const row = rowOf(deps, trigger, happening, place);
    if (place.depth > deepest) await skip(deps, row, `depth: ${deepest} triggers followed from each other already ([triggers] max_depth)`);
    else if (fired >= most) await skip(deps, row, `limit: ${most} triggers fired for this event already ([triggers] max_per_event)`);
    else if (await fire(deps, trigger, happening, row, place)) fired += 1;
  }
};

interface Place {
  readonly depth: number;
  readonly rootId: string | null;
  readonly parentId: string | undefined;
}

const FIRST: Place = { depth: 1, rootId: null, parentId: undefined };

/** Below the run that caused the event. The depth is one more than that of the fire that led to it. */
const placeOf = async ({ db, journal }: EngineDeps, { runId }: Happening): Promise<Place> => {
  const root = runId ? await journal.root(runId) : undefined;
  if (!runId || !root) return FIRST;
  const reader = db.system('depth of triggers');
  const cause = await reader.first<Pick<FireRow, 'depth'>>({ from: 'fires', columns: ['depth'], where: { run_id: runId } });
  if (cause) return { depth: cause.depth + 1, rootId: root.id, parentId: runId };
  // An agent that the asked one asked, say.
  const deepest = await reader.first<Pick<FireRow, 'depth'>>({ from: 'fires', columns: ['depth'], where: { root_id: root.id }, order: [{ column: 'depth', descending: true }] });
  return { depth: runId === root.id ? 1 : (deepest?.depth ?? 0) + 1, rootId: root.id, parentId: runId };
};

const rowOf = ({ ids, clock }: EngineDeps, trigger: Trigger, { kind, key, text, origin, lookup }: Happening, { depth, rootId }: Place): FireRow => ({
  id: ids.uuid(),
  owner_id: trigger.owner_id,
  trigger_id: trigger.id,
  agent_id: trigger.agent_id,
  event: kind,
  event_key: key,
  text,
  prompt: lookup === undefined ? null : render(trigger.prompt_template, lookup),
  origin: origin === undefined ? null : JSON.stringify(origin),
  status: 'running',
  reason: null,
  depth,
  root_id: rootId,
  run_id: null,
  fired_at: clock.iso(),
  ended_at: null,
});

/** Once for each event, whoever hears of it again. */
const skip = async ({ db, clock }: EngineDeps, row: FireRow, reason: string): Promise<void> => {
  const skipped = { ...row, status: 'skipped', reason, ended_at: clock.iso() };
  await db.commit([db.insert('fires', [skipped])]).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
};

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';

/** True when it fired. */
const fire = async (deps: EngineDeps, trigger: Trigger, happening: Happening, row: FireRow, place: Place): Promise<boolean> => {
  const { journal, db, events, actors } = deps;
  try {
    const { leased, run, replayed } = await journal.open(
      {
        kind: TriggerFire.name,
        actor: actors.of(trigger.owner_id),
        key: `${trigger.id}:${happening.key}`,
        lane: await laneOf(deps, trigger, row),
        subject: trigger.target_agent_id ?? trigger.agent_id,
        ...(place.parentId === undefined ? {} : { parentId: place.parentId }),
        cause: { kind: 'trigger', id: trigger.id },
        input: { fireId: row.id, triggerId: trigger.id },
      },
      [
        ...claims(deps, trigger, happening, row),
        db.insert('fires', [row]),
        events.event(TriggerFired, { ownerId: trigger.owner_id, triggerId: trigger.id, fireId: row.id, agentId: trigger.agent_id, event: happening.kind }),
      ],
    );
    if (replayed) return false;
    if (place.rootId === null) await db.commit([db.update('fires', ['id'], [{ id: row.id, root_id: run.rootId }])]);
    deps.fires.begin(leased);
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    const why = await whyNot(deps, trigger);
    if (why !== undefined) await skip(deps, row, why);
    return false;
  }
};

/** Places for fires of one agent: one, unless its manifest says more. */
const laneOf = async ({ agents, actors }: EngineDeps, trigger: Trigger, { id }: FireRow): Promise<string> => {
  const target = trigger.target_agent_id ?? trigger.agent_id;
  if (trigger.workflow_id !== null) return `trigger-fire:${id}`;
  const places = (await agents.find(actors.of(trigger.owner_id), target))?.manifest.max_concurrent_invocations ?? 1;
  return `trigger:${target}:${Number.parseInt(id.slice(-6), 16) % places}`;
};

/** Of two daemons that fire at the same time, one changes these rows. */
const claims = ({ db, clock, events, settings }: EngineDeps, trigger: Trigger, { subject }: Happening, row: FireRow): Write[] => {
  const secs = trigger.cooldown_secs ?? settings().cooldown_secs;
  const cooled = new Date(clock.now() - secs * 1_000).toISOString();
  const counters = db.table('counters');
  const cooldowns = db.table('cooldowns');
  const most = trigger.max_fires === 0 ? Number.MAX_SAFE_INTEGER : trigger.max_fires;
  const cooldownId = `${trigger.id}:${isPerSubject(trigger.pattern) ? subject.slice(0, MAX_WORDS) : ''}`;
  return [
    db.sql(`UPDATE ${counters} SET fire_count = fire_count + 1, last_fired_at = ? WHERE trigger_id = ? AND fire_count < ?`, [row.fired_at, trigger.id, most], { expect: 1 }),
    ...(secs === 0
      ? []
      : [
          db.sql(
            `INSERT INTO ${cooldowns}(id, trigger_id, owner_id, agent_id, fired_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET fired_at = excluded.fired_at WHERE ${cooldowns}.fired_at <= ?`,
            [cooldownId, trigger.id, trigger.owner_id, trigger.agent_id, row.fired_at, cooled],
            { expect: 1 },
          ),
        ]),
    ...(trigger.max_fires === 0
      ? []
      : [
          db.sql(`UPDATE ${db.table('triggers')} SET enabled = 0, revision = revision + 1 WHERE id = ? AND max_fires > 0 AND max_fires <= (SELECT fire_count FROM ${counters} WHERE trigger_id = ?)`, [
            trigger.id,
            trigger.id,
          ]),
          events.event(Triggers.changed, { id: trigger.id, ownerId: trigger.owner_id, change: 'updated' }),
        ]),
  ];
};

/** Undefined where it is gone, or its last fire disabled it. */
const whyNot = async ({ db, settings }: EngineDeps, trigger: Trigger): Promise<string | undefined> => {
  const row = await db.system('a trigger that did not fire').first<{ readonly fire_count: number }>({ from: 'counters', where: { trigger_id: trigger.id } });
  if (!row) return undefined;
  if (trigger.max_fires > 0 && row.fire_count >= trigger.max_fires) return `disabled: it fired ${row.fire_count} times (max_fires)`;
  return `cooldown: it fired less than ${trigger.cooldown_secs ?? settings().cooldown_secs} s ago for the same subject`;
};
