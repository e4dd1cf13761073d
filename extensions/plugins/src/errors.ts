import { defineErrors } from '@svc/api';

const short = (text: string): string => text.slice(0, 200);

export const pluginErrors = defineErrors('plugins', {
  not_found: { status: 404, retry: false, message: (name: string) => `There is no plugin "${short(name)}".`, hint: '`svc plugins list` shows the plugins.' },
  exists: { status: 409, retry: false, message: (name: string) => `There is a plugin "${short(name)}" already.`, hint: 'Choose another name, or remove it first: `svc plugins uninstall NAME`.' },
  bad_name: {
    status: 400,
    retry: false,
    message: (name: string) => `"${short(name)}" is no name for a plugin.`,
    hint: 'Use letters, digits, "-" and "_", at most 128; the first is a letter or digit.',
  },
  bad_runtime: { status: 400, retry: false, message: (runtime: string) => `There is no runtime "${short(runtime)}".`, hint: 'python, native, v, node, deno, go, ruby, bash, bun, php or lua.' },
  bad_source: {
    status: 400,
    retry: false,
    message: (why: string) => `The plugin cannot be installed from there: ${why}`,
    hint: 'Give `name` for a registry, `path` for a folder, or `url` for a git repository.',
  },
  bad_plugin: { status: 400, retry: false, message: (why: string) => `This is no plugin that can be installed: ${why}`, hint: 'See plugin.toml of a new one: `svc plugins create NAME`.' },
  unsafe: {
    status: 400,
    retry: false,
    message: (what: string) => `Nothing was installed, because its texts look as if they were to mislead a model: ${what}`,
    hint: 'Read the files. If you trust them, install again with `force`.',
  },
  needs_consent: {
    status: 400,
    retry: false,
    message: (name: string, walls: string) => `The plugin "${short(name)}" wants what plugins do not have: ${walls}.`,
    hint: 'If you trust it, install it with `grant` naming that: `svc plugins install … --grant network`.',
  },
  no_registry: {
    status: 404,
    retry: false,
    message: (name: string) => (name === '' ? 'config.toml names no plugin registry.' : `There is no plugin registry "${short(name)}".`),
    hint: 'Add one to [[context_engine.plugin_registries]] in config.toml.',
  },
  registry_failed: {
    status: 502,
    retry: true,
    message: (name: string, why: string) => `The plugin registry "${short(name)}" gave nothing usable: ${why}`,
    hint: 'See its address under [[context_engine.plugin_registries]].',
  },
  no_hooks: { status: 400, retry: false, message: (name: string) => `The plugin "${short(name)}" has no hooks that could be signed.`, hint: 'Declare them under [hooks] in plugin.toml.' },
  unsignable: { status: 400, retry: false, message: (name: string, why: string) => `The plugin "${short(name)}" cannot be signed: ${why}`, hint: '`svc plugins lint NAME` names each fault.' },
  no_dependencies: {
    status: 400,
    retry: false,
    message: (name: string, why: string) => `Nothing can be installed for "${short(name)}": ${why}`,
    hint: 'python: requirements.txt; node and bun: package.json; go: go.mod; ruby: Gemfile; php: composer.json.',
  },
  no_such_hook: { status: 400, retry: false, message: (name: string, hook: string) => `The plugin "${short(name)}" has no hook "${short(hook)}".`, hint: 'GET /api/plugins/{name} shows its hooks.' },
});
