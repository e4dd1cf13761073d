/** The settings over HTTP. What may be read and changed is validated by the kernel, which owns the file. */
import { bytes, type OptionalHandle, type RouteDecl, type SettingsView, reply, routeGroup } from '@svc/api';
import type { ToolsService } from '@svc/ext-tools/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { Config, ConfigStatus, InitAnswer, ReloadAnswer, Schema, SetAnswer, SetBody, Settings } from './answers.js';
import { configAreaErrors } from './errors.js';
import { initialized } from './first-settings.js';
import { reloadAnswer, setAnswer } from './outcomes.js';

export interface ConfigDeps {
  readonly settings: SettingsView;
  readonly providers: OptionalHandle<ProvidersService>;
  readonly tools: OptionalHandle<ToolsService>;
}

const route = routeGroup({ area: 'config' });

/** What one call of the whole costs: it goes through every section. */
const WHOLE_COST = 2;

export const configRoutes = (deps: ConfigDeps): RouteDecl[] => [...readingRoutes(deps), ...schemaRoutes(deps), ...changingRoutes(deps)];

/** What follows from several settings, and from keys that no setting shows: whether `web_search` has a provider. */
const withDerived = async (tree: Readonly<Record<string, unknown>>, tools: ConfigDeps['tools']): Promise<Readonly<Record<string, unknown>>> => {
  const known = await tools.value?.all();
  return known === undefined ? tree : { ...tree, web: { ...(tree.web as object | undefined), search_available: known.some(({ name }) => name === 'web_search') } };
};

const readingRoutes = ({ settings, tools }: ConfigDeps): RouteDecl[] => [
  route({
    id: 'getConfig',
    method: 'GET',
    path: '/api/config',
    summary: 'Get settings by section',
    description:
      'The settings in effect: defaults, overridden by config.toml, overridden by the environment (`SVC__SECTION__KEY`). Sections of extensions that are off are included. ' +
      'No secret is. `web.search_available` says whether a search provider is set up. The `ETag` names this state of the file: send it as `If-Match` with a change, and the change is refused when somebody else was quicker.',
    cost: WHOLE_COST,
    responses: { 200: Config },
    handler: async () => {
      const { tree, revision } = await settings.read();
      return reply(200, await withDerived(tree, tools), { etag: `"${revision}"`, 'cache-control': 'private, no-cache' });
    },
  }),
  route({
    id: 'listSettings',
    method: 'GET',
    path: '/api/config/settings',
    summary: 'List settings with their sources',
    description: 'One row per setting, sorted by name. `svc config show` prints the same.',
    cost: WHOLE_COST,
    responses: { 200: Settings },
    handler: async () => {
      const { settings: all, revision } = await settings.read();
      return reply(200, { settings: all.map(({ keys: _, ...setting }) => setting), total: all.length, revision });
    },
  }),
  route({
    id: 'getConfigStatus',
    method: 'GET',
    path: '/api/config/status',
    summary: 'Get the location of config.toml',
    description: 'Use it before showing a form: if the file is not writable, every change is refused. `checksum` changes with every change of the file, including manual ones.',
    responses: { 200: ConfigStatus },
    handler: async () => {
      const { file, exists, writable, revision, modifiedAt } = await settings.file();
      return reply(200, { mode: writable ? 'file' : 'managed', source: file, exists, writable, checksum: revision, modified_at: modifiedAt });
    },
  }),
  route({
    id: 'exportConfig',
    method: 'GET',
    path: '/api/config/export',
    summary: 'Export settings as config.toml',
    description: 'All settings with their effective values, to set up another installation the same way. Secrets and lists of people with keys are replaced by comments. ' + 'For owners and admins.',
    permission: 'config.admin',
    cost: WHOLE_COST,
    responses: { 200: { description: 'TOML', contentType: 'application/toml' } },
    handler: async () => bytes(200, 'application/toml', await settings.exported(), { 'content-disposition': 'attachment; filename="svc-config.toml"', 'cache-control': 'private, no-store' }),
  }),
];

