/**
 * Forty providers speak `the same` protocol and refuse different parts of it. A 400 that names a
 * parameter is answered by leaving that parameter out, once, and remembering it for that model.
 */
import type { DriverTarget } from '../contract.js';
import { ModelFailure } from '../call/model-failure.js';

export interface Adaptation {
  /** Some models take only their own temperature. */
  readonly noTemperature?: boolean;
  /** OpenAI's reasoning models call the limit `max_completion_tokens`. */
  readonly completionTokens?: boolean;
  /** Small servers do not know `stream_options`. */
  readonly noStreamOptions?: boolean;
  /** Models that cannot call tools refuse to be told of them. */
  readonly noTools?: boolean;
  /** Models that cannot be told to think refuse to be. */
  readonly noThinking?: boolean;
}

const MAX_REMEMBERED = 200;
const MAX_RESENDS = 3;

export interface Adaptations {
  /** Asks and, where the provider refuses a parameter before anything was said, asks again without. */
  run(target: DriverTarget, ask: (adaptation: Adaptation) => Promise<void>): Promise<void>;
}

export const createAdaptations = (initial: (target: DriverTarget) => Adaptation): Adaptations => {
  const remembered = new Map<string, Adaptation>();
  return {
    run: async (target, ask) => {
      const key = `${target.provider}\n${target.model}`;
      for (let resends = 0; ; resends++) {
        const adaptation = remembered.get(key) ?? initial(target);
        try {
          await ask(adaptation);
          return;
        } catch (error) {
          const next = resends < MAX_RESENDS && error instanceof ModelFailure && error.httpStatus === 400 ? adapted(adaptation, error.message) : undefined;
          if (!next) throw error;
          if (remembered.size >= MAX_REMEMBERED) remembered.clear();
          remembered.set(key, next);
        }
      }
    },
  };
};

/** What to leave out next; undefined when the refusal names nothing that can be. */
const adapted = (now: Adaptation, said: string): Adaptation | undefined => {
  if (/max_completion_tokens/.test(said) && !now.completionTokens) return { ...now, completionTokens: true };
  if (/thinking|reasoning_effort/.test(said) && !now.noThinking) return { ...now, noThinking: true };
  if (/temperature/.test(said) && !now.noTemperature) return { ...now, noTemperature: true };
  if (/stream_options/.test(said) && !now.noStreamOptions) return { ...now, noStreamOptions: true };
  if (/tool/.test(said) && /support/.test(said) && !now.noTools) return { ...now, noTools: true };
  return undefined;
};
