/**
 * Who gives texts their vectors: the built-in embedder, or a provider's model.
 *
 * E1  A search never waits for a provider longer than VECTOR_WAIT_MS; then words answer alone.
 * E2  One that failed or was late rests, for 5 seconds at first and for a minute at most; words answer meanwhile.
 * E3  Vectors of a wrong number, size or with values that are no numbers are refused, and the reason is shown.
 */
import type { Actor, OptionalHandle, Write } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import type { MemoryConfig } from '../config.js';
import type { EmbedderService } from '../contract.js';
import { contentWords } from './terms.js';

export interface EmbeddingDeps {
  readonly embedder: OptionalHandle<EmbedderService>;
  readonly llm: OptionalHandle<LlmService>;
  memory(): MemoryConfig;
  mono(): number;
  /** The provider's model is another one than a moment ago: what it made before is not comparable. */
  swapped(): void;
}

export interface Vectors {
  readonly model: string;
  readonly vectors: ReadonlyArray<readonly number[]>;
  /** Of a provider: what the call used, to be committed with the vectors. */
  readonly settle: readonly Write[];
}

export interface Embedding {
  /** `none`: nobody makes vectors, and why. `built-in` answers at once; `provider` over a network. */
  kind(): 'none' | 'built-in' | 'provider';
  /** As the settings name it. */
  name(): string;
  /** The identity of the vectors that are made now; undefined while it is not known, or nobody makes any. */
  model(): Promise<string | undefined>;
  embed(actor: Actor, agentId: string, texts: readonly string[], use: 'document' | 'query', signal?: AbortSignal): Promise<Vectors | undefined>;
  readonly state: { error: string | undefined; model: string | undefined };
  /** It failed or was late a moment ago: a search does not ask it. */
  isResting(): boolean;
  /** An answer did not come in time. */
  late(ms: number): void;
}

/** The built-in embedder is given content words alone, which makes its vectors other ones. */
const builtInId = (model: { readonly id: string } | undefined): string | undefined => (model === undefined ? undefined : `${model.id}/letters`);
const TIMEOUT_MS = 30_000;
/** The first rest after a failure; each further one is twice as long. */
const REST_MS = 5_000;
const MAX_REST_MS = 60_000;
/** A search waits so long for the vector of its question. */
export const VECTOR_WAIT_MS = 500;

export const createEmbedding = ({ embedder, llm, memory, mono, swapped }: EmbeddingDeps): Embedding => {
  let restsUntil = Number.NEGATIVE_INFINITY;
  let failures = 0;
  const rest = (): void => {
    // Searches that failed together count once.
    if (mono() < restsUntil) return;
    restsUntil = mono() + Math.min(MAX_REST_MS, REST_MS * 2 ** failures);
    failures += 1;
  };
  const state: Embedding['state'] = { error: undefined, model: undefined };
  const kind = (): ReturnType<Embedding['kind']> => {
    const { embedding_provider: provider, fts_only: only } = memory();
    if (only || provider === 'none') return 'none';
    return provider === 'auto' ? (embedder.value ? 'built-in' : 'none') : llm.value ? 'provider' : 'none';
  };
  const byProvider = async (actor: Actor, agentId: string, texts: readonly string[], use: 'document' | 'query', signal?: AbortSignal): Promise<Vectors | undefined> => {
    const { embedding_provider: provider, embedding_model: model } = memory();
    const answer = await llm.value?.embed(
      { provider, model: model === '' ? 'default' : model, texts: [...texts], use, timeoutMs: TIMEOUT_MS },
      { actor, agentId, runId: '', purpose: 'embedding' },
      signal ? { signal } : {},
    );
    if (!answer) return undefined;
    if (answer.vectors.length !== texts.length) throw new Error(`${provider} gave ${answer.vectors.length} vectors for ${texts.length} texts`);
    const [first] = answer.vectors;
    const dimensions = first?.length ?? 0;
    if (answer.vectors.some((vector) => vector.length !== dimensions || vector.length === 0)) throw new Error(`${provider} gave vectors of different sizes`);
    if (answer.vectors.some((vector) => vector.some((value) => !Number.isFinite(value)))) throw new Error(`${provider} gave vectors with values that are no numbers`);
    // Whatever no model made finds nothing that words do not find.
    if (answer.substitute !== undefined) throw new Error(answer.substitute);
    return { model: `${answer.provider}/${answer.model}/${dimensions}`, vectors: answer.vectors, settle: answer.settle };
  };
  return {
    kind,
    name: () => memory().embedding_provider,
    state,
    isResting: () => kind() === 'provider' && mono() < restsUntil,
    late: (ms) => {
      rest();
      state.error = `no vector came within ${ms} ms`;
    },
    model: async () => (kind() === 'built-in' ? builtInId(await embedder.value?.model()) : kind() === 'provider' ? state.model : undefined),
    embed: async (actor, agentId, texts, use, signal) => {
      try {
        if (kind() === 'none' || texts.length === 0) return undefined;
        const made =
          kind() === 'provider'
            ? await byProvider(actor, agentId, texts, use, signal)
            : embedder.value && { model: builtInId(await embedder.value.model()) ?? '', vectors: await embedder.value.embed(texts.map(contentWords)), settle: [] };
        state.error = undefined;
        failures = 0;
        restsUntil = Number.NEGATIVE_INFINITY;
        const before = state.model;
        state.model = made?.model ?? before;
        if (kind() === 'provider' && before !== undefined && state.model !== before) swapped();
        return made;
      } catch (error) {
        // Whoever asked waited no longer, and said why.
        if (signal?.aborted) throw error;
        rest();
        state.error = error instanceof Error ? error.message : String(error);
        throw error;
      }
    },
  };
};
