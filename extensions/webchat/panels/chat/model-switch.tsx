/** The model that answers, switched where one conversations. */
import { daemon, failed, Icon, Menu, type MenuItem, notify, useEffect, useLoaded } from '@svc/kit';
import type { Agent } from './agents.js';
import { whenQuiet } from './later.js';
import { t } from './words.js';

const MAX_SHOWN = 60;

export const ModelSwitch = ({ agent, mayWrite }: { agent: Agent; mayWrite: boolean }) => {
  const models = useLoaded('usable models', (signal) => whenQuiet().then(() => daemon.call('listModels', { available: true }, { signal })), ['models', 'provider']);
  const choose = async (provider: string, model: string, name: string): Promise<void> => {
    await daemon.call('setAgentModel', { id: agent.id, body: { provider, model } });
    notify(t('model_set', { agent: agent.name, model: name }));
  };
  useEffect(() => {
    if (models.error !== undefined && models.data === undefined) failed(models.error);
  }, [models.error]);
  const all = models.data?.models ?? [];
  const items: MenuItem[] = all.slice(0, MAX_SHOWN).map((model) => ({
    id: `${model.provider} ${model.id}`,
    label: `${model.display_name} · ${model.provider}`,
    isChosen: model.provider === agent.model_provider && model.id === agent.model_name,
    disabled: !mayWrite,
    onChoose: () => choose(model.provider, model.id, model.display_name),
  }));
  return (
    <Menu label={t('model')} align="start" items={items.length > 0 ? items : [{ id: 'none', label: t('no_models'), disabled: true, onChoose: () => undefined }]}>
      <Icon name="cpu" size={16} />
      <span class="cut model-name">{agent.model_name}</span>
      <Icon name="chevron-down" size={14} />
    </Menu>
  );
};
