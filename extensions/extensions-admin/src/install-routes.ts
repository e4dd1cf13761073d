/** POST /api/extensions/install and /uninstall of the interface, and the changes of what is installed beside them. */
import {
  defineRoute,
  ErrorBody,
  type ExtensionStatus,
  type InstallRequest,
  type KernelView,
  type MediaAnswer,
  type Plain,
  reply,
  type RouteDecl,
  type TSchema,
  Type,
  type UpgradeRequest,
} from '@svc/api';
import { extensionErrors } from './errors.js';
import { InstallBody, Installed, Offer, offered, Progress, Refusal, Trust, Uninstalled, UninstallBody, UpgradeBody, Versions } from './install-schemas.js';
import { withProgress } from './with-progress.js';

/** How the rest of the area names and shows an extension. */
export interface Shown {
  readonly ByName: ReturnType<typeof Type.Object>;
  readonly Extension: TSchema;
  find(name: string): ExtensionStatus;
  toPublic(status: ExtensionStatus): unknown;
}

const ERRORS = { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 413: ErrorBody, 502: ErrorBody };
const CONSENT =
  'No code of a package runs before you agree. The first call answers 409 `install_needs_consent`. Its `details` contain the requested permissions and why, who signed the package, how it will be isolated and what isolation cannot block. ' +
  'The second call sends the `grants` and the `digest` that were shown; a key that is not trusted yet (`install_unknown_key`) also needs `trust_key`. With `Accept: text/event-stream`, the steps are sent as events.';

const steps = (answer: TSchema): MediaAnswer => ({
  description: 'The steps as they happen, then one `done` or one `error`',
  contentType: 'text/event-stream',
  events: { progress: Progress, done: answer, error: Refusal },
});

const common = { auth: 'bearer', permission: 'extensions.admin', cost: 50, auditCategory: 'installs' } as const;

