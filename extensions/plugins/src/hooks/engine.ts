/**
 * The hooks that run for messages.
 *
 * E1  Only what `[context_engine]` names is loaded, as it stood at the start. The files of a plugin, and whether it is enabled, count at once.
 * E2  A hook that fails leaves a trace and a warning, and the message is answered; with `on_hook_failure = "abort"` the run is stopped.
 * E3  `ingest` runs once for a message. What it says stands before the question as text from outside, under the name of its plugin.
 * E4  `after_turn` runs behind the answer, one call after the other for each plugin. Of a full queue the newest is dropped, with a trace.
 */
import { type Actor, CHARS_PER_TOKEN, isSvcError, type Logger, type Origin } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { RE2JS } from 're2js';
import type { HookName } from '../manifest/manifest.js';
import { HOOKS, manifestOf } from '../manifest/manifest.js';
import { signatureFault } from '../manifest/signing.js';
import type { Plugin, PluginFolders } from '../plugin-folder.js';
import type { ContextEngine } from '../config.js';
import { type Asked, attempt, type AttemptDeps, type Ran, trace, warm } from './attempt.js';
import { type Each, events } from './taps.js';
import { createBootstraps } from './bootstrap.js';
import { textsOf } from './effect.js';
import { failed } from './hook-process.js';
import { type HookHome, homeOf, type Walls } from './start.js';

export type { Asked, Ran } from './attempt.js';

/** The name of hooks that config.toml names itself. */
export const DIRECT = 'context_engine.hooks';

export interface EngineDeps extends AttemptDeps {
  readonly settings: ContextEngine;
  readonly folders: PluginFolders;
  readonly home: string;
  readonly version: string;
  /** What somebody agreed to, for a plugin that came from elsewhere; undefined for one that a person wrote here. */
  granted(name: string): Promise<readonly string[] | undefined>;
  actorOf(ownerId: string): Actor;
  agentOf(actor: Actor, agentId: string): Promise<Agent | undefined>;
  /** What the default model reads; null where that is not known. */
  window(): Promise<number | null>;
  /** Adds to what an agent remembers. Answers why it could not. */
  remember(ownerId: string, agentId: string, texts: readonly string[], plugin: string): Promise<string | undefined>;
  /** Answers how many it stopped. */
  stop(actor: Actor, runId: string, why: string): Promise<number>;
}

export interface Remembered {
  readonly id: string;
  readonly text: string;
  readonly origin: Origin;
}

export interface Engine extends Each {
  /** Names of what is loaded. */
  readonly loaded: readonly string[];
  ingest(question: Asked & { readonly actor: Actor; readonly agent: Agent; readonly budgetTokens: number }): Promise<Remembered[]>;
  /** Starts the processes of plugins that want that. */
  prewarm(): Promise<void>;
  /** What was kept of a plugin goes: it begins anew. Answers how many processes ended. */
  forget(plugin: string): number;
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

const MAX_RECALLED = 50;
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
  const bootstraps = createBootstraps({ run: (one, asked) => attempt(deps, one, 'bootstrap', asked), window: deps.window, maxRecallResults: MAX_RECALLED });
  const run = async (one: HookHome, hook: HookName, asked: Asked): Promise<Ran> => attempt(deps, hook === 'bootstrap' ? one : await bootstraps.after(one, asked), hook, asked);
  const abortFor = async (one: HookHome, hook: HookName, actor: Actor, ran: Ran, runId: string | null): Promise<void> => {
    if (ran.outcome.fault && one.manifest.onFailure === 'abort' && runId !== null) await stopRun(deps, actor, runId, `the hook ${hook} of the plugin ${one.name} failed: ${ran.outcome.fault.message}`);
  };
  const each: Each['each'] = async (hook, { actor, agent, ...asked }, ask, use) => {
    const homes = await homesWith(hook, asked.agentId);
    if (homes.length === 0) return;
    const whose = agent ?? (await deps.agentOf(actor, asked.agentId));
    for (const one of homes) {
      if (whose && !allowed(whose, one.name)) continue;
      const ran = await run(one, hook, { ...asked, ...ask() });
      await abortFor(one, hook, actor, ran, asked.runId);
      if (ran.effect.used && use(ran.effect.used, one.name)) return;
    }
  };
  return {
    loaded: direct ? [...names, DIRECT] : names,
    ingest: async ({ actor, agent, budgetTokens, ...asked }) => {
      const named = (await homesWith('ingest', agent.id)).filter((one) => allowed(agent, one.name));
      const homes = (await Promise.all(named.map((one) => bootstraps.after(one, asked)))).filter((one) => wants(one, asked.message, deps.log));
      const all = await Promise.all(homes.map(async (one) => ({ one, ran: await attempt(deps, one, 'ingest', asked) })));
      for (const { one, ran } of all) await abortFor(one, 'ingest', actor, ran, asked.runId);
      let left = budgetTokens * CHARS_PER_TOKEN;
      return all
        .flatMap(({ one, ran }) => ran.effect.memories.map((text, index) => ({ id: `${one.name}:${asked.runId ?? ''}:${index}`, text: `${one.name}: ${text}`, origin: originOf(one.name) })))
        .filter(({ text }) => {
          if (text.length > left) return false;
          left -= text.length;
          return true;
        });
    },
    each,
    prewarm: async () => {
      for (const plugin of await Promise.all(names.map((name) => deps.folders.find(name))))
        if (plugin?.enabled && fault(plugin) === undefined && plugin.manifest.isPersistent && plugin.manifest.isPrewarmed && plugin.manifest.hooks.bootstrap === undefined)
          for (const hook of HOOKS) if (plugin.manifest.hooks[hook] !== undefined) await warm(deps, await home(plugin), hook);
    },
    forget: (plugin) => {
      bootstraps.forget(plugin);
      deps.cache.forget(plugin);
      return deps.persistent.stop(plugin);
    },
    afterTurn: (agentId) => homesWith('after_turn', agentId),
    queue: (one, asked) =>
      queues.add(
        one.name,
        one.manifest.queueDepth,
        async () => {
          const question = await asked();
          if (!question) return;
          const { effect } = await run(one, 'after_turn', question);
          if (effect.used) await kept(deps, each, one.name, question, effect.used);
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

/** What a hook behind an answer wants remembered, and what it has to say to others. */
const kept = async (deps: EngineDeps, each: Each['each'], plugin: string, asked: Asked, response: Readonly<Record<string, unknown>>): Promise<void> => {
  const texts = textsOf(response.memories).slice(0, MAX_RECALLED);
  if (texts.length > 0) {
    const why = await deps.remember(asked.ownerId, asked.agentId, texts, plugin);
    if (why !== undefined) deps.log.warn(`what the plugin ${plugin} wants remembered is lost: ${why}`, { plugin });
  }
  await events({ each }, { actor: deps.actorOf(asked.ownerId), agentId: asked.agentId, sessionId: asked.sessionId, runId: asked.runId }, response.events, plugin);
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
  const scripts = Object.fromEntries(HOOKS.flatMap((hook) => (hooks?.[hook] === undefined ? [] : [[hook, hooks[hook].replace(/^~(?=\/)/, home)]])));
  if (!hooks || Object.keys(scripts).length === 0) return undefined;
  const first = Object.values(scripts)[0] ?? '/';
  return {
    name: DIRECT,
    manifest: manifestOf({ name: DIRECT, hooks: { ...scripts, runtime: hooks.runtime ?? 'python' } }),
    cwd: first.slice(0, Math.max(1, first.lastIndexOf('/'))),
    dir: undefined,
    lowered: { network: false, filesystem: false },
  };
};

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
