/** The field for a setting, by the kind that its schema gives it. */
import { CheckField, Select, TextArea, TextField } from '@svc/kit';
import { EntriesField } from './entries-field.js';
import { kindOf, type Schema, type Typed } from './schema.js';
import { tomlValue } from './toml.js';
import { t } from './words.js';

export interface SettingFieldProps {
  readonly schema: Schema;
  readonly label: string;
  readonly hint?: string;
  /** Null while it goes back to its default. */
  readonly typed: Typed;
  /** What it holds at its default. */
  readonly usual: Typed;
  readonly error?: string | undefined;
  readonly isOpen: boolean;
  readonly onType: (typed: Typed) => void;
}

export const shownText = (value: unknown): string => (value === '' || (Array.isArray(value) && value.length === 0) ? t('empty') : typeof value === 'string' ? value : tomlValue(value));

export const SettingField = ({ schema, label, hint, typed, usual, error, isOpen, onType }: SettingFieldProps) => {
  const held = typed ?? usual ?? '';
  const common = { label, error, ...(hint === undefined ? {} : { hint }) };
  const kind = kindOf(schema);
  if (kind === 'switch')
    return (
      <>
        <CheckField isSwitch label={label} hint={hint} value={held === true} disabled={!isOpen} onValue={onType} />
        {error && (
          <p class="wrong-text" role="alert">
            {error}
          </p>
        )}
      </>
    );
  if (kind === 'entries') return <EntriesField {...common} schema={schema} rows={Array.isArray(held) ? held : []} isOpen={isOpen} onRows={onType} />;
  const text = String(held);
  if (kind === 'choice') {
    const choices = (schema.enum ?? []).map((one) => ({ value: String(one), label: String(one) }));
    return <Select {...common} value={text} disabled={!isOpen} onValue={onType} options={schema.default === undefined ? [{ value: '', label: t('unset') }, ...choices] : choices} />;
  }
  if (kind === 'lines')
    return (
      <TextArea
        {...common}
        hint={[t('one_per_line'), hint].filter(Boolean).join(' ')}
        isCode
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        disabled={!isOpen}
        onValue={onType}
      />
    );
  return <TextField {...common} value={text} disabled={!isOpen} onValue={onType} />;
};
