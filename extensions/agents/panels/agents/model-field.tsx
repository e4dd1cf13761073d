/** Which model answers, of those that can be asked now. */
import { daemon, type Option, Select, useLoaded, useMemo } from '@svc/kit';
import { DEFAULT_MODEL, modelOf, modelText } from './agent-fields.js';
import { e } from './edit-words.js';

export const ModelField = ({ value, onValue, disabled, pinned }: { value: string; onValue: (value: string) => void; disabled: boolean; pinned?: boolean }) => {
  const models = useLoaded('usable models', (signal) => daemon.call('listModels', { available: true }, { signal }), ['models', 'provider']);
  const options = useMemo((): Option[] => {
    const usable = (models.data?.models ?? []).map((model) => ({ value: modelText({ provider: model.provider, model: model.id }), label: `${model.display_name} · ${model.provider}` }));
    const all = [{ value: DEFAULT_MODEL, label: e('model_default') }, ...usable.sort((one, other) => one.label.localeCompare(other.label))];
    if (all.some((one) => one.value === value)) return all;
    const { provider, model } = modelOf(value);
    const own = `${model} · ${provider}`;
    return [{ value, label: models.data ? e('model_unusable', { model: own }) : own }, ...all];
  }, [models.data, value]);
  return (
    <Select
      label={e('model')}
      hint={pinned ? e('model_pinned') : models.error !== undefined && !models.data ? e('models_failed') : e('model_hint')}
      value={value}
      onValue={onValue}
      options={options}
      disabled={disabled || pinned === true}
    />
  );
};
