/**
 * A form from a JSON Schema: one labelled input for each field.
 *
 * S1  What is wrong stands at its field, whoever finds it: this page before it asks, or the daemon.
 * S2  What was typed stays until it is saved or given up, also where the form is closed or the daemon refuses it.
 * S3  A change sends the fields that were changed, and those that the schema requires.
 */
import { Button, ChangedElsewhere, type ComponentChildren, type Draft, Failure, FormDialog, type RefObject, SvcError, useDraft, useLayoutEffect, useRef, useState } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { type FormWords, hintOf, labelOf, valueLabel } from './field-words.js';
import { fieldAt, isSame, mustBeFilled, type Schema, shapeOf } from './schema.js';
import { SchemaField } from './schema-field.js';
import { isRow, readFields, type ReadFields, type Typed, typedFields, type TypedRow } from './typed.js';
import { t } from './part-words.js';

/** A field that is drawn by hand. */
export interface FieldSlotProps {
  readonly schema: Schema;
  readonly label: string;
  readonly hint: string | undefined;
  readonly typed: Typed;
  readonly error: string | undefined;
  readonly isNeeded: boolean;
  readonly onType: (typed: Typed) => void;
}

export interface SchemaFormSpec {
  /** Names what is edited: what was typed is found again under it. */
  readonly name: string;
  readonly schema: Schema;
  /** What stands there now; left out for something new. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Another one for each state of `given`. */
  readonly version?: string | number | null;
  /** All fields are sent, not only those that were changed. */
  readonly isWhole?: boolean;
  readonly words?: FormWords;
  readonly references?: CollectionView['references'];
  readonly slots?: Readonly<Record<string, (field: FieldSlotProps) => ComponentChildren>>;
}

export interface SchemaFormState {
  readonly spec: SchemaFormSpec;
  readonly draft: Draft<TypedRow>;
  readonly container: RefObject<HTMLDivElement | null>;
  errorAt(path: string): string | undefined;
  /** A person left the field: what is wrong with it is said now. */
  left(path: string): void;
  type(name: string, typed: Typed): void;
  /**
   * Sends what was typed, where it fits; false where something is wrong, which then stands at its field. Rejects with what
   * `send` rejects with, unless that is about a field.
   */
  submit(send: (value: Readonly<Record<string, unknown>>) => Promise<unknown>): Promise<boolean>;
}

interface Refusal {
  readonly path: string;
  readonly text: string;
}

export const useSchemaForm = (spec: SchemaFormSpec): SchemaFormState => {
  const { schema, given } = spec;
  const draft = useDraft<TypedRow>(`form ${spec.name}`, { value: typedFields(schema, given ?? {}), version: spec.version ?? null });
  const [shown, setShown] = useState<ReadonlySet<string> | 'all'>(new Set());
  const [refusal, setRefusal] = useState<Refusal>();
  const [attempts, setAttempts] = useState(0);
  const container = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (attempts > 0) container.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [attempts]);
  const read = readForm(spec, draft);
  const sayAll = (): void => {
    setShown('all');
    setAttempts((before) => before + 1);
  };
  return {
    spec,
    draft,
    container,
    errorAt: (path) => (refusal?.path === path ? refusal.text : shown === 'all' || shown.has(path) ? read.wrong[path] : undefined),
    left: (path) => setShown((before) => (before === 'all' ? before : new Set([...before, path]))),
    type: (name, typed) => {
      setRefusal((before) => (before?.path.split('.')[0] === name ? undefined : before));
      draft.change({ ...draft.value, [name]: typed });
    },
    submit: async (send) => {
      if (Object.keys(read.wrong).length > 0 || draft.theirs !== undefined) {
        sayAll();
        return false;
      }
      try {
        await send(read.value);
      } catch (error) {
        const about = fieldOf(error, schema);
        if (about === undefined) throw error;
        setRefusal(about);
        sayAll();
        return false;
      }
      if (given === undefined) draft.drop();
      else draft.saved(spec.version ?? null);
      return true;
    },
  };
};

/** S3. */
const readForm = ({ schema, given, isWhole = false }: SchemaFormSpec, { value, base }: Draft<TypedRow>): ReadFields => {
  if (given === undefined || isWhole) return readFields(schema, value);
  const isSent = (name: string): boolean => !isSame(value[name], base[name]) || schema.required?.includes(name) === true;
  return readFields({ ...schema, properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => isSent(name))) }, value, true);
};

