/** What a model said, as the parts of an answer: its calls, and what its provider wants back. */
import { type Ids, isTable } from '@svc/api';
import type { ModelAnswer, ProviderState } from '../contract.js';
import type { Said } from './said.js';

type Who = Pick<ProviderState, 'provider' | 'model'>;

/** More than that is not stored: no provider asks for it. */
const MAX_STATE_CHARS = 2_000_000;

/** The parsed arguments of each tool call; what is not JSON is said, not guessed. */
export const callsOf = (said: Said, ids: Ids, who: Who): ModelAnswer['calls'] =>
  said.calls.map(({ id: given, name, argsText, signature, state }, index) => {
    // Small servers leave the id out; results are paired by it, so it gets one.
    const id = given === '' ? `call_${ids.hex(10)}` : given;
    const head = { id, name, ...(signature === undefined ? {} : { signature }), ...ofCall(state, who) };
    const isCut = said.stop === 'length' && index === said.calls.length - 1;
    if (argsText.trim() === '') return isCut ? { ...head, args: null, argsError: cutText(name) } : { ...head, args: {} };
    try {
      return { ...head, args: unwrapped(JSON.parse(argsText)) };
    } catch {
      return { ...head, args: null, argsError: isCut ? cutText(name) : `The arguments of ${name} are not JSON: ${argsText.slice(0, 200)}` };
    }
  });

const cutText = (name: string): string => `The answer reached its limit of tokens in the middle of the arguments of ${name}, so nothing was run. Write less in one call`;

/** Some models write the arguments as a text that holds the JSON. */
const unwrapped = (args: unknown): unknown => {
  if (typeof args !== 'string') return args;
  try {
    const inner: unknown = JSON.parse(args);
    return isTable(inner) ? inner : args;
  } catch {
    return args;
  }
};

const ofCall = (call: Said['state'], who: Who): { state?: ProviderState } => (call === undefined || isTooMuch(call) ? {} : { state: { provider: who.provider, model: who.model, call } });

export const stateOf = ({ state }: Said, who: Who): { state?: ProviderState } =>
  state === undefined || isTooMuch(state) ? {} : { state: { provider: who.provider, model: who.model, message: state } };

const isTooMuch = (state: Readonly<Record<string, unknown>>): boolean => JSON.stringify(state).length > MAX_STATE_CHARS;
