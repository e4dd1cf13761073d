/** What a model costs, how much it reads at once, and what it can, in one line. */
import { count, money, type OutputOf } from '@svc/kit';
import { dialogWords } from './model-picker-words.js';

type Model = Pick<
  OutputOf<'listModels'>['models'][number],
  'context_window' | 'input_cost_per_1m' | 'output_cost_per_1m' | 'pricing_known' | 'supports_tools' | 'supports_vision' | 'supports_thinking'
>;

const priceOf = ({ input_cost_per_1m: read, output_cost_per_1m: written, pricing_known: isKnown }: Model): string => {
  if (!isKnown) return dialogWords('price_unknown');
  return read === 0 && written === 0 ? dialogWords('price_free') : dialogWords('price', { read: money(read), written: money(written) });
};

export const modelFacts = (model: Model): string => {
  const abilities = [
    ...(model.supports_tools ? [dialogWords('can_tools')] : []),
    ...(model.supports_vision ? [dialogWords('can_see')] : []),
    ...(model.supports_thinking === true ? [dialogWords('can_think')] : []),
  ];
  return [priceOf(model), dialogWords('window', { tokens: count(model.context_window) }), ...abilities].join(' · ');
};
