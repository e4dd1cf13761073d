/** One call of a hook, with its cache, its retries, its breaker and its trace. */
import { createHash } from 'node:crypto';
import type { Clock, Logger, Schemas } from '@svc/api';
import type { HookName } from '../manifest/manifest.js';
import { scriptFault } from '../plugin-folder.js';
import type { Breaker } from './breaker.js';
import type { ResponseCache } from './cache.js';
import { type Effect, effectOf, type Check, NOTHING } from './effect.js';
import { callHook, failed, type Fault, type HookProcessDeps, type Outcome } from './hook-process.js';
import type { Persistent } from './persistent.js';
import { type HookHome, type StartDeps, startOf } from './start.js';
import type { Traces } from './traces.js';

const LONGEST_MS = 30_000;

export interface AttemptDeps extends StartDeps, HookProcessDeps {
  readonly traces: Traces;
  readonly breaker: Breaker;
  readonly cache: ResponseCache;
  readonly persistent: Persistent;
  readonly schemas: Pick<Schemas, 'check'>;
  readonly clock: Clock;
  readonly log: Logger;
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
  /** Of a message of which nothing may stay: its trace has no texts. */
  readonly isUnkept?: boolean;
  /** Whether a response can be used. */
  readonly check?: Check;
}

export interface Ran {
  readonly outcome: Outcome;
  readonly effect: Effect;
  readonly elapsedMs: number;
  /** Once its trace is a row; a message does not wait for it. */
  readonly traced: Promise<void>;
}

/** With its retries, all within the time of one call. */
export const attempt = async (deps: AttemptDeps, home: HookHome, hook: HookName, asked: Asked): Promise<Ran> => {
  const { manifest, name } = home;
  const key = `${name} ${hook}`;
  const wait = deps.breaker.waitMs(key);
  const begun = deps.clock.mono();
  const endAt = begun + Math.min(LONGEST_MS, manifest.timeoutSecs * 1_000);
  let ran: Ran;
  if (wait > 0) ran = { outcome: failed('CircuitOpen', `it failed again and again and is left out for ${Math.ceil(wait / 1_000)} s more`), effect: NOTHING, elapsedMs: 0, traced: Promise.resolve() };
  else {
    ran = await once(deps, home, hook, asked, endAt);
    for (let retry = 0; ran.outcome.fault && retry < manifest.retries && deps.clock.mono() + manifest.retryDelayMs < endAt; retry++) {
      await deps.clock.sleep(manifest.retryDelayMs);
      ran = await once(deps, home, hook, asked, endAt);
    }
    if (manifest.breaker) deps.breaker.count(key, ran.outcome.fault !== undefined, manifest.breaker);
  }
  const { fault } = ran.outcome;
  if (fault && manifest.onFailure !== 'skip') deps.log.warn(`the hook ${hook} of ${name} failed: ${fault.message}`, { plugin: name, hook, kind: fault.kind, run: asked.runId });
  return ran;
};

const once = async (deps: AttemptDeps, home: HookHome, hook: HookName, asked: Asked, endAt: number): Promise<Ran> => {
  const begun = deps.clock.mono();
  const input = { type: hook, agent_id: asked.agentId, message: asked.message, peer_id: asked.peerId, ...asked.more };
  const { outcome, isCached } = await answered(deps, home, hook, asked, input, endAt);
  const effect = outcome.taken ? effectOf(hook, outcome.taken.value, asked.check) : NOTHING;
  const violations = await violationsOf(deps, home, hook, input, outcome);
  const notes = [...(isCached ? ['answered from its cache'] : []), ...(effect.note === null ? [] : [effect.note]), ...violations];
  const elapsedMs = deps.clock.mono() - begun;
  const noted = { ...effect, note: notes.length === 0 ? null : notes.join('; ') };
  return { outcome, effect: noted, elapsedMs, traced: trace(deps, home, hook, asked, outcome, noted.note, elapsedMs) };
};

const answered = async (deps: AttemptDeps, home: HookHome, hook: HookName, asked: Asked, input: object, endAt: number): Promise<{ outcome: Outcome; isCached: boolean }> => {
  const ttl = home.manifest.cacheSecs[hook] ?? 0;
  if (ttl === 0) return { outcome: await outcomeOf(deps, home, hook, asked, input, endAt), isCached: false };
  const key = `${home.name} ${hook} ${sha256Of([asked.ownerId, input, await versionOf(home, hook)])}`;
  const known = deps.cache.get(key);
  if (known) return { outcome: known, isCached: true };
  const outcome = await outcomeOf(deps, home, hook, asked, input, endAt);
  if (!outcome.fault) deps.cache.put(key, outcome, ttl);
  return { outcome, isCached: false };
};

