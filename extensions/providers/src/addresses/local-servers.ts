/**
 * Model servers on this machine: does one answer, and with which models?
 * Asked when somebody needs to know, for at most 300 ms, at most once a minute; and for 3 s whenever a person orders it.
 * What a server lists is kept with the models; one that does not answer, or not with a list, loses nothing.
 */
import type { Clock, ExtensionContext, Logger } from '@svc/api';
import type { ListedModel, LocalModelsService } from '@svc/ext-models/contract';
import { listModels } from '../probe/model-list.js';

const PROBE_DEADLINE_MS = 300;
const ORDERED_DEADLINE_MS = 3_000;
const PROBE_FRESH_MS = 60_000;

export interface LocalServer {
  readonly name: string;
  readonly baseUrl: string;
  /** Its own names, as it lists them. */
  readonly models: readonly string[];
  readonly listed: readonly ListedModel[];
  readonly latencyMs: number;
}

/** One that was asked and gave no list. */
export interface Missed {
  readonly name: string;
  readonly baseUrl: string;
  readonly error: string;
  /** Of whatever answered in its place; null where nothing did. */
  readonly latencyMs: number | null;
}

/** A look round, with its time of day. */
export interface LocalLook {
  readonly servers: readonly LocalServer[];
  readonly missed: readonly Missed[];
  readonly at: string;
}

export interface LocalServers {
  /** Those that answer. Waits for the first look round; later ones happen beside. */
  answering(): Promise<readonly LocalServer[]>;
  /** A look round now, with more patience. */
  detect(): Promise<LocalLook>;
  /** What the last look round saw, without one. */
  known(): LocalLook | undefined;
  forget(): void;
}

export interface LocalAddress {
  readonly name: string;
  readonly baseUrl: string;
}

export interface LocalServersDeps {
  fetch: ExtensionContext['fetch'];
  clock: Clock;
  log: Logger;
  addresses: () => Promise<readonly LocalAddress[]>;
  /** Where there are no models to keep them with, none are kept. */
  kept?: LocalModelsService;
}

export const createLocalServers = (deps: LocalServersDeps): LocalServers => {
  let seen: { readonly at: number; readonly look: LocalLook } | undefined;
  const looking = new Map<number, Promise<LocalLook>>();

  const look = (deadlineMs: number): Promise<LocalLook> => {
    const running = looking.get(deadlineMs);
    if (running) return running;
    const next = lookRound(deps, deadlineMs)
      .then((found) => {
        seen = { at: deps.clock.mono(), look: found };
        return found;
      })
      .finally(() => looking.delete(deadlineMs));
    looking.set(deadlineMs, next);
    return next;
  };

  return {
    answering: async () => {
      if (!seen) return (await look(PROBE_DEADLINE_MS)).servers;
      if (deps.clock.mono() - seen.at > PROBE_FRESH_MS) {
        // What was seen a minute ago answers now; nobody waits for the new look.
        look(PROBE_DEADLINE_MS).catch((error: unknown) => deps.log.warn('looking for local model servers failed', { error: String(error) }));
      }
      return seen.look.servers;
    },
    detect: () => look(ORDERED_DEADLINE_MS),
    known: () => seen?.look,
    forget: () => {
      seen = undefined;
    },
  };
};

const lookRound = async (deps: LocalServersDeps, deadlineMs: number): Promise<LocalLook> => {
  const asked = await Promise.all((await deps.addresses()).map((address) => probe(deps, address, deadlineMs)));
  const servers = asked.filter((one) => 'listed' in one);
  const look = { servers, missed: asked.filter((one) => 'error' in one), at: deps.clock.iso() };
  for (const { name, listed } of servers) await keep(deps, name, listed);
  return look;
};

/** That the list cannot be kept does not make the server silent. */
const keep = async ({ kept, log }: LocalServersDeps, name: string, listed: readonly ListedModel[]): Promise<void> => {
  try {
    await kept?.keep(name, [...listed]);
  } catch (error) {
    log.warn('the models of a local server could not be stored', { server: name, error: String(error) });
  }
};

const probe = async (deps: LocalServersDeps, { name, baseUrl }: LocalAddress, timeoutMs: number): Promise<LocalServer | Missed> => {
  try {
    const listing = await listModels(deps, { name, wire: 'openai', base_url: baseUrl, secret: null }, { timeoutMs });
    if (listing.kind === 'listed') return { name, baseUrl, models: listing.models.map(({ id }) => id), listed: listing.models, latencyMs: listing.latencyMs };
    // Nothing listening there is the usual answer, not a fault.
    deps.log.debug('no local model server there', { server: name, url: baseUrl, error: listing.error });
    return { name, baseUrl, error: listing.error, latencyMs: listing.kind === 'silent' ? null : listing.latencyMs };
  } catch (error) {
    deps.log.warn('a local model server could not be asked', { server: name, url: baseUrl, error: String(error) });
    return { name, baseUrl, error: 'The request failed; see the log.', latencyMs: null };
  }
};
