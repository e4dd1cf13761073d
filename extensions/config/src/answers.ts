/** What the operations on settings answer. */
import { Nullable, OneOf, SETTING_PATH, TextOf, Type } from '@svc/api';

/** As deep as config.toml; which settings there are depends on what is installed. */
export const Config = Type.Record(Type.String(), Type.Unknown(), {
  'x-name': 'Config',
  description: 'Sections and keys as in config.toml. A secret is `***` or `not set`; a list that holds secrets is `{count, names}`; null has neither a value nor a default',
});

export const Setting = Type.Object(
  {
    path: Type.String({ description: 'Dotted, as POST /api/config/set takes it' }),
    value: Type.Unknown({ description: 'As in GET /api/config' }),
    source: OneOf(['default', 'file', 'environment', 'kept'], { description: '`kept`: an earlier value, because the one in the file is invalid' }),
    variable: Nullable(Type.String(), { description: 'The environment variable that sets it' }),
    line: Nullable(Type.Integer(), { description: 'Of config.toml, counted from one' }),
    by_hand: Nullable(Type.String(), { description: 'Why it can only be changed in the file; null if POST /api/config/set can change it' }),
    restart: Type.Boolean({ description: 'Whether a changed value applies after a restart' }),
    owner: Type.String({ description: 'The extension that reads it, or `kernel`' }),
  },
  { 'x-name': 'Setting' },
);

export const Settings = Type.Object({ settings: Type.Array(Setting), total: Type.Integer(), revision: Type.String({ description: 'The ETag of GET /api/config, without its quotes' }) });

export const ConfigStatus = Type.Object({
  mode: OneOf(['file', 'managed'], { description: '`managed`: the file is read-only, and every change is refused with 423' }),
  source: Type.String({ description: 'The path of config.toml' }),
  exists: Type.Boolean(),
  writable: Type.Boolean(),
  checksum: Type.String({ description: 'Another with every change of the file, and after a restart' }),
  modified_at: Nullable(Type.String()),
});

export const Schema = Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON Schema (draft 2020-12)' });

export const SetBody = Type.Object({
  path: TextOf(SETTING_PATH, { minLength: 1, maxLength: 200, description: 'One to three names joined by dots, e.g. `log.level`' }),
  value: Type.Unknown({ description: 'The new value; null removes the key from the file, so that the default applies' }),
  confirm: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'For a setting that the owner confirms, such as `approval.require_approval`: the `checksum` of GET /api/config/status, read before the owner was asked',
    }),
  ),
});

export const SetAnswer = Type.Object({
  status: OneOf(['applied', 'applied_partial', 'saved_reload_failed'], {
    description: '`applied_partial`: written but not in effect yet, see `waits_for`. `saved_reload_failed`: written, but the daemon could not apply it',
  }),
  path: Type.String({ description: 'As sent' }),
  stands_as: Type.Optional(Type.String({ description: 'The full path, if you used an older name; it is the one in config.toml and GET /api/config' })),
  waits_for: Type.Optional(Type.String()),
  reload_error: Type.Optional(Type.String()),
  warnings: Type.Array(Type.String(), { description: 'Other invalid settings in config.toml' }),
});

const Paths = (description: string) => Type.Array(Type.String(), { description });

export const ReloadAnswer = Type.Object({
  status: OneOf(['applied', 'partial', 'no_changes'], { description: '`partial`: some settings apply after a restart, or are invalid and keep their previous value' }),
  restart_required: Type.Boolean(),
  restart_reasons: Paths('Settings that wait for the next start, one sentence each'),
  hot_actions_applied: Paths('Settings that have another value from now on'),
  noop_changes: Paths('Changed settings of extensions that are off; they have no effect now'),
  warnings: Paths('What in config.toml does not hold, one sentence each'),
});

export const InitAnswer = Type.Object({
  status: OneOf(['initialized', 'already_initialized']),
  message: Type.String(),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
});
