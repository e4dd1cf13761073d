/** What is filled in. Each field has its label, and says what is wrong with it where it stands. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { kitWords } from '../kit-words.js';
import { ColouredCode, useColours } from './coloured-code.js';
import { Icon } from './icon.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Its name is heard and not seen. */
  readonly bare?: boolean;
  /** Marked as one that must be filled in; whoever reads the form says what is missing. */
  readonly isNeeded?: boolean | undefined;
}

const Field = ({ label, hint, error, bare = false, isNeeded, id, children }: FieldProps & { id: string; children: ComponentChildren }) => (
  <div class={error ? 'field wrong' : 'field'}>
    <label for={id} class={bare ? 'off-screen' : undefined}>
      {label}
      {isNeeded && <span aria-hidden="true"> *</span>}
    </label>
    {children}
    {error ? (
      <p class="wrong-text" id={`${id}-says`} role="alert">
        {error}
      </p>
    ) : (
      hint && (
        <p class="muted small-text" id={`${id}-says`}>
          {hint}
        </p>
      )
    )}
  </div>
);

const reported = (id: string, { hint, error, isNeeded }: FieldProps) => ({
  id,
  'aria-required': isNeeded,
  'aria-invalid': error ? true : undefined,
  'aria-describedby': hint || error ? `${id}-says` : undefined,
});

interface InputProps {
  readonly type?: 'text' | 'password' | 'url' | 'number' | 'email' | 'date' | 'datetime-local';
  readonly inputMode?: 'numeric' | 'decimal';
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly autofocus?: boolean;
  readonly autocomplete?: string;
  readonly name?: string;
  readonly maxLength?: number;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

export const TextField = ({ value, onValue, label, hint, error, bare, isNeeded, type = 'text', ...rest }: FieldProps & InputProps & { value: string; onValue: (value: string) => void }) => {
  const id = useId();
  const field = { label, hint, error, isNeeded, ...(bare ? { bare } : {}) };
  return (
    <Field id={id} {...field}>
      {/* What is typed is text to the page, whichever kind the browser makes of it. */}
      <input class="input" type={type as 'text'} value={value} spellcheck={false} onInput={(event) => onValue(event.currentTarget.value)} {...rest} {...reported(id, field)} />
    </Field>
  );
};

/** Monospaced where it is code, and in colours where its `language` is named (as a fence of Markdown does): a Tab goes in, Escape then Tab leaves it. */
export const TextArea = ({
  value,
  onValue,
  label,
  hint,
  error,
  bare,
  isNeeded,
  isCode = false,
  language,
  rows = 6,
  ...rest
}: FieldProps & { value: string; onValue: (value: string) => void; isCode?: boolean; language?: string | undefined; rows?: number } & Pick<
    InputProps,
    'placeholder' | 'required' | 'disabled' | 'readOnly' | 'onKeyDown' | 'autofocus'
  >) => {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const tree = useColours(value, isCode ? language : undefined);
  const field = { label, hint, error, isNeeded, ...(bare ? { bare } : {}) };
  return (
    <Field id={id} {...field}>
      <div class={tree === undefined ? undefined : 'coloured'}>
        {tree !== undefined && <ColouredCode tree={tree} area={area} />}
        <textarea
          ref={area}
          class={isCode ? 'input code-area' : 'input'}
          rows={rows}
          value={value}
          spellcheck={!isCode}
          wrap={isCode ? 'off' : 'soft'}
          onInput={(event) => onValue(event.currentTarget.value)}
          {...rest}
          {...reported(id, field)}
        />
      </div>
    </Field>
  );
};

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly disabled?: boolean;
}

export const Select = ({
  value,
  onValue,
  options,
  label,
  hint,
  error,
  bare,
  isNeeded,
  disabled,
}: FieldProps & { value: string; onValue: (value: string) => void; options: readonly Option[]; disabled?: boolean }) => {
  const id = useId();
  const field = { label, hint, error, isNeeded, ...(bare ? { bare } : {}) };
  return (
    <Field id={id} {...field}>
      <select class="input" value={value} disabled={disabled} onChange={(event) => onValue(event.currentTarget.value)} {...reported(id, field)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  );
};

export const CheckField = ({
  value,
  onValue,
  label,
  hint,
  disabled,
  isSwitch = false,
}: {
  value: boolean;
  onValue: (value: boolean) => void;
  label: ComponentChildren;
  hint?: ComponentChildren;
  disabled?: boolean;
  isSwitch?: boolean;
}) => {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        role={isSwitch ? 'switch' : undefined}
        class={isSwitch ? 'switch' : undefined}
        checked={value}
        disabled={disabled}
        aria-describedby={hint ? `${id}-says` : undefined}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="muted small-text" id={`${id}-says`}>
          {hint}
        </p>
      )}
    </div>
  );
};

export const SearchField = ({ value, onValue, label, placeholder }: { value: string; onValue: (value: string) => void; label?: string; placeholder?: string }) => (
  <div class="search" role="search">
    <Icon name="search" size={16} />
    <input
      class="input"
      type="search"
      value={value}
      placeholder={placeholder ?? label ?? kitWords('search')}
      aria-label={label ?? kitWords('search')}
      spellcheck={false}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  </div>
);
