/** A new agent: from a template, by a form, or as text. */
import { address, addressOf, Button, Dialog, daemon, Failure, go, may, notify, PanelBody, PanelHead, setQuery, Shown, signal, Tabs, useDraft, useLoaded, useState, whyNot } from '@svc/kit';
import { changedKeys, EMPTY, faultsOf } from './agent-fields.js';
import { e } from './edit-words.js';
import { FormFields } from './form-fields.js';
import { FromTemplate } from './from-template.js';
import { ManifestEditor, useCheck } from './manifest-editor.js';
import { t } from './words.js';

const WAYS = ['template', 'form', 'text'] as const;
const TAB_WORDS = { template: 'from_template', form: 'by_form', text: 'by_text' } as const;

const SKELETON = `name = ""
description = ""

[model]
system_prompt = """
"""

[capabilities]
tools = []
network = []
`;

/** What a new agent's maker has to be told; it stays until they say that they read it. */
const warned = signal<{ id: string; warnings: readonly string[] } | undefined>(undefined);

export const madeAgent = ({ agent_id, name, warnings = [] }: { agent_id: string; name: string; warnings?: readonly string[] }): void => {
  notify(t('made', { name }));
  if (warnings.length > 0) warned.value = { id: agent_id, warnings };
  else go('agents', [agent_id], { replace: true });
};

const Warned = () => {
  if (warned.value === undefined) return null;
  const { id, warnings } = warned.value;
  const close = (): void => {
    warned.value = undefined;
    go('agents', [id], { replace: true });
  };
  return (
    <Dialog
      title={t('new_agent')}
      onClose={close}
      actions={
        <Button kind="primary" onPress={close}>
          {t('understood')}
        </Button>
      }
    >
      <p>{t('made_warnings')}</p>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Dialog>
  );
};

const ByForm = () => {
  const draft = useDraft('new agent form', { value: EMPTY, version: 0 });
  const [error, setError] = useState<unknown>();
  const [isTried, setTried] = useState(false);
  const faults = faultsOf(draft.value);
  const mayWrite = may('agents.write');
  const make = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(faults).length > 0) return;
    try {
      const made = await daemon.call('spawnAgent', { body: { manifest: changedKeys(EMPTY, draft.value) } });
      draft.drop();
      madeAgent(made);
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <div class="agent-form">
      <FormFields isNew fields={draft.value} faults={isTried ? faults : {}} disabled={!mayWrite} onChange={(change) => draft.change({ ...draft.value, ...change })} />
      {error !== undefined && <Failure title="" error={error} />}
      <div class="agent-save">
        <Button kind="primary" icon="plus" disabled={!mayWrite} title={whyNot('agents.write')} onPress={make}>
          {t('make')}
        </Button>
        {isTried && Object.keys(faults).length > 0 && <span class="wrong-text">{Object.values(faults)[0]}</span>}
      </div>
    </div>
  );
};

const TextEditor = ({ name, text }: { name: string; text: string }) => {
  const draft = useDraft(`new agent text ${name}`, { value: text, version: 0 });
  const isWanted = name !== '' || draft.isDirty;
  const check = useCheck(draft.value, undefined, isWanted);
  const [error, setError] = useState<unknown>();
  const make = async (): Promise<void> => {
    try {
      const made = await daemon.call('spawnAgent', { body: { manifest_toml: draft.value } });
      draft.drop();
      madeAgent(made);
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <div class="agent-form of-text">
      <p class="muted">{t('name_in_text')}</p>
      <ManifestEditor value={draft.value} onValue={draft.change} hint={e('text_hint_new')} check={check} isWanted={isWanted} disabled={!may('agents.write')} />
      {error !== undefined && <Failure title="" error={error} />}
      <div class="agent-save">
        <Button kind="primary" icon="plus" disabled={!may('agents.write') || check.answer?.ok !== true} title={whyNot('agents.write')} onPress={make}>
          {t('make')}
        </Button>
      </div>
    </div>
  );
};

const ByText = ({ template = '' }: { template: string | undefined }) => {
  const text = useLoaded(`text of template ${template}`, async (signal) => (template === '' ? SKELETON : daemon.call('getTemplateToml', { name: template }, { signal })));
  return <Shown of={text}>{(data) => <TextEditor key={template} name={template} text={data} />}</Shown>;
};

export const NewAgent = () => {
  const { by, template } = address.value.query;
  const way = WAYS.find((one) => one === by) ?? 'template';
  return (
    <>
      <PanelHead title={t('new_agent')} note={t('new_note')} back={{ href: addressOf('agents'), label: t('back') }} />
      <PanelBody>
        <Tabs label={t('how')} chosen={way} onChoose={(id) => setQuery({ by: id === 'template' ? undefined : id, template: undefined })} tabs={WAYS.map((id) => ({ id, label: t(TAB_WORDS[id]) }))}>
          {way === 'template' && <FromTemplate template={template} onMade={madeAgent} />}
          {way === 'form' && <ByForm />}
          {way === 'text' && <ByText template={template} />}
        </Tabs>
      </PanelBody>
      <Warned />
    </>
  );
};
