/** A list of tables, such as the providers to fall back to: each entry with a field for each of its names. */
import { Button, type ComponentChildren, IconButton } from '@svc/kit';
import { kindOf, type Schema, titled } from './schema.js';
import type { Typed, TypedRow } from './typed.js';
import { t } from './part-words.js';

/** The field for one name of an entry. */
export interface EntryPart {
  readonly schema: Schema;
  readonly label: string;
  readonly hint: string | undefined;
  readonly typed: Typed;
  readonly isOpen: boolean;
  readonly onType: (typed: Typed) => void;
}

export const EntriesField = ({
  Field,
  label,
  hint,
  error,
  schema,
  rows,
  isOpen,
  hides,
  onRows,
}: {
  /** Draws one: an entry may hold a list itself. */
  Field: (part: EntryPart) => ComponentChildren;
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  schema: Schema;
  rows: readonly TypedRow[];
  isOpen: boolean;
  /** Fields that have no input here, by name; what they hold stays. */
  hides: ((name: string) => boolean) | undefined;
  onRows: (rows: readonly TypedRow[]) => void;
}) => {
  const fields = Object.entries(schema.items?.properties ?? {}).filter(([name]) => !hides?.(name));
  const put = (index: number, name: string, value: Typed): void => onRows(rows.map((row, at) => (at === index ? { ...row, [name]: value } : row)));
  const up = (index: number): void => onRows(rows.map((row, at) => (at === index - 1 ? (rows[index] ?? row) : at === index ? (rows[index - 1] ?? row) : row)));
  return (
    <fieldset class="field form-entries">
      <legend class="field-name">{label}</legend>
      {hint && <p class="muted small-text">{hint}</p>}
      {rows.length === 0 && <p class="muted">{t('no_entries')}</p>}
      {rows.map((row, index) => (
        <div key={index} class="form-entry" role="group" aria-label={t('entry', { number: index + 1 })}>
          <div class="row">
            <strong class="grow">{t('entry', { number: index + 1 })}</strong>
            {isOpen && index > 0 && <IconButton small icon="arrow-up" label={t('move_up', { number: index + 1 })} onPress={() => up(index)} />}
            {isOpen && <IconButton small kind="danger" icon="trash-2" label={t('remove_entry', { number: index + 1 })} onPress={() => onRows(rows.filter((_, at) => at !== index))} />}
          </div>
          {fields.map(([name, part]) => (
            <Field
              key={name}
              schema={part}
              label={titled(name)}
              hint={part.description}
              typed={row[name] ?? (kindOf(part) === 'switch' ? false : '')}
              isOpen={isOpen}
              onType={(typed) => put(index, name, typed)}
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
