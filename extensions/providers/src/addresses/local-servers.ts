/**
 * Model servers on this machine: does one answer, and with which models?
 * Asked only when somebody needs to know, for at most 300 ms, at most once a minute.
 */
import { type Clock, type ExtensionContext, isTable, type Logger } from '@svc/api';

const PROBE_DEADLINE_MS = 300;
const PROBE_FRESH_MS = 60_000;
const MAX_LIST_BYTES = 1_000_000;

export interface LocalServer {
  readonly name: string;
  /** Its own names, as it lists them. */
  readonly models: readonly string[];
  readonly latencyMs: number;
}

/** A look round, with its time of day. */
export interface LocalLook {
  readonly servers: readonly LocalServer[];
  readonly at: string;
}

export interface LocalServers {
  /** Those that answer. Waits for the first look round; later ones happen beside. */
  answering(): Promise<readonly LocalServer[]>;
  /** What the last look round saw, without one. */
  known(): LocalLook | undefined;
  forget(): void;
}

export interface LocalServersDeps {
  fetch: ExtensionContext['fetch'];
  clock: Clock;
  log: Logger;
  addresses: () => Promise<ReadonlyArray<{ name: string; baseUrl: string }>>;
}

export const createLocalServers = (deps: LocalServersDeps): LocalServers => {
  let seen: { readonly at: number; readonly look: LocalLook } | undefined;
  let looking: Promise<readonly LocalServer[]> | undefined;

  const look = (): Promise<readonly LocalServer[]> => {
    looking ??= lookRound(deps).then(
      (servers) => {
        seen = { at: deps.clock.mono(), look: { servers, at: deps.clock.iso() } };
        looking = undefined;
        return servers;
      },
      (error: unknown) => {
        looking = undefined;
        throw error;
      },
    );
    return looking;
  };

  return {
    answering: async () => {
      if (!seen) return look();
      if (deps.clock.mono() - seen.at > PROBE_FRESH_MS) {
        // What was seen a minute ago answers now; nobody waits for the new look.
        look().catch((error: unknown) => deps.log.warn('looking for local model servers failed', { error: String(error) }));
      }
      return seen.look.servers;
    },
    known: () => seen?.look,
    forget: () => {
      seen = undefined;
    },
  };
};

const lookRound = async (deps: LocalServersDeps): Promise<readonly LocalServer[]> => {
  const asked = await Promise.all((await deps.addresses()).map((address) => probe(deps, address)));
  return asked.filter((server) => server !== undefined);
};

const probe = async (deps: LocalServersDeps, address: { name: string; baseUrl: string }): Promise<LocalServer | undefined> => {
  const startedAt = deps.clock.mono();
  try {
    const response = await deps.fetch(`${address.baseUrl}/models`, { purpose: 'model', timeoutMs: PROBE_DEADLINE_MS, maxBytes: MAX_LIST_BYTES });
    if (response.status !== 200) {
      response.cancel();
      return undefined;
    }
    const models = modelNames(await response.json());
    return models.length > 0 ? { name: address.name, models, latencyMs: Math.round(deps.clock.mono() - startedAt) } : undefined;
  } catch (error) {
    // Nothing listening there is the usual answer, not a fault.
    deps.log.debug('no local model server there', { server: address.name, url: address.baseUrl, error: String(error) });
    return undefined;
  }
};

/** `{data: [{id}]}`, as OpenAI-compatible servers list their models; anything else is not one. */
const modelNames = (body: unknown): string[] => {
  const data: unknown[] = isTable(body) && Array.isArray(body.data) ? body.data : [];
  return data.flatMap((item) => (isTable(item) && typeof item.id === 'string' ? [item.id] : []));
};
