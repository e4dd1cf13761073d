/** What a provider wants back goes to that provider and model alone: another one would refuse it, or learn what is not its own. */
import type { ContentPart, ModelMessage, ProviderState } from '../contract.js';

type Who = Pick<ProviderState, 'provider' | 'model'>;

/** Copies by message, so that what is made of one is made once. */
const copies = new WeakMap<ModelMessage, { readonly who: string; readonly copy: ModelMessage }>();

/** The messages without what belongs to others. Those that hold nothing of others stay the same objects. */
export const withOwnState = (messages: readonly ModelMessage[], who: Who): ModelMessage[] =>
  messages.map((message) => (message.parts.some((part) => isForeign(part, who)) ? copyOf(message, who) : message));

const isForeign = (part: ContentPart, { provider, model }: Who): boolean => 'state' in part && part.state !== undefined && (part.state.provider !== provider || part.state.model !== model);

const copyOf = (message: ModelMessage, who: Who): ModelMessage => {
  const name = `${who.provider}\n${who.model}`;
  const known = copies.get(message);
  if (known?.who === name) return known.copy;
  const parts = message.parts.map((part) => (isForeign(part, who) ? withoutState(part) : part));
  const copy = Object.freeze({ role: message.role, parts });
  copies.set(message, { who: name, copy });
  return copy;
};

const withoutState = (part: ContentPart): ContentPart => {
  if (!('state' in part)) return part;
  const { state: _others, ...rest } = part;
  return rest;
};
