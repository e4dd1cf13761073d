/** A workflow from a template: which one, its agent, and a value for each parameter. */
import { daemon, FormDialog, language, notify, type OutputOf, Select, TextArea, TextField, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

type Template = OutputOf<'listWorkflowTemplates'>['templates'][number];

const wordsOf = ({ name, description, i18n }: Template) => (language.value.startsWith('zh') ? (i18n.zh ?? { name, description }) : { name, description });

export const TemplateForm = ({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) => {
  const found = useLoaded('workflow templates', (signal) => daemon.call('listWorkflowTemplates', {}, { signal }));
  const agents = useLoaded('agents of templates', (signal) => daemon.call('listAgents', {}, { signal }));
  const [id, setId] = useState('');
  const [agent, setAgent] = useState('');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const templates = found.data?.templates ?? [];
  const chosen = templates.find((one) => one.id === id) ?? templates[0];
  const names = agents.data?.agents.map(({ name }) => ({ value: name, label: name })) ?? [];
  const missing = chosen?.parameters.some(({ name, required }) => required && (values[name] ?? '').trim() === '') ?? true;
  const create = async (): Promise<void> => {
    if (chosen === undefined) return;
    const given = Object.fromEntries(chosen.parameters.flatMap(({ name }) => ((values[name] ?? '') === '' ? [] : [[name, values[name] ?? '']])));
    await daemon.call('instantiateWorkflowTemplate', { id: chosen.id, body: { ...(agent === '' ? {} : { agent }), ...given } });
    notify(t('made'));
    onSaved();
    onClose();
  };
  return (
    <FormDialog title={t('from_template')} action={t('save')} onSubmit={create} onClose={onClose} canSubmit={!missing} wide>
      <Select
        label={t('template')}
        hint={chosen && wordsOf(chosen).description}
        value={chosen?.id ?? ''}
        onValue={setId}
        options={templates.map((one) => ({ value: one.id, label: wordsOf(one).name }))}
      />
      {chosen !== undefined && !chosen.is_own && <Select label={t('agent')} value={agent} onValue={setAgent} options={names} />}
      {chosen?.parameters.map(({ name, description, required, default: usual }) => {
        const shared = { label: description === '' ? name : description, value: values[name] ?? '', onValue: (value: string) => setValues({ ...values, [name]: value }), isNeeded: required };
        return required ? <TextArea key={name} {...shared} rows={3} /> : <TextField key={name} {...shared} placeholder={usual ?? ''} />;
      })}
    </FormDialog>
  );
};
