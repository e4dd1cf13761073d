/** One setting: its field, where its value comes from, and why it cannot be changed where it cannot. */
import { Badge, Button, needs } from '@svc/kit';
import { isSame, type Schema, SchemaField, titled, typedOf } from '@svc/kit/collection';
import { Conflict } from './conflict.js';
import { drafts, drop, readDraft, type } from './drafts.js';
import type { Setting } from './schema.js';
import { tomlValue } from './toml.js';
import { t } from './words.js';

export const SettingRow = ({ setting, schema, isWritable, tables }: { setting: Setting; schema: Schema; isWritable: boolean; tables: ReadonlySet<string> }) => {
  const { path, value, source } = setting;
  const draft = drafts.value.get(path);
  const { disabled } = needs('config.admin');
  const locked = whyLocked(setting);
  const isOpen = locked === undefined && isWritable && !disabled;
  const read = draft && readDraft(schema, draft);
  const isTaken = draft !== undefined && !isSame(draft.base, value);
  return (
    <div class={draft ? 'config-row changed' : 'config-row'} data-path={path}>
      <div class="config-field">
        {locked !== undefined && isOpaque(value) ? (
          <Redacted setting={setting} />
        ) : (
          <SchemaField
            schema={schema}
            label={titled(path.slice(path.lastIndexOf('.') + 1))}
            hint={hintOf(schema)}
            typed={draft ? draft.typed : typedOf(schema, value)}
            usual={typedOf(schema, schema.default)}
            error={draft?.refusal ?? (read && 'wrong' in read ? read.wrong : undefined)}
            isOpen={isOpen}
            hides={isForPeople}
            onType={(typed) => type(schema, path, typed, value)}
          />
        )}
        {locked && <p class="muted small-text">{locked}</p>}
        {source === 'kept' && <p class="wrong-text">{t('kept')}</p>}
        {isTaken && <Conflict draft={draft} schema={schema} theirs={setting} tables={tables} />}
      </div>
      <div class="config-about">
        <code class="muted">{path}</code>
        <span class="row wrap config-badges">
          <Source setting={setting} />
          {setting.restart && <Badge icon="rotate-ccw">{t('at_start')}</Badge>}
          {draft && <Badge tone="info">{draft.typed === null ? (schema.default === undefined ? t('will_go') : t('undone')) : t('changed')}</Badge>}
        </span>
        {isOpen && (
          <span class="row wrap">
            {draft ? (
              <Button small kind="quiet" icon="x" onPress={() => drop(path)}>
                {t('undo')}
              </Button>
            ) : (
              source === 'file' && (
                <Button small kind="quiet" icon="rotate-ccw" onPress={() => type(schema, path, null, value)}>
                  {t('to_default')}
                </Button>
              )
            )}
          </span>
        )}
      </div>
    </div>
  );
};

/** These say where a secret is, and a person writes them into the file. */
const isForPeople = (name: string): boolean => /(^|_)(key|token|secret|password|pass|passphrase|credentials?|env)$/i.test(name);

const shownText = (value: unknown): string => (value === '' || (Array.isArray(value) && value.length === 0) ? t('empty') : typeof value === 'string' ? value : tomlValue(value));

const whyLocked = ({ source, variable, by_hand }: Setting): string | undefined => {
  if (source === 'environment') return t('held', { variable: variable ?? '' });
  return by_hand === null ? undefined : t('by_hand', { why: by_hand });
};

/** A secret, or a list that holds some. */
const isOpaque = (value: unknown): boolean => value === '***' || value === 'not set' || (typeof value === 'object' && value !== null && 'count' in value);

const Redacted = ({ setting: { path, value } }: { setting: Setting }) => (
  <div class="field">
    <p class="field-name">{titled(path.slice(path.lastIndexOf('.') + 1))}</p>
    <p class="muted">
      {typeof value === 'object' && value !== null && 'count' in value ? t('people', { count: Number(value.count) }) : value === '***' ? t('secret_set') : t('secret_not_set')}
      {typeof value === 'object' && value !== null && 'names' in value && Array.isArray(value.names) && value.names.length > 0 && `: ${value.names.join(', ')}`}
    </p>
  </div>
);

const Source = ({ setting: { source, variable, line } }: { setting: Setting }) => {
  if (source === 'environment')
    return (
      <Badge tone="warn" icon="terminal">
        {variable ?? t('from_environment')}
      </Badge>
    );
  if (source === 'kept') return <Badge tone="bad">{t('from_kept')}</Badge>;
  if (source === 'file') return <Badge tone="info">{line === null ? t('from_file_bare') : t('from_file', { line })}</Badge>;
  return <Badge>{t('from_default')}</Badge>;
};

const hintOf = (schema: Schema): string => {
  const { description, minimum, maximum, default: usual } = schema;
  const range = minimum === undefined ? '' : maximum === undefined ? t('from_only', { from: String(minimum) }) : t('range', { from: String(minimum), to: String(maximum) });
  const shown = usual === undefined ? t('no_default') : t('default_is', { value: shownText(usual) });
  return [description && (/[.!?。]$/.test(description) ? description : `${description}.`), range, `${shown}${/[.。]$/.test(shown) ? '' : '.'}`].filter(Boolean).join(' ');
};
