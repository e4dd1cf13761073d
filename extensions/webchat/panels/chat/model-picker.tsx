/** Which model answers: found by its name, for this conversation or for the agent. */
import { Button, daemon, Dialog, failed, Failure, Icon, Loading, type OutputOf, useEffect, useId, useLoaded, useRef, useState } from '@svc/kit';
import type { Agent, ModelChoice } from './agents.js';
import { modelFacts } from './model-facts.js';
import { dialogWords } from './model-picker-words.js';
import { t } from './words.js';

type Model = OutputOf<'listModels'>['models'][number];
/** One that is not in the catalog has its names alone. */
type Listed = Model | Pick<Model, 'id' | 'provider' | 'display_name'>;

const MAX_SHOWN = 60;

export interface ModelPickerProps {
  readonly agent: Agent;
  /** Of this conversation; undefined where the agent's own model answers. */
  readonly own: ModelChoice | undefined;
  readonly mayWrite: boolean;
  readonly onConversation: (model: ModelChoice | undefined) => Promise<void>;
  readonly onAgent: (model: ModelChoice) => Promise<void>;
  readonly onClose: () => void;
}

/** Those that can answer now: of providers that have a key, or that run. */
const usableModels = async (signal: AbortSignal): Promise<readonly Model[]> => {
  const [{ models }, { providers }] = await Promise.all([daemon.call('listModels', { available: true }, { signal }), daemon.call('listProviders', {}, { signal })]);
  const running = new Set(providers.filter(({ available }) => available).map(({ name }) => name));
  return models.filter(({ provider }) => running.has(provider));
};

const found = (models: readonly Listed[], typed: string): readonly Listed[] => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(({ id, display_name, provider }) => wanted.every((word) => `${provider} ${id} ${display_name}`.toLowerCase().includes(word))).slice(0, MAX_SHOWN);
};

export const ModelPicker = ({ agent, own, mayWrite, onConversation, onAgent, onClose }: ModelPickerProps) => {
  const { data: usable, error, reload } = useLoaded('usable models', usableModels, ['models', 'provider']);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [isForAgent, setForAgent] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const present = !isForAgent && own ? own : { provider: agent.model_provider, model: agent.model_name };
  const isPresent = (model: Listed): boolean => model.provider === present.provider && model.id === present.model;
  // One that is not in the catalog is listed all the same where it answers.
  const all: readonly Listed[] | undefined = usable?.some(isPresent) ? usable : usable && [{ id: present.model, provider: present.provider, display_name: present.model }, ...usable];
  const models = found(all ?? [], typed);
  // It begins with the present one.
  useEffect(() => {
    const present = (all ?? []).slice(0, MAX_SHOWN).findIndex(isPresent);
    if (present === -1) return;
    setAt(present);
    requestAnimationFrame(() => list.current?.children[present]?.scrollIntoView({ block: 'nearest' }));
  }, [usable]);
  const apply = async (model: ModelChoice): Promise<void> => {
    await (isForAgent ? onAgent(model) : onConversation(model));
    onClose();
  };
  const choose = (model: Listed | undefined): void => {
    if (model && mayWrite) apply({ provider: model.provider, model: model.id }).catch(failed);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = (at + step + models.length) % Math.max(1, models.length);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      choose(models[at]);
    }
  };
  const backToAgent = own && !isForAgent;
  return (
    <Dialog
      title={t('model')}
      onClose={onClose}
      actions={
        <Button
          disabled={!mayWrite}
          onPress={async () => {
            await (backToAgent ? onConversation(undefined) : onAgent({ provider: 'default', model: 'default' }));
            onClose();
          }}
        >
          {dialogWords(backToAgent ? 'model_of_agent' : 'model_default')}
        </Button>
      }
    >
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={models[at] ? `${id}-${at}` : undefined}
        aria-label={dialogWords('model_search')}
        placeholder={dialogWords('model_search')}
        value={typed}
        spellcheck={false}
        autofocus
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <fieldset class="row wrap model-scope">
        <legend class="off-screen">{dialogWords('model_for')}</legend>
        {[false, true].map((ofAgent) => (
          <label key={String(ofAgent)} class="row">
            <input type="radio" name={`${id}-for`} checked={isForAgent === ofAgent} onChange={() => setForAgent(ofAgent)} />
            {ofAgent ? dialogWords('model_for_agent', { name: agent.name }) : dialogWords('model_for_conversation')}
          </label>
        ))}
      </fieldset>
      <div class="palette" role="listbox" id={id} aria-label={t('model')} ref={list}>
        {models.map((model, index) => (
          <div
            key={`${model.provider} ${model.id}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            aria-current={isPresent(model) ? 'true' : undefined}
            aria-disabled={!mayWrite}
            class="palette-row"
            onClick={() => choose(model)}
          >
            <span class="check-mark">{isPresent(model) && <Icon name="check" size={16} />}</span>
            <span class="grow">
              {model.display_name} <span class="muted small-text">{'context_window' in model ? modelFacts(model) : ''}</span>
            </span>
            <span class="muted small-text">{model.provider}</span>
            {isPresent(model) && <span class="off-screen">{dialogWords('model_present')}</span>}
          </div>
        ))}
      </div>
      {!all && (error === undefined ? <Loading /> : <Failure error={error} onRetry={reload} />)}
      {all && models.length === 0 && <p class="muted">{all.length === 0 ? dialogWords('no_models') : t('search_none')}</p>}
    </Dialog>
  );
};
