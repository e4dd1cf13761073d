/**
 * The hooks that run for messages.
 *
 * E1  Only what `[context_engine]` names is loaded, as it stood at the start. The files of a plugin, and whether it is enabled, count at once.
 * E2  A hook that fails leaves a trace and a warning, and the message is answered; with `on_hook_failure = "abort"` the run is stopped.
 * E3  `ingest` runs once for a message. What it says stands before the question as text from outside, under the name of its plugin.
 * E4  `after_turn` runs behind the answer, one call after the other for each plugin. Of a full queue the newest is dropped, with a trace.
 */
import { type Actor, type Clock, isSvcError, type Logger, type Origin } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { RE2JS } from 're2js';
import type { HookName } from '../manifest/manifest.js';
import { HOOKS, manifestOf, SERVED_HOOKS } from '../manifest/manifest.js';
import { signatureFault } from '../manifest/signing.js';
import { type Plugin, type PluginFolders, scriptFault } from '../plugin-folder.js';
import type { ContextEngine } from '../config.js';
import type { Breaker } from './breaker.js';
import { type Effect, effectOf } from './effect.js';
import { callHook, failed, type Fault, type HookProcessDeps, type Outcome } from './hook-process.js';
import { type HookHome, homeOf, type StartDeps, startOf, type Walls } from './start.js';
import type { Traces } from './traces.js';

/** The name of hooks that config.toml names itself. */
export const DIRECT = 'context_engine.hooks';
const LONGEST_MS = 30_000;

export interface EngineDeps extends StartDeps, HookProcessDeps {
  readonly settings: ContextEngine;
  readonly folders: PluginFolders;
  readonly traces: Traces;
  readonly breaker: Breaker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly version: string;
  /** What somebody agreed to, for a plugin that came from elsewhere; undefined for one that a person wrote here. */
  granted(name: string): Promise<readonly string[] | undefined>;
  /** Answers how many it stopped. */
  stop(actor: Actor, runId: string, why: string): Promise<number>;
}

export interface Asked {
  readonly ownerId: string;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly runId: string | null;
  readonly message: string;
  readonly peerId: string | null;
  /** Beside the fields that every hook has. */
  readonly more?: object;
}

export interface Ran {
  readonly outcome: Outcome;
  readonly effect: Effect;
  readonly elapsedMs: number;
  /** Once its trace is a row; a message does not wait for it. */
  readonly traced: Promise<void>;
}

export interface Remembered {
  readonly id: string;
  readonly text: string;
  readonly origin: Origin;
}

export interface Engine {
  /** Names of what is loaded. */
  readonly loaded: readonly string[];
  ingest(question: Asked & { readonly actor: Actor; readonly agent: Agent; readonly budgetTokens: number }): Promise<Remembered[]>;
  /** What runs behind an answer now. Undefined where nothing would. */
  afterTurn(agentId: string): Promise<readonly HookHome[]>;
  queue(home: HookHome, asked: () => Promise<Asked | undefined>): void;
  /** One call, as a person asks for it. */
  run(home: HookHome, hook: HookName, asked: Asked): Promise<Ran>;
  homeOf(plugin: Plugin): Promise<HookHome>;
  lowered(plugin: Plugin): Promise<Walls>;
  /** Why no hook of a plugin may run; undefined where they may. */
  fault(plugin: Plugin): string | undefined;
}

const CHARS_PER_TOKEN = 4;
const STOP_TRIES = 40;
const STOP_WAIT_MS = 50;

