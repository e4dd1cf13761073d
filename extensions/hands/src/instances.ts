/**
 * Active hands.
 *
 * I1  An instance is a row, and belongs to one person. It is as it was after a restart: paused stays paused.
 * I2  A person has one instance of a hand, unless the request names an `instance_id`.
 * I3  Activation is whole: where one agent cannot be created, none is left. What a death of the daemon left half done is taken back.
 * I4  Pausing stops the loop of every role. Its agents stay, and answer people.
 * I5  A loop is a job of the area schedules: where that is off, nothing comes by itself, and the job is created once it is on.
 */
import { type Actor, type Actors, type Clock, type Db, type Events, type Ids, isSvcError, type Logger, type OptionalHandle, type Write } from '@svc/api';
import type { AgentsService, TemplatesService } from '@svc/ext-agents/contract';
import type { SchedulesService } from '@svc/ext-schedules/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import type { Definition, Definitions } from './definitions.js';
import { handErrors } from './errors.js';
import { type Grants, manifestOf, type Place, remarksOf, type RoleAgent, roleAgents } from './role-agents.js';
import { changedValues, effectiveValues, type Given, type Values } from './settings.js';
import { HandsChanged, type InstanceRow, type InstanceState, type SettingRow } from './tables.js';

export interface InstanceDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Pick<Actors, 'of'>;
  readonly definitions: Pick<Definitions, 'get' | 'find'>;
  readonly agents: Pick<AgentsService, 'spawn' | 'kill' | 'briefs' | 'find'>;
  readonly schedules: OptionalHandle<SchedulesService>;
  readonly templates: OptionalHandle<TemplatesService>;
  readonly tools: OptionalHandle<ToolsService>;
}

export interface Instance {
  readonly id: string;
  readonly ownerId: string;
  readonly handId: string;
  readonly handName: string;
  readonly handIcon: string;
  readonly slot: string;
  readonly state: InstanceState;
  readonly config: Values;
  readonly roles: readonly RoleAgent[];
  readonly activatedAt: string;
  readonly updatedAt: string;
  /** Names of agents of it that somebody deleted. */
  readonly missing: readonly string[];
}

export interface ActivateRequest {
  readonly config: Given;
  readonly instanceId?: string | undefined;
  readonly grants: Grants;
  /** The agent that activates it: its agents have at most what that one has. */
  readonly parentId?: string | undefined;
  /** Committed with it. */
  also?(made: Activated): readonly Write[];
}

export interface Activated {
  readonly instance: Instance;
  readonly remarks: readonly string[];
}

export interface Instances {
  list(actor: Actor, handId?: string): Promise<Instance[]>;
  /** Throws `hands_instance_not_found`. */
  get(actor: Actor, id: string): Promise<Instance>;
  /** Of all people. */
  countOf(handId: string): Promise<number>;
  activate(actor: Actor, handId: string, request: ActivateRequest): Promise<Activated>;
  setPaused(actor: Actor, id: string, isPaused: boolean): Promise<Instance>;
  deactivate(actor: Actor, id: string): Promise<void>;
  settings(actor: Actor, handId: string): Promise<Values>;
  /** Throws what `changedValues` throws. */
  setSettings(actor: Actor, handId: string, given: Given): Promise<Values>;
  /** Takes back what was left half done, and gives each instance the loops that it should have. */
  repair(): Promise<void>;
}

const MAX_LISTED = 1_000;
/** After this an activation has not ended: its daemon died. */
const HALF_DONE_MS = 120_000;

const jsonOf = <T>(value: unknown): T => (typeof value === 'string' ? (JSON.parse(value) as T) : (value as T));

const instanceOf = (row: InstanceRow): Omit<Instance, 'missing'> => ({
  id: row.id,
  ownerId: row.owner_id,
  handId: row.hand_id,
  handName: row.hand_name,
  handIcon: row.hand_icon,
  slot: row.slot,
  state: row.state as InstanceState,
  config: jsonOf<Values>(row.config),
  roles: jsonOf<readonly RoleAgent[]>(row.roles),
  activatedAt: row.activated_at,
  updatedAt: row.updated_at,
});

