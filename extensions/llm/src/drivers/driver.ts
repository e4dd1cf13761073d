/** A driver as the gateway calls it: its own, or one that another extension provides for a wire of its own. */
import { type DriverEvent, type DriverTarget, type EmbedRequest, type LeftOut, ModelDriver, type ModelRequest } from '../contract.js';
import { ModelSession } from '@svc/ext-providers/contract';
import type { Service, Services } from '@svc/api';
import { llmErrors } from '../errors.js';

/** Texts of one batch, as its provider takes them. */
export type EmbedBatch = Pick<EmbedRequest, 'texts' | 'dimensions' | 'use'>;

export interface Embedded {
  /** In the order of the texts. */
  readonly vectors: readonly unknown[];
  /** Undefined where the provider does not say. */
  readonly inputTokens?: number | undefined;
  /** Set where no model made them. */
  readonly substitute?: string;
}

/** Told what the model says, as it says it. What it throws ends the exchange. */
export type Emit = (event: DriverEvent) => void;

export interface Driver {
  /** One exchange with one model. Resolves after `stop`, or throws. */
  ask(target: DriverTarget, request: ModelRequest, signal: AbortSignal, emit: Emit): Promise<void>;
  /** What of the caller's parameters this model would be asked without, as far as is known. */
  leavesOut?(model: Pick<DriverTarget, 'provider' | 'model'>, request: Pick<ModelRequest, 'parameters' | 'thinking'>): readonly LeftOut[];
  /** Vectors of one batch. Left out where the wire makes none. */
  embed?(target: DriverTarget, batch: EmbedBatch, signal: AbortSignal): Promise<Embedded>;
}

/** Throws `llm_provider_unsupported` where nobody speaks that wire. */
export type Drivers = (wire: string, provider: string) => Driver;

/**
 * `unsupported` is what the list of providers says of those that llm itself cannot speak to: for them, and for any wire
 * that is not llm's own, an extension may provide `model-driver:<wire or provider>`; or `model-session:<wire>`, where llm speaks the
 * protocol and only the key is another one.
 */
export const createDrivers = (own: Readonly<Record<string, Driver>>, services: Pick<Services, 'optional'>): Drivers => {
  const foreign = new Map<string, ReturnType<typeof find>>();
  const find = (name: string) => ({ driver: services.optional(ModelDriver(name)), session: services.optional(ModelSession(name)) });
  return (wire, provider) => {
    const known = own[wire];
    if (known) return known;
    const name = wire === 'unsupported' ? provider : wire;
    const handle = foreign.get(name) ?? find(name);
    foreign.set(name, handle);
    const { value } = handle.driver;
    const session = handle.session.value;
    if (!value && session && own.openai) return throughSession(session, own.openai);
    if (!value) throw llmErrors.provider_unsupported(provider);
    return {
      ask: async (target, request, signal, emit) => {
        for await (const event of value.stream(target, request, { signal })) emit(event);
      },
    };
  };
};

/** The chat-completions protocol, with headers of a session in place of the key. */
const throughSession = (session: Service<ReturnType<typeof ModelSession>>, { ask, leavesOut }: Driver): Driver => ({
  ask: async ({ secret, ...target }, request, signal, emit) => ask(secret === undefined ? target : { ...target, headers: await session.open(secret) }, request, signal, emit),
  ...(leavesOut ? { leavesOut } : {}),
});
