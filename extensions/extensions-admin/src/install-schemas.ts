/** What installing, upgrading and going back take and answer. */
import { Nullable, OneOf, type PackageOffer, type Plain, Type } from '@svc/api';

const Source = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description:
    '`npm:name@range`, an https address of a .tgz with `#sha256=`, `git+https://…#ref`, an absolute path of a .tgz or a folder on the machine of the daemon, or an id of the configured index',
  examples: ['npm:@acme/weather@^1'],
});
const Grants = Type.Union([Type.Literal('all'), Type.Array(Type.String({ maxLength: 400 }), { maxItems: 100 })], {
  description: 'The permissions you grant, or `all`. All required ones must be included',
});
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Digest of the package you reviewed. Another package is refused' });
const TrustKey = Type.Boolean({ description: 'The key that signed it is trusted for this extension from now on' });

const consent = { grants: Type.Optional(Grants), digest: Type.Optional(Digest), trust_key: Type.Optional(TrustKey) };

export const InstallBody = Type.Object(
  {
    name: Type.Optional(Source),
    source: Type.Optional(Type.String({ ...Source, description: 'The same as `name`' })),
    path: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description: 'An absolute path on the machine of the daemon, in place of `name`' })),
    ...consent,
    enable: Type.Optional(Type.Boolean({ description: 'Switch it on as well' })),
    link: Type.Optional(Type.Boolean({ description: 'Use the folder in place, for development' })),
  },
  { additionalProperties: false },
);
export const UpgradeBody = Type.Object(
  {
    source: Type.Optional(Type.String({ ...Source, description: 'Another version or source; by default, the original source' })),
    ...consent,
    downgrade: Type.Optional(Type.Boolean({ description: 'Allow an older version than the installed one' })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Only show what would change' })),
  },
  { additionalProperties: false },
);
export const UninstallBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the extension', examples: ['acme-weather'] }),
    purge: Type.Optional(Type.Boolean({ description: 'Also delete its tables, files, secrets and trusted key' })),
    confirm: Type.Optional(Type.String({ maxLength: 100, description: 'With `purge`: its id once more' })),
  },
  { additionalProperties: false },
);

export const Installed = Type.Object(
  { status: Type.Literal('installed'), name: Type.String(), connected: Type.Boolean({ description: 'Whether it is on and answers' }) },
  { 'x-name': 'ExtensionInstalled' },
);
export const Uninstalled = Type.Object({ status: Type.Literal('uninstalled'), name: Type.String() }, { 'x-name': 'ExtensionUninstalled' });

export const Offer = Type.Object(
  {
    id: Type.String(),
    version: Type.String(),
    description: Type.String(),
    digest: Type.String({ description: 'Names the content of the package: SHA-256 of the hashes of its files' }),
    source: Type.String({ description: 'Without what is secret in it' }),
    trust: OneOf(['signed', 'unsigned', 'linked']),
    key: Nullable(
      Type.Object({
        id: Type.String(),
        public: Type.String(),
        name: Type.String({ description: "The operator's name for the key's owner; may be empty" }),
        standing: OneOf(['known', 'handed-on', 'unknown'], { description: '`unknown`: requires `trust_key`. `handed-on`: signed by the previous key' }),
      }),
    ),
    isolation: OneOf(['isolated', 'walled']),
    isolation_why: Type.String({ description: 'Who or what decided that' }),
    not_kept: Type.Array(Type.String(), { description: "What isolation can't block" }),
    grants: Type.Array(
      Type.Object({
        grant: Type.String(),
        what: Type.String({ description: 'What the grant allows' }),
        why: Type.String({ description: "The author's reason" }),
        optional: Type.Boolean({ description: 'It works without' }),
        new: Type.Boolean({ description: 'Not granted for the installed version' }),
      }),
    ),
    replaces: Nullable(Type.Object({ version: Type.String(), digest: Type.String() })),
  },
  { 'x-name': 'ExtensionOffer', description: 'What to know before you agree' },
);

export const Progress = Type.Object({
  step: Type.String({ description: '`resolve`, `fetch`, `unpack`, `judge` or `store`' }),
  what: Type.Optional(Type.String()),
  done: Type.Optional(Type.Number({ description: 'Bytes' })),
  total: Type.Optional(Type.Number({ description: 'Bytes, if known' })),
});

export const Refusal = Type.Object({
  error: Type.String(),
  code: Type.String(),
  status: Type.Integer(),
  hint: Type.Optional(Type.String()),
  request_id: Type.String(),
  details: Type.Optional(Offer),
});

const Kept = Type.Object({ version: Type.String(), digest: Type.String(), installedAt: Type.String() });
export const Versions = Type.Object(
  {
    current: Type.String(),
    previous: Type.Array(Kept, { description: 'Newest first; `rollback` goes to the first' }),
    waiting: Nullable(Type.Object({ version: Type.String(), newGrants: Type.Array(Type.String()) }), { description: 'An upgrade that waits for consent to its requested permissions' }),
  },
  { 'x-name': 'ExtensionVersions' },
);
export const Trust = Type.Object(
  {
    publishers: Type.Array(
      Type.Object({
        keyId: Type.String(),
        name: Type.String(),
        extensions: Type.Array(Type.String(), { description: 'Ids that belong to this key, or their beginnings with `*`' }),
        isolation: Nullable(OneOf(['isolated', 'walled'])),
        wasInProcess: Type.Boolean({ description: '`trust.toml` asks for `in-process`, which no longer exists: what the key signs runs as the settings say' }),
        revoked: Nullable(Type.String()),
      }),
    ),
    refused: Type.Array(Type.Object({ id: Type.String(), code: Type.String(), message: Type.String() }), { description: 'Installed extensions that do not run, with the reason' }),
  },
  { 'x-name': 'ExtensionTrust' },
);

/** Copied: what is handed out is nobody's else. */
export const offered = ({ grants, key, not_kept, replaces, ...offer }: PackageOffer): Plain<typeof Offer> => ({
  ...offer,
  key: key ? { ...key } : null,
  not_kept: [...not_kept],
  grants: grants.map((one) => ({ ...one })),
  replaces: replaces ? { ...replaces } : null,
});