const sha256Of = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** Another one as soon as plugin.toml, the script or what it may do is another one. */
const versionOf = async ({ manifest, dir, lowered }: HookHome, hook: HookName): Promise<string> => {
  const script = manifest.hooks[hook] ?? '';
  const info = script.startsWith('/') ? undefined : await dir?.stat(script).catch(() => undefined); // a path that leaves the folder is named where the hook is to start
  return sha256Of([manifest.raw, info?.changedAt ?? '', lowered]);
};

const outcomeOf = async (deps: AttemptDeps, home: HookHome, hook: HookName, asked: Asked, input: object, endAt: number): Promise<Outcome> => {
  try {
    const script = home.manifest.hooks[hook] ?? '';
    const fault: Fault | undefined = home.dir ? await scriptFault({ dir: home.dir, manifest: home.manifest }, script) : undefined;
    if (fault) return failed(fault.kind, fault.message);
    const limitMs = Math.max(1, Math.round(endAt - deps.clock.mono()));
    const outcome = home.manifest.isPersistent ? await persistentOutcome(deps, home, hook, script, input, endAt) : await freshOutcome(deps, home, hook, script, asked, input, limitMs);
    // It was found a moment ago, and is gone: the next call looks again.
    if (outcome.fault?.kind === 'LauncherNotFound') deps.finder.forget();
    return outcome;
  } catch (error) {
    return failed('Io', error instanceof Error ? error.message : String(error));
  }
};

const freshOutcome = async (deps: AttemptDeps, home: HookHome, hook: HookName, script: string, asked: Asked, input: object, limitMs: number): Promise<Outcome> => {
  const start = await startOf(deps, home, { hook, script, agentId: asked.agentId, message: asked.message, limitMs });
  return 'kind' in start ? failed(start.kind, start.message) : callHook(deps, start, input);
};

/** It serves all agents: what belongs to one message stands in its line alone. */
const persistentOutcome = async (deps: AttemptDeps, home: HookHome, hook: HookName, script: string, input: object, endAt: number): Promise<Outcome> =>
  deps.persistent.call(
    `${home.name} ${hook}`,
    await versionOf(home, hook),
    () => startOf(deps, home, { hook, script, agentId: '', message: '', limitMs: Math.max(1, Math.round(endAt - deps.clock.mono())) }),
    input,
    endAt,
  );

/** Starts the process of a hook before its first call. */
export const warm = async (deps: AttemptDeps, home: HookHome, hook: HookName): Promise<void> => {
  const script = home.manifest.hooks[hook] ?? '';
  if (home.dir && (await scriptFault({ dir: home.dir, manifest: home.manifest }, script))) return;
  await deps.persistent.warm(`${home.name} ${hook}`, await versionOf(home, hook), () => startOf(deps, home, { hook, script, agentId: '', message: '', limitMs: LONGEST_MS }));
};

const violationsOf = async ({ schemas }: AttemptDeps, { manifest }: HookHome, hook: HookName, input: object, { taken }: Outcome): Promise<string[]> => {
  const { input: ofInput, output: ofOutput } = manifest.schemas[hook] ?? {};
  const look = async (part: string, schema: object | undefined, value: unknown): Promise<string[]> => {
    if (!schema) return [];
    try {
      const found = await schemas.check(schema, value, part);
      return found.ok ? [] : [`hook_schemas.${hook}: ${found.message}`];
    } catch (error) {
      return [`hook_schemas.${hook}.${part} cannot be used: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
  if (!ofInput && !ofOutput) return [];
  return [...(await look('input', ofInput, input)), ...(taken ? await look('output', ofOutput, taken.value) : [])];
};

export const trace = (deps: Pick<AttemptDeps, 'traces' | 'clock'>, home: HookHome, hook: HookName, asked: Asked, outcome: Outcome, note: string | null, elapsedMs: number): Promise<void> =>
  deps.traces.add({
    ownerId: asked.ownerId,
    agentId: asked.agentId === '' ? null : asked.agentId,
    sessionId: asked.sessionId,
    runId: asked.runId,
    plugin: home.name,
    hook,
    at: deps.clock.iso(),
    elapsedMs,
    isUnkept: asked.isUnkept ?? false,
    input: JSON.stringify({ type: hook, agent_id: asked.agentId, message: asked.message.slice(0, 2_000), peer_id: asked.peerId, ...asked.more }),
    note,
    outcome,
  });
