/** Whether anything answers at a provider's address: one question, and what the last one found. */
import type { Clock, ExtensionContext, Logger } from '@svc/api';
import { isLoopbackUrl } from './base-url.js';
import type { ProviderRecord } from '../contract.js';
import type { LocalServers } from './local-servers.js';

/** A new base URL is asked once whether anything answers; the answer does not decide whether it is saved. */
const REACH_DEADLINE_MS = 3_000;
/** More addresses than a daemon has providers; the oldest answer goes first. */
const MAX_KEPT = 500;

export interface Reached {
  readonly reachable: boolean;
  readonly latencyMs: number;
}

export interface Tested {
  readonly reachable: boolean;
  /** Null where nothing answered. */
  readonly latencyMs: number | null;
  readonly at: string;
  /** Models that the server lists by its own names; null where nobody asked for them. */
  readonly models: readonly string[] | null;
}

export interface Reach {
  ask(baseUrl: string, log: Logger, signal: AbortSignal): Promise<Reached>;
  /** What is known of the address that a provider has now; undefined when nobody has asked. */
  lastOf(record: ProviderRecord): Tested | undefined;
}

export interface ReachDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly clock: Clock;
  readonly local: LocalServers;
  /** Servers that the look round asks for. */
  readonly probed: ReadonlySet<string>;
}

export const createReach = (deps: ReachDeps): Reach => {
  const kept = new Map<string, Tested>();
  return {
    ask: async (baseUrl, log, signal) => {
      const found = await ask(deps, baseUrl, log, signal);
      kept.delete(baseUrl);
      kept.set(baseUrl, { reachable: found.reachable, latencyMs: found.reachable ? found.latencyMs : null, at: deps.clock.iso(), models: null });
      for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
      return found;
    },
    lastOf: (record) => seenLocally(deps, record) ?? kept.get(record.base_url),
  };
};

const seenLocally = ({ local, probed }: ReachDeps, record: ProviderRecord): Tested | undefined => {
  const look = local.known();
  if (!look || !probed.has(record.name) || !isLoopbackUrl(record.base_url)) return undefined;
  const server = look.servers.find(({ name }) => name === record.name);
  return { reachable: server !== undefined, latencyMs: server?.latencyMs ?? null, at: look.at, models: server?.models ?? null };
};

const ask = async ({ fetch, clock }: ReachDeps, baseUrl: string, log: Logger, signal: AbortSignal): Promise<Reached> => {
  const startedAt = clock.mono();
  const reachable = await fetch(`${baseUrl}/models`, { purpose: 'model', timeoutMs: REACH_DEADLINE_MS, signal }).then(
    (response) => {
      // Any answer will do: without the key it is usually a 401.
      response.cancel();
      return true;
    },
    (error: unknown) => {
      log.info('the new base URL does not answer', { url: baseUrl, error: String(error) });
      return false;
    },
  );
  return { reachable, latencyMs: Math.round(clock.mono() - startedAt) };
};
