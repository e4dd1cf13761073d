/** Describes a model: new, or otherwise than the catalog does. */
import { CheckField, count, daemon, FormDialog, type InputOf, notify, Select, TextField, useLoaded, useState } from '@svc/kit';
import type { Model } from './model-table.js';
import { t } from './words.js';

const DEFAULT_WINDOW = 128_000;
const DEFAULT_OUTPUT = 8_192;

type Draft = Record<'id' | 'provider' | 'display_name' | 'context_window' | 'max_output_tokens' | 'input' | 'output' | 'wire_id', string>;

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value));

const draftOf = (given: Partial<Model>): Draft => ({
  id: given.id ?? '',
  provider: given.provider ?? '',
  display_name: given.display_name ?? '',
  context_window: numberText(given.context_window),
  max_output_tokens: numberText(given.max_output_tokens),
  input: given.pricing_known ? numberText(given.input_cost_per_1m) : '',
  output: given.pricing_known ? numberText(given.output_cost_per_1m) : '',
  wire_id: given.wire_id ?? '',
});

const whole = (text: string): string | undefined => (/^\d*$/.test(text.trim()) ? undefined : t('wrong_whole'));
const decimal = (text: string): string | undefined => (/^\d*(\.\d+)?$/.test(text.trim()) ? undefined : t('wrong_number'));

const filled = <K extends string>(name: K, text: string): Partial<Record<K, string>> => (text.trim() === '' ? {} : ({ [name]: text.trim() } as Record<K, string>)); // of that one name
const numbered = <K extends string>(name: K, text: string): Partial<Record<K, number>> => (text.trim() === '' ? {} : ({ [name]: Number(text) } as Record<K, number>)); // of that one name

/** Prices that the form does not show stay what they are, where there are any beside them. */
const furtherOf = (given: Partial<Model>, draft: Draft): Pick<Model, 'cache_read_cost_per_1m' | 'cache_write_cost_per_1m' | 'context_tiers' | 'image_tokens'> => {
  if (draft.input.trim() === '' || draft.output.trim() === '') return {};
  const { cache_read_cost_per_1m, cache_write_cost_per_1m, context_tiers, image_tokens } = given;
  return {
    ...(cache_read_cost_per_1m === undefined ? {} : { cache_read_cost_per_1m }),
    ...(cache_write_cost_per_1m === undefined ? {} : { cache_write_cost_per_1m }),
    ...(context_tiers === undefined ? {} : { context_tiers }),
    ...(image_tokens === undefined ? {} : { image_tokens }),
  };
};

const bodyOf = (given: Partial<Model>, draft: Draft, tools: boolean, vision: boolean): InputOf<'createCustomModel'>['body'] => ({
  ...furtherOf(given, draft),
  id: draft.id.trim(),
  provider: draft.provider,
  ...filled('display_name', draft.display_name),
  ...filled('wire_id', draft.wire_id),
  ...numbered('context_window', draft.context_window),
  ...numbered('max_output_tokens', draft.max_output_tokens),
  ...numbered('input_cost_per_1m', draft.input),
  ...numbered('output_cost_per_1m', draft.output),
  supports_tools: tools,
  supports_vision: vision,
});

export const CustomModelForm = ({ given, onClose, onDone }: { given: Partial<Model>; onClose: () => void; onDone: () => void }) => {
  const providers = useLoaded('providers to choose', (signal) => daemon.call('listProviders', {}, { signal }));
  const [draft, setDraft] = useState(() => draftOf(given));
  const [tools, setTools] = useState(given.supports_tools ?? true);
  const [vision, setVision] = useState(given.supports_vision ?? false);
  const field = (name: keyof Draft) => ({ value: draft[name], onValue: (value: string) => setDraft((now) => ({ ...now, [name]: value })) });
  const wrong = { context_window: whole(draft.context_window), max_output_tokens: whole(draft.max_output_tokens), input: decimal(draft.input), output: decimal(draft.output) };
  const canSubmit = draft.id.trim() !== '' && draft.provider !== '' && Object.values(wrong).every((one) => one === undefined);
  const save = async (): Promise<void> => {
    const made = await daemon.call('createCustomModel', { body: bodyOf(given, draft, tools, vision) });
    notify([t('model_added', { name: made.id }), made.warning].filter(Boolean).join(' '));
    onDone();
  };
  const names = (providers.data?.providers ?? []).filter(({ wire }) => wire !== 'unsupported' && wire !== 'builtin');
  return (
    <FormDialog title={t('add_model')} action={t('add')} canSubmit={canSubmit} onSubmit={save} onClose={onClose}>
      <TextField label={t('id')} hint={t('id_hint')} required autofocus maxLength={200} {...field('id')} />
      <Select label={t('provider')} options={[{ value: '', label: '…' }, ...names.map((one) => ({ value: one.name, label: one.display_name }))]} {...field('provider')} />
      <TextField label={t('display_name')} maxLength={200} {...field('display_name')} />
      <div class="models-two">
        <TextField label={t('context_long')} hint={t('default_hint', { value: count(DEFAULT_WINDOW) })} error={wrong.context_window} {...field('context_window')} />
        <TextField label={t('output_long')} hint={t('default_hint', { value: count(DEFAULT_OUTPUT) })} error={wrong.max_output_tokens} {...field('max_output_tokens')} />
        <TextField label={t('price_in_long')} error={wrong.input} {...field('input')} />
        <TextField label={t('price_out_long')} error={wrong.output} {...field('output')} />
      </div>
      <p class="muted small-text">{t('price_hint')}</p>
      <CheckField label={t('can_tools')} value={tools} onValue={setTools} />
      <CheckField label={t('can_images')} value={vision} onValue={setVision} />
      <TextField label={t('wire_id')} hint={t('wire_id_hint')} maxLength={200} {...field('wire_id')} />
    </FormDialog>
  );
};
