/** Skills over HTTP, on the command line and on the page. */
import { defineResource, Nullable, OneOf, Type } from '@svc/api';
import { SkillFinding, SkillPlan } from './contract.js';
import { EVOLVE_ACTIONS } from './evolve/resources.js';
import { skillErrors } from './errors.js';
import { RUNTIMES } from './format/skill-toml.js';
import { SEVERITIES } from './install/scan.js';

const NAME = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';
const MAX_PROMPT = 160_000;
const COST = 50;

const Source = Type.Object(
  {
    type: OneOf(['local', 'url', 'git', 'registry', 'skillhub', 'skillhub-cn', 'bundled']),
    from: Type.Optional(Type.String({ description: 'The path, the address or the name that it was installed from' })),
    slug: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String({ description: 'The publisher that was named' })),
    path: Type.Optional(Type.String({ description: 'The folder in the source that was named' })),
  },
  { 'x-name': 'SkillSource' },
);

const Common = {
  name: Type.String(),
  version: Type.String(),
  runtime: OneOf(RUNTIMES),
  description: Type.String(),
  author: Type.String(),
  tags: Type.Array(Type.String()),
  category: Type.String(),
  tools_count: Type.Integer(),
  enabled: Type.Boolean(),
  has_prompt_context: Type.Boolean(),
  error: Nullable(Type.String(), { description: 'Why it is switched off or could not be loaded' }),
  warnings: Type.Array(Type.String()),
  risk: OneOf(['none', ...SEVERITIES], { description: 'The worst that was found in it. Text of a skill with warnings counts as text from outside' }),
  use_count: Type.Integer(),
};

export const SkillItem = Type.Object({ ...Common, source: Source }, { 'x-name': 'Skill' });

const Texts = Type.Array(Type.String());
const Version = Type.Object({ version: Type.String(), timestamp: Type.String({ format: 'date-time' }), changelog: Type.String(), content_hash: Type.String() });

export const SkillDetail = Type.Object(
  {
    ...Common,
    source: Type.String({ description: 'Its type, and the slug of a hub: `skillhub:weather`' }),
    license: Type.String(),
    homepage: Type.String(),
    tools: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
    prompt_context: Type.String(),
    prompt_context_length: Type.Integer(),
    path: Type.String({ description: 'Its folder; empty for a skill that comes with svc' }),
    linked_files: Type.Object({ references: Texts, templates: Texts, scripts: Texts, assets: Texts }),
    evolution: Type.Object({ versions: Type.Array(Version), use_count: Type.Integer(), evolution_count: Type.Integer() }),
    requirements: Type.Object({
      programs: Type.Array(Type.Object({ name: Type.String(), found: Type.Boolean() })),
      variables: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() })),
      systems: Texts,
      installs: Texts,
    }),
    findings: Type.Array(SkillFinding),
    digest: Nullable(Type.String(), { description: 'SHA-256 of its files as they were installed' }),
    installed_at: Nullable(Type.String({ format: 'date-time' })),
  },
  { 'x-name': 'SkillDetail' },
);

const source = Type.Optional(
  Type.String({ minLength: 1, maxLength: 2_000, description: 'A folder or file of this machine, an https address of a SKILL.md, .zip or .tar.gz, a git repository, or a name in the local registry' }),
);
const registryName = Type.Optional(Type.String({ pattern: NAME, description: 'A name in the local registry, in place of `source`' }));
const path = Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Folder of the skill, where the source has several' }));

export const InstallFields = {
  verify: Type.Optional(Type.Boolean({ default: true, description: 'Whether `expected_sha256` is compared' })),
  expected_sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the download, or the digest that the plan showed' })),
  replace: Type.Optional(Type.Boolean({ default: false, description: 'Update it if it is installed' })),
  discard_edits: Type.Optional(Type.Boolean({ default: false, description: 'Overwrite files that were changed by hand' })),
  accept_findings: Type.Optional(Type.Boolean({ default: false, description: 'Install in spite of critical findings. For owners; the audit log records it' })),
  credentials: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }), Type.String({ minLength: 1, maxLength: 10_000 }), {
      description: 'Values of variables that the programs of the skill ask for. They go into the vault and are never shown',
    }),
  ),
};

const InstallBody = Type.Object({ source, name: registryName, path, ...InstallFields }, { additionalProperties: false });
const PlanBody = Type.Object({ source, name: registryName, path }, { additionalProperties: false });

export const SkillInstalled = Type.Object(
  { status: Type.Literal('installed'), skill: Type.String(), name: Type.String(), version: Type.String(), digest: Type.String(), warnings: Texts },
  { 'x-name': 'SkillInstalled' },
);