export const createInstances = (deps: InstanceDeps): Instances => {
  const get = async (actor: Actor, id: string): Promise<Instance> => {
    const row = await deps.db.as(actor).first<InstanceRow>({ from: 'instances', where: { id: id.toLowerCase(), state: ['running', 'paused'] } });
    const [found] = row ? await withMissing(deps, actor, [row]) : [];
    if (!found) throw handErrors.instance_not_found(id);
    return found;
  };
  const settings = async (actor: Actor, handId: string): Promise<Values> => {
    const row = await deps.db.as(actor).first<SettingRow>({ from: 'settings', where: { owner_id: actor.ownerId, hand_id: handId } });
    return row ? jsonOf<Values>(row.values) : {};
  };
  return {
    get,
    settings,
    list: async (actor, handId) => {
      const where = { state: ['running', 'paused'], ...(handId === undefined ? {} : { hand_id: handId }) };
      return withMissing(
        deps,
        actor,
        await deps.db.as(actor).select<InstanceRow>({ from: 'instances', where, order: [{ column: 'activated_at', descending: true }, { column: 'id' }], limit: MAX_LISTED }),
      );
    },
    countOf: (handId) => deps.db.system('instances of a hand').count('instances', { hand_id: handId }),
    activate: async (actor, handId, request) => activate(deps, actor, await deps.definitions.get(handId), request, await settings(actor, handId)),
    setPaused: async (actor, id, isPaused) => {
      await setPaused(deps, actor, await get(actor, id), isPaused);
      return get(actor, id);
    },
    deactivate: async (actor, id) => {
      const instance = await get(actor, id);
      await killAll(deps, actor, instance.roles);
      await deps.db.commit([deps.db.remove('instances', { id: instance.id }, { expect: 'any' }), changed(deps, instance, 'deactivated')]);
    },
    setSettings: async (actor, handId, given) => {
      const { hand } = await deps.definitions.get(handId);
      const values = changedValues(hand, await settings(actor, handId), given);
      const row = { owner_id: actor.ownerId, hand_id: handId, values: JSON.stringify(values), updated_at: deps.clock.iso() };
      await deps.db.commit([deps.db.upsert('settings', ['owner_id', 'hand_id'], [row]), deps.events.event(HandsChanged, { ownerId: actor.ownerId, id: handId, change: 'settings' })]);
      return values;
    },
    repair: () => repair(deps),
  };
};

const changed = ({ events }: InstanceDeps, { id, ownerId }: Pick<Instance, 'id' | 'ownerId'>, change: 'activated' | 'paused' | 'resumed' | 'deactivated') =>
  events.event(HandsChanged, { ownerId, id, change });

const withMissing = async ({ agents }: InstanceDeps, actor: Actor, rows: readonly InstanceRow[]): Promise<Instance[]> => {
  const all = rows.map(instanceOf);
  const there = await agents.briefs(
    actor,
    all.flatMap(({ roles }) => roles.map(({ agentId }) => agentId)),
  );
  return all.map((one) => ({ ...one, missing: one.roles.filter(({ agentId }) => there[agentId] === undefined).map(({ agentName }) => agentName) }));
};

const activate = async (deps: InstanceDeps, actor: Actor, definition: Definition, { also, config: given, instanceId, grants, parentId }: ActivateRequest, stored: Values): Promise<Activated> => {
  const { hand } = definition;
  const config = effectiveValues(hand, changedValues(hand, stored, given));
  const id = instanceId?.toLowerCase() ?? deps.ids.uuid();
  const place: Place = { ownerId: actor.ownerId, instanceId: id, slot: instanceId === undefined ? '' : id };
  const roles = roleAgents(definition, place);
  const now = deps.clock.iso();
  const row: InstanceRow = {
    id,
    owner_id: actor.ownerId,
    hand_id: hand.id,
    hand_name: hand.name,
    hand_icon: hand.icon,
    slot: place.slot,
    state: 'starting',
    config: JSON.stringify(config),
    roles: JSON.stringify(roles),
    held_jobs: '[]',
    is_synced: 0,
    activated_at: now,
    updated_at: now,
  };
  await deps.db.commit([deps.db.insert('instances', [row])]).catch((error: unknown) => {
    throw isSvcError(error) && error.code === 'storage_conflict' ? handErrors.already_active(hand.id) : error;
  });
  try {
    for (const role of hand.roles) {
      const base = await baseOf(deps, role.role, role.base);
      const own = roles.find((one) => one.role === role.role);
      await deps.agents.spawn(actor, {
        manifest: manifestOf(role, roles, { definition, config, grants, place, base }),
        ...(own === undefined ? {} : { id: own.agentId }),
        ...(parentId === undefined ? {} : { parentId }),
      });
    }
  } catch (error) {
    await takeBack(deps, actor, row);
    throw error;
  }
  const running = { ...row, state: 'running', updated_at: deps.clock.iso() };
  const tools = await deps.tools.value?.all();
  const remarks = remarksOf(hand, { tools: tools && new Set(tools.map(({ name }) => name)), hasSchedules: deps.schedules.value !== undefined });
  const made = { instance: { ...instanceOf(running), missing: [] }, remarks };
  await deps.db.commit([
    deps.db.update('instances', ['id'], [{ id, state: 'running', updated_at: running.updated_at }], { expect: 'each' }),
    changed(deps, { id, ownerId: actor.ownerId }, 'activated'),
    ...(also?.(made) ?? []),
  ]);
  await sync(deps, actor, running);
  return made;
};

const baseOf = async ({ templates }: InstanceDeps, role: string, name: string | undefined): Promise<Readonly<Record<string, unknown>>> => {
  if (name === undefined) return {};
  const found = await templates.value?.find(name);
  if (!found) throw handErrors.no_base(role, name);
  const { default: toml } = await import('@iarna/toml');
  return toml.parse(found.manifestToml);
};