export const createEngine = (deps: EngineDeps): Engine => {
  const { settings } = deps;
  const names = namesIn(settings);
  const direct = directHome(settings, deps.home);
  const queues = createQueues(deps.log);
  const lowered = async ({ name, manifest }: Plugin): Promise<Walls> => {
    const granted = await deps.granted(name);
    return { network: manifest.allowNetwork && (granted?.includes('network') ?? true), filesystem: manifest.allowFilesystem && (granted?.includes('filesystem') ?? true) };
  };
  const home = async (plugin: Plugin): Promise<HookHome> => homeOf(plugin, await lowered(plugin));
  const fault = (plugin: Plugin): string | undefined => plugin.fault ?? signatureFault(plugin.manifest.raw) ?? tooNew(plugin, deps.version);
  /** In the order in which they run. */
  const homesWith = async (hook: HookName, agentId: string): Promise<HookHome[]> => {
    const found = await Promise.all(names.map((name) => deps.folders.find(name)));
    for (const [at, plugin] of found.entries()) if (!plugin) deps.log.warn('a plugin of [context_engine] is not there', { plugin: names[at] });
    const plugins = found.filter((one) => one?.enabled === true && isFor(one.manifest.onlyFor, agentId)) as Plugin[];
    for (const plugin of plugins) if (fault(plugin) !== undefined) deps.log.warn(`the plugin ${plugin.name} is not loaded: ${fault(plugin)}`, { plugin: plugin.name });
    const homes = await Promise.all(plugins.filter((one) => fault(one) === undefined && one.manifest.hooks[hook] !== undefined).map(home));
    homes.sort((a, b) => b.manifest.priority - a.manifest.priority);
    return direct?.manifest.hooks[hook] === undefined ? homes : [...homes, direct];
  };
  const run = async (one: HookHome, hook: HookName, asked: Asked): Promise<Ran> => attempt(deps, one, hook, asked);
  return {
    loaded: direct ? [...names, DIRECT] : names,
    ingest: async ({ actor, agent, budgetTokens, ...asked }) => {
      const homes = (await homesWith('ingest', agent.id)).filter((one) => allowed(agent, one.name) && wants(one, asked.message, deps.log));
      const all = await Promise.all(homes.map(async (one) => ({ one, ran: await run(one, 'ingest', asked) })));
      for (const { one, ran } of all)
        if (ran.outcome.fault && one.manifest.onFailure === 'abort' && asked.runId !== null)
          await stopRun(deps, actor, asked.runId, `the hook ingest of the plugin ${one.name} failed: ${ran.outcome.fault.message}`);
      let left = budgetTokens * CHARS_PER_TOKEN;
      return all
        .flatMap(({ one, ran }) => ran.effect.memories.map((text, index) => ({ id: `${one.name}:${asked.runId ?? ''}:${index}`, text: `${one.name}: ${text}`, origin: originOf(one.name) })))
        .filter(({ text }) => {
          if (text.length > left) return false;
          left -= text.length;
          return true;
        });
    },
    afterTurn: (agentId) => homesWith('after_turn', agentId),
    queue: (one, asked) =>
      queues.add(
        one.name,
        one.manifest.queueDepth,
        async () => {
          const question = await asked();
          if (question) await run(one, 'after_turn', question);
        },
        async () => {
          const question = await asked();
          deps.log.warn(`the hook after_turn of ${one.name} was dropped: ${one.manifest.queueDepth} wait already`, { plugin: one.name });
          if (question) await trace(deps, one, 'after_turn', question, failed('QueueFull', `${one.manifest.queueDepth} calls wait already: this one was dropped`), null, 0);
        },
      ),
    run,
    homeOf: home,
    lowered,
    fault,
  };
};

/** Two or more of a stack count instead of the single one. The build declares an area without any setting. */
const namesIn = ({ plugin, plugin_stack: stack = [] }: ContextEngine): string[] => (stack.length > 1 ? [...new Set(stack)] : [plugin ?? stack[0] ?? ''].filter((name) => name !== ''));

/** A message that is about to be accepted has no run yet that could be stopped: it has one soon. */
const stopRun = async ({ stop, clock, log }: EngineDeps, actor: Actor, runId: string, why: string): Promise<void> => {
  for (let tries = 0; tries < STOP_TRIES; tries++) {
    const stopped = await stop(actor, runId, why).catch((error: unknown) => {
      if (isSvcError(error) && error.status === 404) return 0;
      throw error;
    });
    if (stopped > 0) return;
    await clock.sleep(STOP_WAIT_MS);
  }
  log.warn('a run could not be stopped', { run: runId, why });
};

const isFor = (onlyFor: readonly string[], agentId: string): boolean => onlyFor.length === 0 || onlyFor.includes(agentId);

/** `allowed_plugins` of the agent; empty for all. */
const allowed = ({ manifest: { kept } }: Agent, name: string): boolean => {
  const { allowed_plugins: list } = kept;
  return !Array.isArray(list) || list.length === 0 || list.includes(name);
};

const originOf = (plugin: string): Origin => ({ labels: ['ExternalNetwork'], source: `the plugin ${plugin}` });

const wants = ({ name, manifest: { ingestFilter, ingestRegex } }: HookHome, message: string, log: Logger): boolean => {
  if (ingestFilter !== '' && !message.toLowerCase().includes(ingestFilter.toLowerCase())) return false;
  if (ingestRegex === '') return true;
  try {
    return RE2JS.compile(ingestRegex).matcher(message).find();
  } catch (cause) {
    log.warn(`ingest_regex of the plugin ${name} cannot be read: ingest is left out`, { cause });
    return false;
  }
};

const tooNew = ({ manifest: { minVersion } }: Plugin, version: string): string | undefined =>
  minVersion !== null && compared(minVersion, version) > 0 ? `it needs svc ${minVersion}, and this is ${version}` : undefined;

export const compared = (one: string, other: string): number => {
  const [a, b] = [one, other].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  for (const at of [0, 1, 2]) {
    const by = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (by !== 0) return by;
  }
  return 0;
};

const directHome = ({ hooks }: ContextEngine, home: string): HookHome | undefined => {
  if (!hooks || SERVED_HOOKS.every((hook) => hooks[hook as 'ingest' | 'after_turn'] === undefined)) return undefined;
  const scripts = Object.fromEntries((['ingest', 'after_turn'] as const).flatMap((hook) => (hooks[hook] === undefined ? [] : [[hook, hooks[hook].replace(/^~(?=\/)/, home)]])));
  const first = Object.values(scripts)[0] ?? '/';
  return {
    name: DIRECT,
    manifest: manifestOf({ name: DIRECT, hooks: { ...scripts, runtime: hooks.runtime ?? 'python' } }),
    cwd: first.slice(0, Math.max(1, first.lastIndexOf('/'))),
    dir: undefined,
    lowered: { network: false, filesystem: false },
  };
};

