/**
 * Forty providers speak `the same` protocol and refuse different parts of it. A 400 that names a
 * parameter is answered by leaving that parameter out, once, and remembering it for that model.
 * What the caller asked for is never left out: then the call ends, and the parameter is named.
 */
import type { DriverTarget, ModelRequest } from '../contract.js';
import { ModelFailure } from '../call/model-failure.js';
import { namedIn, type ParameterName } from '../call/parameters.js';

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
  run(target: DriverTarget, request: Pick<ModelRequest, 'parameters'>, ask: (adaptation: Adaptation) => Promise<void>): Promise<void>;
}

export const createAdaptations = (initial: (target: DriverTarget) => Adaptation): Adaptations => {
  const remembered = new Map<string, Adaptation>();
  return {
    run: async (target, { parameters }, ask) => {
      const key = `${target.provider}\n${target.model}`;
      for (let resends = 0; ; resends++) {
        const adaptation = remembered.get(key) ?? initial(target);
        if (adaptation.noTemperature && parameters?.temperature !== undefined) throw refused('temperature', 'the model takes only its own', undefined);
        try {
          await ask(adaptation);
          return;
        } catch (error) {
          if (!(error instanceof ModelFailure) || error.httpStatus !== 400) throw error;
          const next = resends < MAX_RESENDS ? adapted(adaptation, error.message) : undefined;
          const parameter = namedIn(error.message, parameters);
          // A model that takes one of temperature and top_p is asked without the agent's temperature.
          const givesWay = next?.noTemperature === true && !adaptation.noTemperature && parameter !== 'temperature';
          if (parameter !== undefined && !givesWay) throw refused(parameter, error.message, error);
          if (!next) throw error;
          if (remembered.size >= MAX_REMEMBERED) remembered.clear();
          remembered.set(key, next);
        }
      }
    },
  };
};

const refused = (parameter: ParameterName, why: string, cause: ModelFailure | undefined): ModelFailure =>
  new ModelFailure('bad_request', why, { parameter, ...(cause === undefined ? {} : { httpStatus: cause.httpStatus, cause }) });

/** What to leave out next; undefined when the refusal names nothing that can be. */
const adapted = (now: Adaptation, said: string): Adaptation | undefined => {
  if (/max_completion_tokens/.test(said) && !now.completionTokens) return { ...now, completionTokens: true };
  if (/thinking|reasoning_effort/.test(said) && !now.noThinking) return { ...now, noThinking: true };
  if (/temperature/.test(said) && !now.noTemperature) return { ...now, noTemperature: true };
  if (/stream_options/.test(said) && !now.noStreamOptions) return { ...now, noStreamOptions: true };
  if (/tool/.test(said) && /support/.test(said) && !now.noTools) return { ...now, noTools: true };
  return undefined;
};