export const installRoutes = (kernel: KernelView, { ByName, Extension, find, toPublic }: Shown): RouteDecl[] => {
  const Named = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the extension', examples: ['acme-weather'] }) });
  const Upgraded = Type.Object(
    { status: Type.Union([Type.Literal('upgraded'), Type.Literal('same'), Type.Literal('offered')]), offer: Offer, extension: Extension },
    { 'x-name': 'ExtensionUpgraded' },
  );
  const RolledBack = Type.Object({ status: Type.Literal('rolled_back'), extension: Extension }, { 'x-name': 'ExtensionRolledBack' });
  return [
    defineRoute({
      id: 'installExtension',
      method: 'POST',
      path: '/api/extensions/install',
      summary: 'Install a third-party extension',
      description: `Fetches, validates and stores the package. ${CONSENT} It stays off, unless \`enable\` says otherwise.`,
      examples: {
        'Review the package': { name: 'npm:@acme/weather@^1' },
        'Agree to the requested permissions': { name: 'npm:@acme/weather@^1', grants: 'all', digest: 'a'.repeat(64), trust_key: true, enable: true },
        'Work on one': { path: '/home/me/acme-weather', link: true, grants: 'all', enable: true },
      },
      ...common,
      audit: 'extension_installed',
      body: InstallBody,
      responses: { 200: Installed, ...ERRORS },
      streamed: steps(Installed),
      handler: async (req) =>
        withProgress(req, async (options) => {
          const { id, state } = await kernel.installation.install(requestOf(req.body), options);
          return { status: 'installed', name: id, connected: state === 'active' };
        }),
    }),
    defineRoute({
      id: 'uninstallExtension',
      method: 'POST',
      path: '/api/extensions/uninstall',
      summary: 'Remove an installed extension',
      description: 'Stops the extension and removes its code. Its rows, files and secrets are kept in case you install it again. `purge` deletes them too and requires the id as confirmation.',
      examples: {
        'Keep its stored data': { name: 'acme-weather' },
        'Take all of it away': { name: 'acme-weather', purge: true, confirm: 'acme-weather' },
        'One that is refused': { name: 'acme-storm', purge: false },
      },
      ...common,
      audit: 'extension_uninstalled',
      body: UninstallBody,
      responses: { 200: Uninstalled, 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
      handler: async ({ body: { confirm, name, purge = false } }) => {
        if (kernel.extensions().some(({ bundled, id }) => id === name && bundled)) throw extensionErrors.bundled(name);
        if (purge && confirm !== name)
          throw extensionErrors.needs_confirmation(`Tables, files and secrets of ${name} will be gone for good.`, 'none: they cannot be brought back').with({ details: { confirm: name } });
        await kernel.installation.uninstall(name, { purge });
        return reply(200, { status: 'uninstalled', name });
      },
    }),
    defineRoute({
      id: 'upgradeExtension',
      method: 'POST',
      path: '/api/extensions/{name}/upgrade',
      summary: 'Upgrade an installed extension',
      description: `The current version keeps running until the new one has started. If the new one fails, the current one is restored with its tables. If the new version has migrations, the current one is stopped first. An older version is refused without \`downgrade\`. ${CONSENT} An upgrade that requests no additional permissions needs no consent. One that does is stored until you agree.`,
      examples: { 'The newest version of the same source': {}, 'Look first': { dry_run: true }, 'Another version': { source: 'npm:@acme/weather@2.0.0', grants: 'all' } },
      ...common,
      audit: 'extension_upgraded',
      params: Named,
      body: UpgradeBody,
      bodyRule: 'optional',
      responses: { 200: Upgraded, ...ERRORS },
      streamed: steps(Upgraded),
      handler: async (req) =>
        withProgress(req, async (options) => {
          const { extension, offer, outcome } = await kernel.installation.upgrade(installed(kernel, find, req.params.name), upgradeOf(req.body), options);
          return { status: outcome, offer: offered(offer), extension: toPublic(extension) };
        }),
    }),
    defineRoute({
      id: 'rollbackExtension',
      method: 'POST',
      path: '/api/extensions/{name}/rollback',
      summary: 'Roll back an extension to its previous version',
      description:
        'Two versions are stored. The previous one is validated again; it is refused if it was modified or its key was revoked. Only the code is rolled back, rows are unchanged. If the previous version does not start, the newer one is restored.',
      ...common,
      audit: 'extension_rolled_back',
      params: Named,
      responses: { 200: RolledBack, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
      handler: async ({ params }) => reply(200, { status: 'rolled_back', extension: toPublic(await kernel.installation.rollback(installed(kernel, find, params.name))) }),
    }),
    defineRoute({
      id: 'getExtensionVersions',
      method: 'GET',
      path: '/api/extensions/{name}/versions',
      summary: 'List stored versions of an extension',
      description: 'The running version, those that `rollback` can restore, and an upgrade that waits for consent. Built-in extensions have one version.',
      auth: 'bearer',
      permission: 'extensions.read',
      cost: 2,
      params: ByName,
      responses: { 200: Versions, 404: ErrorBody },
      handler: async ({ params }) => {
        const { id, version } = find(String(params.name));
        return reply(200, { current: version, previous: kernel.installation.previous(id) ?? [], waiting: kernel.installation.waiting(id) ?? null });
      },
    }),
    defineRoute({
      id: 'getExtensionTrust',
      method: 'GET',
      path: '/api/extensions-trust',
      summary: 'Get trusted keys and refused extensions',
      description: 'The keys that the operator trusts (see `svc ext trust`), and installed extensions that do not run because they were modified or their key is no longer trusted.',
      auth: 'bearer',
      permission: 'extensions.admin',
      cost: 2,
      responses: { 200: Trust },
      handler: async () => reply(200, { publishers: kernel.installation.publishers(), refused: kernel.installation.refused() }),
    }),
  ];
};

/** Also the id of one that is refused and so not among those that the daemon knows. Throws what `find` throws. */
const installed = (kernel: KernelView, find: Shown['find'], name: string): string => {
  if (kernel.installation.refused().some(({ id }) => id === name)) return name;
  const { bundled, id } = find(name);
  if (bundled) throw extensionErrors.bundled(id);
  return id;
};

const requestOf = ({ digest, enable, grants, link, name, path, source, trust_key }: Plain<typeof InstallBody>): InstallRequest => {
  const named = [name, source, path].filter((one) => one !== undefined);
  const [from] = named;
  if (from === undefined || named.length > 1) throw extensionErrors.one_source();
  return {
    source: from,
    isShown: digest !== undefined || grants !== undefined,
    ...(digest === undefined ? {} : { digest }),
    ...(enable === undefined ? {} : { enable }),
    ...(grants === undefined ? {} : { grants }),
    ...(link === undefined ? {} : { link }),
    ...(trust_key === undefined ? {} : { trustKey: trust_key }),
  };
};

const upgradeOf = ({ digest, downgrade, dry_run, grants, source, trust_key }: Plain<typeof UpgradeBody>): UpgradeRequest => ({
  ...(digest === undefined ? {} : { digest }),
  ...(downgrade === undefined ? {} : { downgrade }),
  ...(dry_run === undefined ? {} : { dryRun: dry_run }),
  ...(grants === undefined ? {} : { grants }),
  ...(source === undefined ? {} : { source }),
  ...(trust_key === undefined ? {} : { trustKey: trust_key }),
});