/** Agents that this row has spawned go, and the row with them. */
const takeBack = async (deps: InstanceDeps, actor: Actor, row: InstanceRow): Promise<void> => {
  await killAll(deps, actor, jsonOf<readonly RoleAgent[]>(row.roles));
  await deps.db.commit([deps.db.remove('instances', { id: row.id, state: 'starting' }, { expect: 'any' })]);
};

const killAll = async ({ agents }: InstanceDeps, actor: Actor, roles: readonly RoleAgent[]): Promise<void> => {
  for (const { agentId } of roles)
    await agents.kill(actor, agentId).catch((error: unknown) => {
      if (!(isSvcError(error) && error.status === 404)) throw error;
    });
};

/** The row first: should the daemon die in between, `repair` brings the jobs in line with it. */
const setPaused = async (deps: InstanceDeps, actor: Actor, instance: Instance, isPaused: boolean): Promise<void> => {
  const state = isPaused ? 'paused' : 'running';
  if (instance.state !== state) {
    const set = { id: instance.id, state, is_synced: 0, updated_at: deps.clock.iso() };
    await deps.db.commit([deps.db.update('instances', ['id'], [set], { expect: 'each' }), changed(deps, instance, isPaused ? 'paused' : 'resumed')]).catch((error: unknown) => {
      throw isSvcError(error) && error.code === 'storage_conflict' ? handErrors.busy(instance.id) : error;
    });
  }
  const row = await deps.db.as(actor).first<InstanceRow>({ from: 'instances', where: { id: instance.id } });
  if (row && row.is_synced === 0) await sync(deps, actor, row);
};

/** Brings the jobs of its agents in line with a row; while schedules is off, later. */
const sync = async (deps: InstanceDeps, actor: Actor, row: InstanceRow): Promise<void> => {
  const service = deps.schedules.value;
  if (!service) return;
  const roles = jsonOf<readonly RoleAgent[]>(row.roles);
  const held = jsonOf<readonly string[]>(row.held_jobs);
  const next = row.state === 'paused' ? { roles, held: await holdJobs(deps, service, actor, row.id, roles, held) } : { roles: await giveLoops(deps, service, actor, roles, held), held: [] };
  const set = { id: row.id, state: row.state, roles: JSON.stringify(next.roles), held_jobs: JSON.stringify(next.held), is_synced: 1 };
  // Somebody paused or resumed it meanwhile: that call, or the next repair, does its own.
  await deps.db.commit([deps.db.update('instances', ['id', 'state'], [set])]);
};

/** Which jobs are to come back is stored before the first one is disabled. */
const holdJobs = async (deps: InstanceDeps, service: SchedulesService, actor: Actor, id: string, roles: readonly RoleAgent[], held: readonly string[]): Promise<string[]> => {
  const enabled = (await Promise.all(roles.map(({ agentId }) => service.of(actor, agentId)))).flat().filter((job) => job.enabled);
  const all = [...new Set([...held, ...enabled.map((job) => job.id)])];
  await deps.db.commit([deps.db.update('instances', ['id'], [{ id, held_jobs: JSON.stringify(all) }])]);
  for (const job of enabled) await service.setEnabled(actor, job.id, false);
  return all;
};

const giveLoops = async ({ agents }: InstanceDeps, service: SchedulesService, actor: Actor, roles: readonly RoleAgent[], held: readonly string[]): Promise<RoleAgent[]> => {
  const given: RoleAgent[] = [];
  for (const one of roles) {
    const { agentId, agentName, loop, jobId } = one;
    if (!(await agents.find(actor, agentId))) {
      given.push(one);
      continue;
    }
    const jobs = await service.of(actor, agentId);
    for (const job of jobs) if (!job.enabled && held.includes(job.id)) await service.setEnabled(actor, job.id, true);
    const own = jobId ?? jobs.find(({ name }) => name === agentName)?.id;
    const made = own ?? (loop === null ? undefined : (await service.create(actor, { agentId, name: agentName, schedule: loop.schedule, message: loop.message })).id);
    given.push(made === undefined ? one : { ...one, jobId: made });
  }
  return given;
};

const repair = async (deps: InstanceDeps): Promise<void> => {
  const rows = await deps.db.system('active hands').select<InstanceRow>({ from: 'instances', where: { is_synced: 0 }, limit: 10_000 });
  for (const row of rows) {
    const actor = deps.actors.of(row.owner_id);
    try {
      if (row.state !== 'starting') await sync(deps, actor, row);
      else if (deps.clock.now() - Date.parse(row.updated_at) > HALF_DONE_MS) await takeBack(deps, actor, row);
    } catch (error) {
      deps.log.warn('an active hand could not be brought in line with its row', { instance: row.id, hand: row.hand_id, cause: error });
    }
  }
};