/** Which field a refusal is about, where the daemon says so: `details.path` of its error. */
const fieldOf = (error: unknown, schema: Schema): Refusal | undefined => {
  if (!(error instanceof SvcError) || typeof error.details !== 'object' || error.details === null || !('path' in error.details)) return undefined;
  const { path } = error.details;
  const names = Array.isArray(path) ? path.map(String) : String(path).split('.');
  const field = fieldAt(schema, names);
  return field === undefined ? undefined : { path: field, text: [error.what, error.hint].filter(Boolean).join(' ') };
};

/** The fields alone, for a form of your own. */
export const SchemaFields = ({ of: form }: { of: SchemaFormState }) => (
  <div class="stack" ref={form.container}>
    <ChangedElsewhere draft={form.draft} textOf={textOf} />
    <Fields form={form} schema={form.spec.schema} typed={form.draft.value} at="" onType={form.type} />
  </div>
);

const textOf = (typed: TypedRow): string =>
  Object.entries(typed)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
    .join('');

const Fields = ({ form, schema, typed, at, onType }: { form: SchemaFormState; schema: Schema; typed: TypedRow; at: string; onType: (name: string, typed: Typed) => void }) => {
  const entries = Object.entries(schema.properties ?? {}).filter(([, field]) => field['x-same-as'] === undefined);
  return (
    <>
      {entries.map(([name, field], index) => {
        const path = at + name;
        const held = typed[name] ?? '';
        return (
          <div key={name} data-field={path} onFocusOut={() => form.left(path)}>
            <OneField
              form={form}
              path={path}
              schema={field}
              held={held}
              isRequired={schema.required?.includes(name) === true}
              isFirst={at === '' && index === 0}
              onType={(value) => onType(name, value)}
            />
          </div>
        );
      })}
    </>
  );
};

interface OneFieldProps {
  readonly form: SchemaFormState;
  readonly path: string;
  readonly schema: Schema;
  readonly held: Typed;
  readonly isRequired: boolean;
  readonly isFirst: boolean;
  readonly onType: (typed: Typed) => void;
}

const OneField = ({ form, path, schema, held, isRequired, isFirst, onType }: OneFieldProps) => {
  const { references, words, slots } = form.spec;
  const shape = shapeOf(schema);
  const label = labelOf(path, schema, words);
  const hint = hintOf(path, schema, words);
  const slot = slots?.[path];
  const common = { schema, label, hint, typed: held, error: form.errorAt(path), isNeeded: isRequired && mustBeFilled(shape), onType };
  if (slot) return <>{slot(common)}</>;
  if (shape.kind === 'part' && isRow(held))
    return (
      <fieldset class="field form-entries">
        <legend class="field-name">{label}</legend>
        {hint && <p class="muted small-text">{hint}</p>}
        <Fields form={form} schema={shape.schema} typed={held} at={`${path}.`} onType={(name, value) => onType({ ...held, [name]: value })} />
      </fieldset>
    );
  return <SchemaField {...common} {...(references === undefined ? {} : { references })} autofocus={isFirst} choiceLabel={(value) => valueLabel(path, value, words)} />;
};

interface FormProps {
  readonly form: SchemaFormState;
  /** What the button says that submits it. */
  readonly action: string;
  readonly send: (value: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** It was sent, and the daemon took it. */
  readonly onDone?: () => void;
}

/** A form that stands in a view. */
export const SchemaForm = ({ send, action, onDone, ...spec }: SchemaFormSpec & Omit<FormProps, 'form'>) => {
  const form = useSchemaForm(spec);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      if (await form.submit(send)) onDone?.();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" noValidate onSubmit={submit}>
      <SchemaFields of={form} />
      {error !== undefined && <Failure title="" error={error} />}
      <div>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  );
};

/** The same in a dialog. Closed by Escape or its corner it keeps what was typed; Cancel gives that up. */
export const SchemaFormDialog = ({
  title,
  action = t('save'),
  send,
  onDone,
  onClose,
  ...spec
}: SchemaFormSpec & Omit<FormProps, 'form' | 'action'> & { title: string; action?: string; onClose: () => void }) => {
  const form = useSchemaForm(spec);
  const cancel = (): void => {
    form.draft.drop();
    onClose();
  };
  const submit = async (): Promise<void> => {
    if (await form.submit(send)) (onDone ?? onClose)();
  };
  return (
    <FormDialog title={title} action={action} onSubmit={submit} onClose={onClose} onCancel={cancel}>
      <SchemaFields of={form} />
    </FormDialog>
  );
};
