import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

export const PLUGIN_NAME = '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$';
const Name = Type.String({ pattern: PLUGIN_NAME });
const Script = Type.String({ minLength: 1, maxLength: 1_024, description: 'Absolute path of a script; one that begins with ~/ is in your home folder' });

export const PluginRegistry = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    url: Type.Optional(Type.String({ pattern: '^https?://\\S+$', maxLength: 2_048, description: 'Folder with index.json, index.json.sig and one folder for each plugin' })),
    public_key: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', description: 'Ed25519 key in base64, 32 bytes: index.json must be signed with it. Needed over plain http' })),
    github_repo: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$', maxLength: 200, description: 'OWNER/NAME; each folder in its folder `plugins` is one plugin' })),
    api_url: Type.Optional(Type.String({ pattern: '^https?://\\S+$', maxLength: 2_048, description: 'Server with the contents API of `github_repo`' })),
  },
  { additionalProperties: false },
);
export type PluginRegistry = Plain<typeof PluginRegistry>;

export const ContextEngineSection = defineConfig(
  'context_engine',
  Type.Object(
    {
      engine: OneOf(['default'], { default: 'default', description: 'How a conversation becomes the context of a model' }),
      plugin: Type.Optional(Type.String({ pattern: '^([A-Za-z0-9][A-Za-z0-9_-]{0,127})?$', description: 'The plugin whose hooks run; the name of a folder in plugins/ of the home' })),
      plugin_stack: Type.Array(Name, { default: [], maxItems: 16, description: 'Several plugins; two or more are used instead of `plugin`' }),
      hooks: Type.Optional(
        Type.Object(
          {
            ingest: Type.Optional(Script),
            after_turn: Type.Optional(Script),
            bootstrap: Type.Optional(Script),
            assemble: Type.Optional(Script),
            compact: Type.Optional(Script),
            transform_tool_result: Type.Optional(Script),
            prepare_subagent: Type.Optional(Script),
            merge_subagent: Type.Optional(Script),
            on_event: Type.Optional(Script),
            runtime: Type.Optional(Type.String({ maxLength: 40, default: 'python', description: 'Language of these scripts' })),
          },
          { additionalProperties: false, description: 'Hooks without a plugin' },
        ),
      ),
      plugin_registries: Type.Array(PluginRegistry, { default: [], maxItems: 20, description: 'Where plugins can be installed from' }),
    },
    {
      additionalProperties: false,
      default: {},
      description: 'Scripts that add to what agents see',
      'x-restart': true,
      'x-security': true,
      'x-by-hand': 'it names scripts that the daemon starts',
      'x-waiting': {
        plugin_stack_weights: 'plugins of a stack share the token limit in the order of their priority',
        deduplicate_file_reads: 'each result of a tool stays in the conversation as it was',
        sidecar: 'no program is started as the context engine: the built-in one serves, with the hooks of plugins',
      },
    },
  ),
);
export type ContextEngine = Plain<(typeof ContextEngineSection)['schema']>;
