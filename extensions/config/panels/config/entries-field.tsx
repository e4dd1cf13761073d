/** A list of tables, such as the providers to fall back to: each entry with a field for each of its names. */
import { Button, IconButton } from '@svc/kit';
import { kindOf, type Schema, titled } from './schema.js';
import { SettingField } from './setting-field.js';
import { t } from './words.js';

type Row = Readonly<Record<string, string | boolean>>;

/** These say where a secret is, and a person writes them into the file. */
const isForPeople = (name: string): boolean => /(^|_)(key|token|secret|password|pass|passphrase|credentials?|env)$/i.test(name);

export const EntriesField = ({
  label,
  hint,
  error,
  schema,
  rows,
  isOpen,
  onRows,
}: {
  label: string;
  hint?: string;
  error?: string | undefined;
  schema: Schema;
  rows: readonly Row[];
  isOpen: boolean;
  onRows: (rows: readonly Row[]) => void;
}) => {
  const fields = Object.entries(schema.items?.properties ?? {}).filter(([name]) => !isForPeople(name));
  const put = (index: number, name: string, value: string | boolean): void => onRows(rows.map((row, at) => (at === index ? { ...row, [name]: value } : row)));
  const up = (index: number): void => onRows(rows.map((row, at) => (at === index - 1 ? (rows[index] ?? row) : at === index ? (rows[index - 1] ?? row) : row)));
  return (
    <fieldset class="field config-entries">
      <legend class="config-name">{label}</legend>
      {hint && <p class="muted small-text">{hint}</p>}
      {rows.length === 0 && <p class="muted">{t('no_entries')}</p>}
      {rows.map((row, index) => (
        <div key={index} class="config-entry" role="group" aria-label={t('entry', { number: index + 1 })}>
          <div class="row">
            <strong class="grow">{t('entry', { number: index + 1 })}</strong>
            {isOpen && index > 0 && <IconButton small icon="arrow-up" label={t('move_up', { number: index + 1 })} onPress={() => up(index)} />}
            {isOpen && <IconButton small kind="danger" icon="trash-2" label={t('remove_entry', { number: index + 1 })} onPress={() => onRows(rows.filter((_, at) => at !== index))} />}
          </div>
          {fields.map(([name, part]) => (
            <SettingField
              key={name}
              schema={part}
              label={titled(name)}
              {...(part.description === undefined ? {} : { hint: part.description })}
              typed={row[name] ?? (kindOf(part) === 'switch' ? false : '')}
              usual=""
              isOpen={isOpen}
              onType={(typed) => (typeof typed === 'string' || typeof typed === 'boolean') && put(index, name, typed)}
            />
          ))}
        </div>
      ))}
      {isOpen && (
        <div>
          <Button small icon="plus" onPress={() => onRows([...rows, {}])}>
            {t('add_entry')}
          </Button>
        </div>
      )}
      {error && (
        <p class="wrong-text" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
};
