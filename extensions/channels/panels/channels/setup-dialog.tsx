/** Setting a channel up: its steps, its fields, and those that few people need. */
import { daemon, FormDialog, notify, type OutputOf, Select, TextField, useState } from '@svc/kit';
import { stepsOf } from './steps.js';
import { t } from './words.js';

export type Channel = OutputOf<'listChannels'>['channels'][number];
type Field = Channel['fields'][number];

const LONG_MS = 30_000;

const textOf = ({ value }: Field): string => (Array.isArray(value) ? value.join(', ') : value === undefined ? '' : String(value));

export const SetupDialog = ({ channel, onDone, onClose }: { channel: Channel; onDone: () => void; onClose: () => void }) => {
  const [values, setValues] = useState<Readonly<Record<string, string>>>(Object.fromEntries(channel.fields.map((field) => [field.key, textOf(field)])));
  const set = (key: string, value: string): void => setValues({ ...values, [key]: value });
  const submit = async (): Promise<void> => {
    const fields = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''));
    const { note } = await daemon.call('configureChannel', { name: channel.name, body: { fields } }, { timeoutMs: LONG_MS });
    notify(t('saved', { note }));
    onDone();
  };
  const isComplete = channel.fields.every(({ key, required, has_value: has, type }) => !required || (values[key] ?? '').trim() !== '' || (type === 'secret' && has));
  const shown = (isAdvanced: boolean) =>
    channel.fields
      .filter(({ advanced }) => advanced === isAdvanced)
      .map((field) => <FieldInput key={field.key} field={field} value={values[field.key] ?? ''} onValue={(value) => set(field.key, value)} />);
  return (
    <FormDialog title={t(channel.configured ? 'change_named' : 'set_up_named', { name: channel.display_name })} action={t('save')} onSubmit={submit} onClose={onClose} canSubmit={isComplete}>
      <ol>
        {stepsOf(channel).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {shown(false)}
      <details>
        <summary>{t('advanced')}</summary>
        {shown(true)}
      </details>
    </FormDialog>
  );
};

const FieldInput = ({ field: { label, type, required, has_value: has, options }, value, onValue }: { field: Field; value: string; onValue: (value: string) => void }) => {
  if (type === 'select') return <Select label={label} value={value} onValue={onValue} options={['', ...(options ?? [])].map((one) => ({ value: one, label: one === '' ? '–' : one }))} />;
  const hint = type === 'secret' && has ? t('stored') : type === 'list' ? t('list_hint') : undefined;
  return (
    <TextField label={label} type={type === 'secret' ? 'password' : 'text'} autocomplete="off" value={value} onValue={onValue} isNeeded={required && !has} {...(hint === undefined ? {} : { hint })} />
  );
};