/** With its retries, all within the time of one call. */
const attempt = async (deps: EngineDeps, home: HookHome, hook: HookName, asked: Asked): Promise<Ran> => {
  const { manifest, name } = home;
  const key = `${name} ${hook}`;
  const wait = deps.breaker.waitMs(key);
  const begun = deps.clock.mono();
  const endAt = begun + Math.min(LONGEST_MS, manifest.timeoutSecs * 1_000);
  let ran: Ran;
  if (wait > 0)
    ran = {
      outcome: failed('CircuitOpen', `it failed again and again and is left out for ${Math.ceil(wait / 1_000)} s more`),
      effect: { memories: [], note: null },
      elapsedMs: 0,
      traced: Promise.resolve(),
    };
  else {
    ran = await once(deps, home, hook, asked, Math.round(endAt - begun));
    for (let retry = 0; ran.outcome.fault && retry < manifest.retries && deps.clock.mono() + manifest.retryDelayMs < endAt; retry++) {
      await deps.clock.sleep(manifest.retryDelayMs);
      ran = await once(deps, home, hook, asked, Math.max(1, Math.round(endAt - deps.clock.mono())));
    }
    if (manifest.breaker) deps.breaker.count(key, ran.outcome.fault !== undefined, manifest.breaker);
  }
  const { fault } = ran.outcome;
  if (fault && manifest.onFailure !== 'skip') deps.log.warn(`the hook ${hook} of ${name} failed: ${fault.message}`, { plugin: name, hook, kind: fault.kind, run: asked.runId });
  return ran;
};

const once = async (deps: EngineDeps, home: HookHome, hook: HookName, asked: Asked, limitMs: number): Promise<Ran> => {
  const begun = deps.clock.mono();
  const input = { type: hook, agent_id: asked.agentId, message: asked.message, peer_id: asked.peerId, ...asked.more };
  const outcome = await outcomeOf(deps, home, hook, asked, limitMs, input);
  const effect: Effect = outcome.taken ? effectOf(hook, outcome.taken.value) : { memories: [], note: null };
  const elapsedMs = deps.clock.mono() - begun;
  const traced = trace(deps, home, hook, asked, outcome, effect.note, elapsedMs);
  return { outcome, effect, elapsedMs, traced };
};

const outcomeOf = async (deps: EngineDeps, home: HookHome, hook: HookName, asked: Asked, limitMs: number, input: object): Promise<Outcome> => {
  try {
    const script = home.manifest.hooks[hook] ?? '';
    const fault: Fault | undefined = home.dir ? await scriptFault({ dir: home.dir, manifest: home.manifest }, script) : undefined;
    if (fault) return failed(fault.kind, fault.message);
    const start = await startOf(deps, home, { hook, script, agentId: asked.agentId, message: asked.message, limitMs });
    if ('kind' in start) return failed(start.kind, start.message);
    const outcome = await callHook(deps, start, input);
    // It was found a moment ago, and is gone: the next call looks again.
    if (outcome.fault?.kind === 'LauncherNotFound') deps.finder.forget();
    return outcome;
  } catch (error) {
    return failed('Io', error instanceof Error ? error.message : String(error));
  }
};

const trace = (deps: EngineDeps, home: HookHome, hook: HookName, asked: Asked, outcome: Outcome, note: string | null, elapsedMs: number): Promise<void> =>
  deps.traces.add({
    ownerId: asked.ownerId,
    agentId: asked.agentId === '' ? null : asked.agentId,
    sessionId: asked.sessionId,
    runId: asked.runId,
    plugin: home.name,
    hook,
    at: deps.clock.iso(),
    elapsedMs,
    input: JSON.stringify({ type: hook, agent_id: asked.agentId, message: asked.message.slice(0, 2_000), peer_id: asked.peerId }),
    note,
    outcome,
  });

interface Queues {
  add(name: string, depth: number, work: () => Promise<void>, dropped: () => Promise<void>): void;
}

const createQueues = (log: Logger): Queues => {
  const queues = new Map<string, Array<() => Promise<void>>>();
  const drain = async (name: string, waiting: Array<() => Promise<void>>): Promise<void> => {
    for (let work = waiting[0]; work; work = waiting[0]) {
      await work().catch((cause: unknown) => log.warn(`the hook after_turn of ${name} could not be called`, { plugin: name, cause }));
      waiting.shift();
    }
    queues.delete(name);
  };
  return {
    add: (name, depth, work, dropped) => {
      const waiting = queues.get(name);
      if (!waiting) {
        const begun = [work];
        queues.set(name, begun);
        void drain(name, begun);
      } else if (waiting.length > depth) void dropped();
      else waiting.push(work);
    },
  };
};

export const isHook = (name: string): name is HookName => HOOKS.some((hook) => hook === name);
