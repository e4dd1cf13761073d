/** The field for a value, by the kind that its schema gives it. */
import { CheckField, Select, TextArea, TextField } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { EntriesField } from './entries-field.js';
import { ReferenceField } from './reference-field.js';
import { type Scalar, type Schema, shapeOf } from './schema.js';
import { isRows, type Typed } from './typed.js';
import { t } from './part-words.js';

export interface SchemaFieldProps {
  readonly schema: Schema;
  readonly label: string;
  readonly hint?: string | undefined;
  /** Null while it goes back to its default. */
  readonly typed: Typed;
  /** What it holds at its default. */
  readonly usual?: Typed;
  readonly error?: string | undefined;
  readonly isOpen?: boolean;
  readonly isNeeded?: boolean;
  readonly autofocus?: boolean;
  /** What a value of a closed set is called; default: itself. */
  readonly choiceLabel?: (value: Scalar) => string;
  /** Of a list of objects: fields that have no input here. */
  readonly hides?: (name: string) => boolean;
  /** Where fields that refer to something find what there is. */
  readonly references?: CollectionView['references'];
  readonly onType: (typed: Typed) => void;
}

const MAX_ROWS = 8;
const LONG_ROWS = 5;
const rowsFor = (text: string, least: number): number => Math.min(MAX_ROWS, Math.max(least, text.split('\n').length));

export const SchemaField = ({
  schema,
  label,
  hint,
  typed,
  usual = '',
  error,
  isOpen = true,
  isNeeded = false,
  autofocus = false,
  choiceLabel = String,
  hides,
  references,
  onType,
}: SchemaFieldProps) => {
  const held = typed ?? usual;
  const { kind, isNullable, choices, schema: own } = shapeOf(schema);
  const common = { label, error, isNeeded, disabled: !isOpen, ...(hint === undefined ? {} : { hint }), ...(autofocus ? { autofocus } : {}) };
  if (kind === 'switch') return <SwitchField label={label} hint={hint} error={error} isOn={held === true} isOpen={isOpen} onType={onType} />;
  if (kind === 'entries')
    return <EntriesField Field={SchemaField} label={label} hint={hint} error={error} schema={own} rows={isRows(held) ? held : []} isOpen={isOpen} hides={hides} onRows={onType} />;
  const text = String(held ?? '');
  if (kind === 'choice') {
    const options = choices.map((one) => ({ value: String(one), label: choiceLabel(one) }));
    const { autofocus: _, ...rest } = common;
    const none = { value: '', label: t(isNeeded && !isNullable ? 'choose' : 'unset') };
    return <Select {...rest} value={text} onValue={onType} options={own.default === undefined || isNullable ? [none, ...options] : options} />;
  }
  if (kind === 'reference' || kind === 'model')
    return <ReferenceField {...common} source={own['x-of'] === undefined ? undefined : references?.[own['x-of']]} isFree={kind === 'model'} none={own['x-none-word']} value={text} onValue={onType} />;
  if (kind === 'secret') return <TextField {...common} type="password" autocomplete="off" value={text} onValue={onType} />;
  if (kind === 'code') return <TextArea {...common} isCode language={own['x-language']} rows={rowsFor(text, LONG_ROWS)} value={text} onValue={onType} />;
  if (kind === 'lines' || kind === 'json')
    return <TextArea {...common} hint={[t(kind === 'lines' ? 'one_per_line' : 'json'), hint].filter(Boolean).join(' ')} isCode rows={rowsFor(text, 2)} value={text} onValue={onType} />;
  if (kind === 'long') return <TextArea {...common} rows={rowsFor(text, LONG_ROWS)} value={text} onValue={onType} />;
  return <TextField {...common} {...inputOf(kind, own)} value={text} onValue={onType} />;
};

const inputOf = (kind: string, { type, format }: Schema): { type?: 'datetime-local' | 'date'; inputMode?: 'numeric' | 'decimal' } => {
  if (kind === 'time') return { type: 'datetime-local' };
  if (kind === 'number') return { inputMode: type === 'integer' ? 'numeric' : 'decimal' };
  return format === 'date' ? { type: 'date' } : {};
};

const SwitchField = ({
  label,
  hint,
  error,
  isOn,
  isOpen,
  onType,
}: {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  isOn: boolean;
  isOpen: boolean;
  onType: (on: boolean) => void;
}) => (
  <>
    <CheckField isSwitch label={label} hint={hint} value={isOn} disabled={!isOpen} onValue={onType} />
    {error && (
      <p class="wrong-text" role="alert">
        {error}
      </p>
    )}
  </>
);
