/** Whether anything answers at a provider's address: one question, and what the last one found. */
import type { Clock, ExtensionContext, Logger } from '@svc/api';
import type { ListedModel, LocalModelsService } from '@svc/ext-models/contract';
import { canList, listModels, type Listing } from '../probe/model-list.js';
import type { ProviderRecord } from '../contract.js';
import { isLoopbackUrl } from './base-url.js';
import type { LocalServers } from './local-servers.js';

/** A new base URL is asked once whether anything answers; the answer does not decide whether it is saved. */
const REACH_DEADLINE_MS = 3_000;
/** More addresses than a daemon has providers; the oldest answer goes first. */
const MAX_KEPT = 500;

export interface Tested {
  readonly reachable: boolean;
  /** Null where nothing answered. */
  readonly latencyMs: number | null;
  readonly at: string;
  /** Models that a server on this machine lists by its own names; null where nobody asked for them. */
  readonly models: readonly string[] | null;
  /** What was wrong, in a sentence. */
  readonly error: string | null;
}

export interface Reach {
  /** Asks for models without the key: at a new address it is nobody's business yet. Undefined where the protocol has no such question. */
  ask(record: ProviderRecord, signal: AbortSignal): Promise<Listing | undefined>;
  /** Keeps what somebody else found out. */
  note(record: ProviderRecord, listing: Listing, error: string | null): Promise<void>;
  /** What is known of the address that a provider has now; undefined when nobody has asked. */
  lastOf(record: ProviderRecord): Tested | undefined;
}

export interface ReachDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly clock: Clock;
  readonly local: LocalServers;
  /** Where the models of a server that a person added are kept. */
  readonly lists: Pick<LocalModelsService, 'keep'>;
  readonly isShipped: (name: string) => Promise<boolean>;
  readonly log: Pick<Logger, 'warn'>;
}

export const createReach = (deps: ReachDeps): Reach => {
  const kept = new Map<string, Tested>();
  const keyOf = ({ name, base_url }: ProviderRecord): string => `${name}\n${base_url}`;
  const note: Reach['note'] = async (record, listing, error) => {
    const reachable = listing.kind !== 'silent';
    const models = listing.kind === 'listed' && isLoopbackUrl(record.base_url) ? listing.models.map(({ id }) => id) : null;
    kept.delete(keyOf(record));
    kept.set(keyOf(record), { reachable, latencyMs: reachable ? listing.latencyMs : null, at: deps.clock.iso(), models, error });
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
    if (listing.kind === 'listed') await keepList(deps, record, listing.models);
  };
  return {
    note,
    ask: async (record, signal) => {
      if (!canList(record.wire)) return undefined;
      const listing = await listModels(deps, record, { timeoutMs: REACH_DEADLINE_MS, signal, withKey: false });
      // Without the key a refusal is what a good server answers.
      await note(record, listing, listing.kind === 'listed' || listing.kind === 'refused' ? null : listing.error);
      return listing;
    },
    lastOf: (record) => {
      const [a, b] = [seenLocally(deps, record), kept.get(keyOf(record))];
      return a && b ? (a.at >= b.at ? a : b) : (a ?? b);
    },
  };
};

/** No catalog describes a server of one's own: what it lists is all that is known of its models. That this cannot be kept does not make it silent. */
const keepList = async ({ lists, isShipped, log }: ReachDeps, { name, key_required }: ProviderRecord, models: readonly ListedModel[]): Promise<void> => {
  if (await isShipped(name)) return;
  try {
    await lists.keep(
      name,
      models.map((model) => (key_required ? { ...model, is_paid: true } : model)),
    );
  } catch (error) {
    log.warn('the models that a server lists could not be stored', { server: name, error: String(error) });
  }
};

const seenLocally = ({ local }: ReachDeps, record: ProviderRecord): Tested | undefined => {
  const look = local.known();
  if (!look || !isLoopbackUrl(record.base_url)) return undefined;
  const server = look.servers.find(({ name, baseUrl }) => name === record.name && baseUrl === record.base_url);
  if (server) return { reachable: true, latencyMs: server.latencyMs, at: look.at, models: server.models, error: null };
  const missed = look.missed.find(({ name, baseUrl }) => name === record.name && baseUrl === record.base_url);
  return missed && { reachable: missed.latencyMs !== null, latencyMs: missed.latencyMs, at: look.at, models: null, error: missed.error };
};