const ListQuery = Type.Object({
  category: Type.Optional(Type.String({ maxLength: 200, description: 'Only skills of this category' })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Words in the name, the description or the tags' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 5_000, description: 'At most this many; all by default' })),
});

export const SkillsResource = defineResource({
  area: 'skills',
  one: 'skill',
  path: '/api/skills',
  key: { name: 'name', schema: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the skill', examples: ['skill-writing'] }) },
  item: SkillItem,
  operations: {
    list: {
      summary: 'List skills',
      description: 'All skills, with those that could not be loaded: `enabled` is false and `error` says why. `total` counts what fits the query; `categories` are those of all skills.',
      query: ListQuery,
      answer: Type.Object({ skills: Type.Array(SkillItem), total: Type.Integer(), categories: Texts }, { 'x-name': 'SkillList' }),
    },
    get: { summary: 'Get a skill', description: 'With its instructions, files, requirements and findings. Stored values of variables are never shown.', answer: SkillDetail },
  },
  list: { as: ['skills'] },
  columns: ['name', 'version', 'runtime', 'description', 'category', 'enabled', 'risk', 'error'],
  actions: {
    ...EVOLVE_ACTIONS,
    file: {
      method: 'GET',
      id: 'getSkillFile',
      summary: 'Get a file of a skill',
      description: 'A text file below `references/`, `templates/`, `scripts/` or `assets/`; at most 256 KiB, then `truncated` is true.',
      query: Type.Object({ path: Type.String({ minLength: 1, maxLength: 1_000, description: 'From the folder of the skill', examples: ['references/rules.md'] }) }),
      answer: Type.Object({ name: Type.String(), path: Type.String(), content: Type.String(), truncated: Type.Boolean() }, { 'x-name': 'SkillFile' }),
      command: { args: ['name', 'path'], output: { kind: 'line', text: '{content}' } },
    },
    registry: {
      on: 'list',
      method: 'GET',
      id: 'listSkillRegistry',
      summary: 'List the local registry of skills',
      description: 'The skills below `registry/skills` of the home folder, which can be installed by their names.',
      answer: Type.Object({
        skills: Type.Array(
          Type.Object(
            { name: Type.String(), description: Type.String(), version: Type.String(), author: Type.String(), tags: Texts, is_installed: Type.Boolean(), error: Nullable(Type.String()) },
            { 'x-name': 'RegistrySkill' },
          ),
        ),
        total: Type.Integer(),
      }),
      command: {
        output: {
          kind: 'table',
          rows: 'skills',
          empty: 'The local registry is empty. Put skills into registry/skills of the home folder.',
          columns: [{ field: 'name' }, { field: 'version' }, { field: 'is_installed', title: 'INSTALLED' }, { field: 'description', shrinks: true }],
        },
      },
    },
    reload: {
      on: 'list',
      id: 'reloadSkills',
      summary: 'Reload skills',
      description: 'Reads all folders anew. Changes count from the next message. For owners and admins.',
      permission: 'skills.admin',
      answer: Type.Object({ status: Type.Literal('reloaded'), count: Type.Integer() }),
      errors: [403],
      cost: 10,
      audit: 'skills_reloaded',
      done: { en: 'Reloaded {count} skills.', zh: '已重新加载 {count} 个技能。' },
      button: { label: { en: 'Reload', zh: '重新加载' }, icon: 'refresh-cw' },
      command: { args: [] },
    },
    plan: {
      on: 'list',
      path: '/install/plan',
      id: 'planSkillInstall',
      summary: 'Show what installing a skill would do',
      description: 'Fetches the skill and reads it: its files, tools, programs, variables, hosts and findings, and what differs from the installed version. Nothing is written. For owners and admins.',
      permission: 'skills.admin',
      body: PlanBody,
      answer: SkillPlan,
      errors: [403, 404, 413, 502],
      cost: COST,
      audit: false,
      examples: { 'a folder': { source: '/home/me/skills/release-notes' }, 'an address': { source: 'https://example.com/skills/weather.zip' }, 'of the registry': { name: 'release-notes' } },
      command: { verb: 'check', args: ['source'], output: { kind: 'record' } },
    },
    install: {
      on: 'list',
      id: 'installSkill',
      summary: 'Install a skill',
      description:
        'Fetches the skill, verifies and scans it, and stores it. Agents have it from the next message. Read `POST /api/skills/install/plan` first, and send its `digest` as `expected_sha256`. For owners and admins: a skill tells agents what to do.',
      permission: 'skills.admin',
      status: 201,
      body: InstallBody,
      answer: SkillInstalled,
      errors: [403, 404, 409, 413, 502],
      cost: COST,
      audit: 'skill_installed',
      auditCategory: 'settings',
      examples: {
        'a folder': { source: '/home/me/skills/release-notes' },
        'an archive that was read before': { source: 'https://example.com/skills/weather.zip', expected_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
        'an update': { source: 'https://github.com/example/skills', path: 'skills/weather', replace: true },
        'of the registry': { name: 'release-notes' },
      },
      done: { en: 'Installed {skill} {version}.', zh: '已安装 {skill} {version}。' },
      button: { label: { en: 'Install', zh: '安装' }, icon: 'download' },
      command: { args: ['source'], confirm: 'Install this skill? Its instructions become those of your agents. `svc skills check SOURCE` shows what it would do.' },
    },
    uninstall: {
      on: 'list',
      id: 'uninstallSkill',
      summary: 'Uninstall a skill',
      description: 'Deletes its folder and its stored values. Runs that have read it go on. Skills that come with svc cannot be uninstalled. For owners and admins.',
      permission: 'skills.admin',
      body: Type.Object({ name: Type.String({ pattern: NAME, description: 'Name of the skill' }) }, { additionalProperties: false }),
      answer: Type.Object({ status: Type.Literal('uninstalled'), skill: Type.String(), name: Type.String() }),
      errors: [403, 404],
      cost: 10,
      audit: 'skill_uninstalled',
      auditCategory: 'settings',
      examples: { 'a skill': { name: 'weather' }, 'another one': { name: 'release-notes' }, 'with an underscore': { name: 'git_helper' } },
      done: { en: 'Uninstalled {skill}.', zh: '已卸载 {skill}。' },
      button: { label: { en: 'Uninstall', zh: '卸载' }, icon: 'trash-2', isDangerous: true },
      command: { verb: 'remove', args: ['name'], confirm: 'Uninstall the skill {name}?' },
    },
    create: {
      on: 'list',
      id: 'createSkill',
      summary: 'Create a skill',
      description: 'A skill of instructions alone. It is scanned, and agents have it from the next message. For owners and admins.',
      permission: 'skills.admin',
      body: Type.Object(
        {
          name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$', description: 'Lower-case letters, digits, `_` and `-`' }),
          description: Type.String({ minLength: 1, maxLength: 1_024, pattern: '\\S', description: 'What it does, and when an agent should use it' }),
          prompt_context: Type.String({ default: '', maxLength: MAX_PROMPT, description: 'The instructions, in Markdown' }),
          tags: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { default: [], maxItems: 50, description: 'The first one is its category' }),
        },
        { additionalProperties: false },
      ),
      answer: Type.Object({ status: Type.Literal('created'), name: Type.String(), version: Type.String(), message: Type.String() }),
      errors: [403, 409],
      cost: 10,
      audit: 'skill_created',
      auditCategory: 'settings',
      examples: {
        'release notes': {
          name: 'release-notes',
          description: 'Write release notes from commits.',
          prompt_context: '1. Read the commits since the last tag.\n2. Group them by area.',
          tags: ['writing'],
        },
        'a rule': { name: 'house-style', description: 'Rules for texts of this company. Use it for each letter.', prompt_context: 'Write short sentences.', tags: [] },
        'to be filled in': { name: 'empty-skill', description: 'Nothing yet.', prompt_context: '', tags: [] },
      },
      done: { en: '{message}', zh: '已创建 {name}。' },
      button: { label: { en: 'New skill', zh: '新建技能' }, icon: 'plus' },
      command: { args: ['name', 'description'] },
    },
  },
  words: {
    title: { en: 'Skills', zh: '技能' },
    one: { en: 'skill', zh: '技能' },
    note: { en: 'Instructions, files and programs that agents load when a task fits.', zh: '任务合适时智能体会加载的说明、文件和程序。' },
    empty: { en: 'No skills yet. Install one from a folder or an address, or write one.', zh: '还没有技能。可以从文件夹或网址安装，也可以新建。' },
    fields: {
      name: { label: { en: 'Name', zh: '名称' } },
      version: { label: { en: 'Version', zh: '版本' } },
      runtime: { label: { en: 'Kind', zh: '类型' }, values: { PromptOnly: { en: 'text', zh: '文本' } } },
      description: { label: { en: 'Description', zh: '说明' } },
      category: { label: { en: 'Category', zh: '分类' } },
      enabled: { label: { en: 'On', zh: '启用' } },
      risk: {
        label: { en: 'Findings', zh: '扫描结果' },
        values: { none: { en: 'none', zh: '无' }, info: { en: 'info', zh: '提示' }, warning: { en: 'warning', zh: '警告' }, critical: { en: 'critical', zh: '严重' } },
      },
      error: { label: { en: 'Problem', zh: '问题' } },
      source: { label: { en: 'From', zh: '来源' }, hint: { en: 'A folder, an address or a name of the registry', zh: '文件夹、网址或注册表中的名称' } },
      path: { label: { en: 'Folder in the source', zh: '来源中的文件夹' } },
      verify: { label: { en: 'Compare the SHA-256', zh: '校验 SHA-256' } },
      expected_sha256: { label: { en: 'Expected SHA-256', zh: '预期的 SHA-256' } },
      replace: { label: { en: 'Update if it is installed', zh: '已安装时更新' } },
      discard_edits: { label: { en: 'Overwrite changes by hand', zh: '覆盖手动修改' } },
      accept_findings: { label: { en: 'Install in spite of critical findings', zh: '忽略严重问题并安装' } },
      credentials: { label: { en: 'Variables', zh: '变量' } },
      prompt_context: { label: { en: 'Instructions', zh: '指令' } },
      tags: { label: { en: 'Tags', zh: '标签' } },
    },
  },
  missing: (name) => skillErrors.not_found(name),
});
