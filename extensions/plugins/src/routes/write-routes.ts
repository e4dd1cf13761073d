/** Plugins over HTTP: install, switch, run, sign. For owners and admins, because a plugin is code that the daemon starts. */
import { OneOf, reply, type RouteDecl, Type } from '@svc/api';
import { PLUGIN_NAME } from '../config.js';
import { headOf } from '../hooks/redact.js';
import { LAUNCHERS } from '../launchers/launchers.js';
import { HOOKS } from '../manifest/manifest.js';
import { COST, Params, route, type RouteDeps } from './deps.js';
import { HookResult } from './shapes.js';

const admin = { permission: 'plugins.admin', cost: COST, auditCategory: 'settings' } as const;
const Name = Type.String({ minLength: 1, maxLength: 128, pattern: PLUGIN_NAME, description: 'Name of the plugin' });

export const writeRoutes = (deps: RouteDeps): RouteDecl[] => [
  install(deps),
  uninstall(deps),
  scaffold(deps),
  prewarm(deps),
  dependencies(deps),
  enable(deps),
  disable(deps),
  reload(deps),
  sign(deps),
  test(deps),
];

const HOW = 'To run it, name it in config.toml, `[context_engine] plugin`, and restart svc.';

const install = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'installPlugin',
    method: 'POST',
    path: '/api/plugins/install',
    summary: 'Install a plugin',
    description: `From a registry (\`name\`), a folder of this machine (\`path\`) or a git repository (\`url\`). Its files are compared with their SHA-256 and looked through; nothing of it is run. One that wants the network or the file system needs \`grant\`. ${HOW}`,
    audit: 'plugin_installed',
    body: Type.Object({
      source: Type.Optional(OneOf(['registry', 'local', 'git'], { description: 'By default, as the other fields say' })),
      name: Type.Optional(Type.String({ maxLength: 128, description: 'Name in the registry. Otherwise the name that it must have' })),
      registry: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the registry; by default the first one' })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: 'Absolute path of a folder with a plugin.toml' })),
      url: Type.Optional(Type.String({ maxLength: 2_048, pattern: '^(https|ssh|file)://[^\\s-]\\S*$', description: 'Address of a git repository with a plugin.toml at its top' })),
      branch: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]*$', description: 'Branch or tag' })),
      grant: Type.Optional(Type.Array(OneOf(['network', 'filesystem']), { maxItems: 2, description: 'Walls that it may do without, if its manifest asks for that' })),
      force: Type.Optional(Type.Boolean({ description: 'Also if its texts look as if they were to mislead a model' })),
    }),
    examples: {
      'from a registry': { source: 'registry', name: 'user-profile' },
      'from a folder': { source: 'local', path: '/home/me/user-profile' },
      'from git, with the network': { source: 'git', url: 'https://example.com/me/weather-memory.git', branch: 'v1.2', grant: ['network'] },
    },
    errors: [403, 404, 409, 502],
    responses: {
      200: Type.Object({
        installed: Type.Literal(true),
        name: Type.String(),
        version: Type.String(),
        path: Type.String(),
        digest: Type.String(),
        granted: Type.Array(Type.String()),
        restart_required: Type.Boolean(),
        message: Type.String(),
      }),
    },
    handler: async ({ body }) => {
      const { plugin, digest, granted } = await plugins.install(body);
      const isNamed = plugins.isActive(plugin);
      return reply(200, {
        installed: true as const,
        name: plugin.name,
        version: plugin.manifest.version,
        path: plugin.dir.path,
        digest,
        granted: [...granted],
        restart_required: !isNamed,
        message: isNamed ? 'It runs from the next message on.' : HOW,
      });
    },
  });

const uninstall = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'uninstallPlugin',
    method: 'POST',
    path: '/api/plugins/uninstall',
    summary: 'Remove a plugin',
    description: 'Deletes its folder, with what its hooks stored there. Messages are answered without it from now on.',
    audit: 'plugin_uninstalled',
    body: Type.Object({ name: Name }),
    examples: { 'a profile': { name: 'user-profile' }, 'a script of mine': { name: 'my_hooks' }, 'one with a number': { name: 'topic-memory2' } },
    errors: [403, 404],
    responses: { 200: Type.Object({ removed: Type.Literal(true), name: Type.String() }) },
    handler: async ({ body }) => {
      await plugins.uninstall(body.name);
      return reply(200, { removed: true as const, name: body.name });
    },
  });