const schemaRoutes = ({ settings }: ConfigDeps): RouteDecl[] => [
  route({
    id: 'getConfigSchema',
    method: 'GET',
    path: '/api/config/schema',
    summary: 'Get the settings schema',
    description:
      'The schema of every installed section. Also `x-sections` (each section, its extension, and whether a change applies immediately) and `x-ui-options` (by JSON pointer: the range of a number, the choices of a text) ' +
      'and `x-non-writable` (paths that POST /api/config/set refuses). A setting that is not in it has no reader.',
    cost: WHOLE_COST,
    responses: { 200: Schema },
    handler: async () => reply(200, settings.schema()),
  }),
  route({
    id: 'getRegistrySchema',
    method: 'GET',
    path: '/api/registry/schema',
    summary: 'Get the settings schema for editors',
    description: 'JSON Schema without keys of ours, as TOML editors take it (`svc config schema` prints it).',
    cost: WHOLE_COST,
    responses: { 200: Schema },
    handler: async () => reply(200, settings.schema({ isPlain: true })),
  }),
];

const changingRoutes = ({ settings, providers }: ConfigDeps): RouteDecl[] => [
  route({
    id: 'setConfigValue',
    method: 'POST',
    path: '/api/config/set',
    summary: 'Update a setting',
    description:
      'Changes the line in place; comments and order stay. The whole file is validated before it is written, and the previous one is kept as `backups/config.toml.prev`. ' +
      'Changes are applied one after the other, and an external edit of the file is never overwritten: 409. Send `If-Match` with the `ETag` of GET /api/config to change only what you have read. ' +
      'Secrets, names of variables that hold secrets, and settings that decide about access can only be changed by a person in the file: 403. The owner can turn `approval.require_approval` on with `confirm`; without it the answer is 409. Settings from the environment cannot be changed here: 409. A read-only file: 423.',
    permission: 'config.admin',
    audit: 'config_changed',
    auditCategory: 'settings',
    errors: [403, 409, 423, 500],
    body: SetBody,
    examples: {
      'be more talkative in the log': { path: 'log.level', value: 'debug' },
      'let two pages call from other origins': { path: 'api.cors_origins', value: ['https://chat.example', 'https://admin.example'] },
      'let tool calls wait for approval': { path: 'approval.require_approval', value: true, confirm: '3f1c9a' },
      'go back to the default': { path: 'runs.max_active', value: null },
    },
    responses: { 200: SetAnswer },
    handler: async ({ actor, body: { path, value, confirm }, headers }) => {
      if (confirm !== undefined && actor.role !== 'owner') throw configAreaErrors.owner_confirms(path);
      const changed = await settings.set(path, value, { revision: confirm ?? revisionOf(headers['if-match']), isConfirmed: confirm !== undefined });
      return reply(200, setAnswer(path, changed));
    },
  }),
  route({
    id: 'reloadConfig',
    method: 'POST',
    path: '/api/config/reload',
    summary: 'Reload config.toml',
    description:
      'svc reloads the file within two seconds after you save it; this call reloads it immediately. An invalid section keeps its previous value and is listed in `warnings`. A file that is unreadable or not TOML changes nothing: 400.',
    permission: 'config.admin',
    audit: 'config_reloaded',
    auditCategory: 'settings',
    errors: [400],
    responses: { 200: ReloadAnswer },
    handler: async () => {
      const applied = await settings.reload();
      if (applied.unreadable !== null) throw configAreaErrors.reload_refused(applied.unreadable).with({ details: { status: 'error' } });
      return reply(200, reloadAnswer(applied));
    },
  }),
  route({
    id: 'createConfig',
    method: 'POST',
    path: '/api/init',
    summary: 'Create config.toml',
    description: 'Creates a short, commented config.toml if there is none. It sets the provider that has a key or runs on this machine, if there is one. An existing file is not changed.',
    permission: 'config.admin',
    audit: 'config_created',
    auditCategory: 'settings',
    errors: [500],
    responses: { 200: InitAnswer },
    handler: async () => reply(200, await initialized(settings, providers.value)),
  }),
];

/** `"abc"` or `W/"abc"`; `*` and nothing ask for no state in particular. */
const revisionOf = (header: string | undefined): string | undefined => (header === undefined || header.trim() === '*' ? undefined : header.trim().replace(/^W\//, '').replace(/^"|"$/g, ''));
