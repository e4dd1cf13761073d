/** The model that answers, switched where one conversations. */
import { daemon, failed, Icon, notify, useState } from '@svc/kit';
import type { Agent, ModelChoice } from './agents.js';
import { t } from './words.js';

interface ModelSwitchProps {
  readonly agent: Agent;
  readonly own: ModelChoice | undefined;
  readonly mayWrite: boolean;
  readonly onConversation: (model: ModelChoice | undefined) => Promise<void>;
}

/** What it opens is loaded when somebody wants it. */
export const ModelSwitch = ({ agent, own, mayWrite, onConversation }: ModelSwitchProps) => {
  const [code, setCode] = useState<typeof import('./model-picker.js')>();
  const onAgent = async (choice: ModelChoice): Promise<void> => {
    const { provider, model } = await daemon.call('setAgentModel', { id: agent.id, body: choice });
    notify(t('model_set', { agent: agent.name, model: model === 'default' ? t('model_default_name') : `${provider}/${model}` }));
  };
  return (
    <>
      <button type="button" class="button quiet model-button" title={t('model')} aria-haspopup="dialog" onClick={() => void import('./model-picker.js').then(setCode, failed)}>
        <Icon name="cpu" size={16} />
        <span class="off-screen">{t('model')}: </span>
        <span class="cut model-name">{own?.model ?? agent.model_name}</span>
        <Icon name="chevron-down" size={14} />
      </button>
      {code && <code.ModelPicker agent={agent} own={own} mayWrite={mayWrite} onConversation={onConversation} onAgent={onAgent} onClose={() => setCode(undefined)} />}
    </>
  );
};