const scaffold = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'createPlugin',
    method: 'POST',
    path: '/api/plugins/scaffold',
    summary: 'Create a plugin to start from',
    description: `Writes a plugin.toml and the hooks ingest and after_turn in the chosen language. They answer validly as they are; \`POST /api/plugins/{name}/test-hook\` runs one. ${HOW}`,
    audit: 'plugin_created',
    body: Type.Object({
      name: Name,
      description: Type.Optional(Type.String({ maxLength: 2_000, default: '' })),
      author: Type.Optional(Type.String({ maxLength: 200, default: '' })),
      runtime: Type.Optional(
        Type.String({ minLength: 1, maxLength: 40, default: 'python', description: `${Object.keys(LAUNCHERS).join(', ')}, or another name of one of them, such as py`, examples: ['node'] }),
      ),
    }),
    examples: {
      'in Python': { name: 'user-profile', description: 'Knows what people said of themselves.', runtime: 'python' },
      'in a shell': { name: 'clock', runtime: 'bash' },
      'in Go': { name: 'topic-memory', description: 'What each conversation is about.', author: 'me', runtime: 'go' },
    },
    errors: [403, 409],
    responses: { 200: Type.Object({ scaffolded: Type.Literal(true), name: Type.String(), path: Type.String(), runtime: Type.String(), message: Type.String() }) },
    handler: async ({ body }) => {
      const plugin = await plugins.create(body.name, body.description ?? '', body.author ?? '', body.runtime ?? 'python');
      return reply(200, { scaffolded: true as const, name: plugin.name, path: plugin.dir.path, runtime: plugin.manifest.runtimeName, message: HOW });
    },
  });

const prewarm = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'prewarmPlugins',
    method: 'POST',
    path: '/api/plugins/prewarm',
    summary: 'Compile plugins before their first message',
    description: 'Go and V compile a script when it starts for the first time, which can take longer than a hook has. This fills their caches, and waits for it. Other runtimes are only looked for.',
    audit: 'plugin_prewarmed',
    bodyRule: 'optional',
    body: Type.Object({ plugins: Type.Optional(Type.Array(Name, { maxItems: 50, description: 'By default, all that are enabled' })) }),
    examples: { all: {}, one: { plugins: ['topic-memory'] }, two: { plugins: ['topic-memory', 'user-profile'] } },
    errors: [403],
    responses: { 200: Type.Object({ results: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), message: Type.String() })) }) },
    handler: async ({ body }) => reply(200, { results: await plugins.prewarm(body.plugins) }),
  });

const dependencies = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'installPluginDependencies',
    method: 'POST',
    path: '/api/plugins/{name}/install-deps',
    summary: 'Install what a plugin needs',
    description: 'Runs the package manager of its runtime in the sandbox, with the network, for at most five minutes. This runs code of the packages.',
    audit: 'plugin_dependencies_installed',
    params: Params,
    errors: [403, 404],
    responses: { 200: Type.Object({ success: Type.Boolean(), output: Type.String() }) },
    handler: async ({ params }) => reply(200, await plugins.installDependencies(params.name)),
  });

const Switched = Type.Object({ enabled: Type.Boolean(), name: Type.String(), message: Type.String() });

const enable = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'enablePlugin',
    method: 'POST',
    path: '/api/plugins/{name}/enable',
    summary: 'Enable a plugin',
    description: `Takes effect at once. ${HOW}`,
    audit: 'plugin_enabled',
    params: Params,
    errors: [403, 404],
    responses: { 200: Switched },
    handler: async ({ params }) => {
      const plugin = await plugins.setEnabled(params.name, true);
      return reply(200, { enabled: true, name: plugin.name, message: plugins.isActive(plugin) ? 'It runs from the next message on.' : HOW });
    },
  });

const disable = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'disablePlugin',
    method: 'POST',
    path: '/api/plugins/{name}/disable',
    summary: 'Disable a plugin',
    description: 'Its hooks run no more, from the next message on.',
    audit: 'plugin_disabled',
    params: Params,
    errors: [403, 404],
    responses: { 200: Switched },
    handler: async ({ params }) => {
      const { name } = await plugins.setEnabled(params.name, false);
      return reply(200, { enabled: false, name, message: 'Messages are answered without it.' });
    },
  });

const reload = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'reloadPlugin',
    method: 'POST',
    path: '/api/plugins/{name}/reload',
    summary: 'Reload a plugin',
    description: 'Its files are read at each call anyway. This also looks for its launcher again, and lets a hook run that was left out because it failed.',
    audit: 'plugin_reloaded',
    params: Params,
    errors: [403, 404],
    responses: { 200: Type.Object({ name: Type.String(), version: Type.String(), hooks_valid: Type.Boolean(), processes_evicted: Type.Integer(), message: Type.String() }) },
    handler: async ({ params }) => {
      const { plugin, evicted } = await plugins.reload(params.name);
      return reply(200, { name: plugin.name, version: plugin.manifest.version, hooks_valid: await plugins.isValid(plugin), processes_evicted: evicted, message: 'Reloaded.' });
    },
  });

const sign = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'signPlugin',
    method: 'POST',
    path: '/api/plugins/{name}/sign',
    summary: 'Sign a plugin',
    description:
      'Writes the SHA-256 of each hook and an Ed25519 signature into plugin.toml. From then on a hook or a manifest that was changed is not run; sign again after a change of yours. The key stays in the vault.',
    audit: 'plugin_signed',
    params: Params,
    errors: [403, 404],
    responses: {
      200: Type.Object({
        signed: Type.Literal(true),
        plugin: Type.String(),
        algorithm: Type.Literal('ed25519'),
        signature: Type.String({ description: 'Base64, 64 bytes, over the canonical JSON of the manifest without `signature`' }),
        public_key: Type.String({ description: 'Base64, 32 bytes' }),
        hashes: Type.Record(Type.String(), Type.String(), { description: 'Hex SHA-256 by path' }),
        count: Type.Integer(),
      }),
    },
    handler: async ({ params }) => {
      const { signature, publicKey, hashes } = await plugins.sign(params.name);
      return reply(200, { signed: true as const, plugin: params.name, algorithm: 'ed25519' as const, signature, public_key: publicKey, hashes, count: Object.keys(hashes).length });
    },
  });

const test = ({ plugins }: RouteDeps): RouteDecl =>
  route({
    ...admin,
    id: 'testPluginHook',
    method: 'POST',
    path: '/api/plugins/{name}/test-hook',
    summary: 'Run a hook once',
    description: 'On a sample, or on `input`; it need not be enabled. Shows what came back and what would come of it. Like each call it leaves a trace.',
    audit: 'plugin_hook_tested',
    params: Params,
    bodyRule: 'optional',
    body: Type.Object({
      hook: Type.Optional(OneOf(HOOKS, { default: 'ingest' })),
      input: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Fields of its input, such as message' })),
    }),
    examples: { 'on a sample': {}, 'a message': { hook: 'ingest', input: { message: 'I moved to Porto.', peer_id: '4711' } }, 'behind an answer': { hook: 'after_turn' } },
    errors: [403, 404],
    responses: { 200: HookResult },
    handler: async ({ params, body, actor }) => {
      const hook = body.hook ?? 'ingest';
      const { outcome, effect, elapsedMs, traced } = await plugins.test(actor, params.name, hook, body.input ?? {});
      await traced;
      return reply(200, {
        hook,
        plugin: params.name,
        success: outcome.fault === undefined,
        elapsed_ms: Math.round(elapsedMs),
        output: outcome.taken?.value ?? null,
        error: outcome.fault?.kind ?? null,
        message: outcome.fault?.message ?? null,
        note: effect.note,
        line: outcome.taken?.line ?? null,
        exit_code: outcome.exitCode,
        walls: outcome.walls,
        stdout: headOf(outcome.stdout),
        stderr: headOf(outcome.stderr),
      });
    },
  });
