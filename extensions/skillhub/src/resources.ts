/** Skills of a hub over HTTP, on the command line and on the page. */
import { defineResource, OneOf, Type } from '@svc/api';
import { SkillPlan } from '@svc/ext-skills/contract';
import { hubErrors } from './errors.js';
import { HubDetail, HubItem } from './wire.js';

const COST = 50;
const READ_COST = 10;
const SLUG = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';
const Slug = Type.String({ pattern: SLUG, description: 'Name of the skill at the hub', examples: ['weather'] });
const Owner = Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$', description: 'Name of the publisher, where several have a skill of this name' }));
const OwnerQuery = Type.Object({ owner: Owner });
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 }));

export const SearchQuery = Type.Object({ q: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'Words to look for' }), limit: Limit });
export const BrowseQuery = Type.Object({
  category: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Only skills with this topic, of each page' })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 1 })),
  sort: Type.Optional(OneOf(['updated', 'downloads', 'stars', 'trending', 'installs', 'createdAt'])),
  limit: Limit,
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: '`next_cursor` of the page before, in place of `page`' })),
});
export const HubAnswer = Type.Object(
  { items: Type.Array(HubItem), total: Type.Integer({ description: 'Of this answer' }), page: Type.Integer(), next_cursor: Type.Union([Type.String(), Type.Null()]) },
  { 'x-name': 'HubSkills' },
);
export const HUB_ERRORS = [429, 502, 503];

const Table = {
  kind: 'table',
  rows: 'items',
  empty: 'The hub has no such skill.',
  columns: [{ field: 'slug' }, { field: 'version' }, { field: 'downloads', format: 'number' }, { field: 'description', shrinks: true }],
} as const;

export const HubSkills = defineResource({
  area: 'skillhub',
  one: 'hub skill',
  path: '/api/skillhub/browse',
  itemPath: '/api/skillhub/skill/{slug}',
  key: { name: 'slug', schema: Slug },
  item: HubItem,
  operations: {
    list: {
      id: 'browseSkillhub',
      summary: 'Browse a hub of skills',
      description: 'The hub that `[skills] hub_url` names. Answers are kept for two minutes. Where the hub cannot be asked, the status says so and `items` is empty.',
      query: BrowseQuery,
      answer: HubAnswer,
      errors: HUB_ERRORS,
      cost: READ_COST,
    },
    get: {
      id: 'getSkillhubSkill',
      summary: 'Get a skill of a hub',
      description: 'With what the hub says of it: `moderation` names why it is suspicious or blocked.',
      query: OwnerQuery,
      answer: HubDetail,
      errors: [403, 409, ...HUB_ERRORS],
      cost: READ_COST,
    },
  },
  list: { as: ['items'] },
  columns: ['slug', 'name', 'description', 'version', 'owner', 'downloads', 'is_installed'],
  verbs: { list: 'browse', get: 'show' },
  actions: {
    code: {
      method: 'GET',
      id: 'getSkillhubCode',
      summary: 'Get the source of a skill of a hub',
      description: 'SKILL.md, else package.json, else skill.toml, as the hub has it. Read it before you install the skill.',
      query: OwnerQuery,
      answer: Type.Object({ slug: Type.String(), filename: Type.String(), code: Type.String() }, { 'x-name': 'HubCode' }),
      errors: [403, 409, ...HUB_ERRORS],
      cost: READ_COST,
      isBlind: true,
      command: { output: { kind: 'line', text: '{code}' } },
    },
    search: {
      on: 'list',
      method: 'GET',
      path: '/api/skillhub/search',
      id: 'searchSkillhub',
      summary: 'Search a hub of skills',
      description: 'The hub that `[skills] hub_url` names. The best fit comes first.',
      query: SearchQuery,
      answer: HubAnswer,
      errors: HUB_ERRORS,
      cost: READ_COST,
      command: { args: ['q'], output: Table },
    },
    plan: {
      on: 'list',
      path: '/api/skillhub/install/plan',
      id: 'planSkillhubInstall',
      summary: 'Show what installing a skill of a hub would do',
      description: 'Downloads the skill and reads it, as `POST /api/skills/install/plan` does. Nothing is written. For owners and admins.',
      permission: 'skillhub.admin',
      body: Type.Object({ slug: Slug, version: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })), owner: Owner }, { additionalProperties: false }),
      answer: SkillPlan,
      errors: [403, 404, 409, 413, ...HUB_ERRORS],
      cost: COST,
      audit: false,
      examples: { 'the newest version': { slug: 'weather' }, 'one version': { slug: 'weather', version: '1.2.0' }, 'of one publisher': { slug: 'weather', owner: 'example' } },
      command: { verb: 'check', args: ['slug'], output: { kind: 'record' } },
    },
    install: {
      on: 'list',
      path: '/api/skillhub/install',
      id: 'installSkillhubSkill',
      summary: 'Install a skill of a hub',
      description:
        'Asks the hub what it says of the skill, downloads it, verifies its SHA-256, scans it and stores it. Agents have it from the next message. The version is pinned: it changes only when you install another one. For owners and admins.',
      permission: 'skillhub.admin',
      status: 201,
      body: Type.Object(
        {
          slug: Slug,
          version: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'By default the newest' })),
          owner: Owner,
          expected_sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the download, or the digest that the plan showed' })),
          replace: Type.Optional(Type.Boolean({ default: false, description: 'Update it if it is installed' })),
          discard_edits: Type.Optional(Type.Boolean({ default: false, description: 'Overwrite files that were changed by hand' })),
          accept_findings: Type.Optional(Type.Boolean({ default: false, description: 'Install in spite of critical findings. For owners; the audit log records it' })),
          accept_suspicious: Type.Optional(Type.Boolean({ default: false, description: 'Install what the hub calls suspicious' })),
        },
        { additionalProperties: false },
      ),
      answer: Type.Object(
        {
          status: Type.Literal('installed'),
          skill: Type.String(),
          name: Type.String(),
          slug: Type.String(),
          version: Type.String(),
          digest: Type.String(),
          converted_from: Type.String({ description: 'The file that the skill was read from' }),
          is_prompt_only: Type.Boolean(),
          warnings: Type.Array(Type.Object({ severity: OneOf(['warning']), message: Type.String() })),
        },
        { 'x-name': 'HubSkillInstalled' },
      ),
      errors: [403, 404, 409, 413, ...HUB_ERRORS],
      cost: COST,
      audit: 'hub_skill_installed',
      auditCategory: 'settings',
      examples: {
        'the newest version': { slug: 'weather' },
        'one version that was read before': { slug: 'weather', version: '1.2.0', expected_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
        'an update': { slug: 'weather', replace: true },
      },
      done: { en: 'Installed {skill} {version}.', zh: '已安装 {skill} {version}。' },
      button: { label: { en: 'Install', zh: '安装' }, icon: 'download' },
      command: { args: ['slug'], confirm: 'Install the skill {slug}? `svc skillhub check {slug}` shows what it would do.' },
    },
  },
  words: {
    title: { en: 'Find skills', zh: '查找技能' },
    one: { en: 'skill of the hub', zh: '技能库中的技能' },
    note: { en: 'Skills of the hub that is set in config.toml. Read one before you install it.', zh: 'config.toml 中所设技能库的技能。安装前请先阅读。' },
    empty: { en: 'The hub has no skills to show.', zh: '技能库没有可显示的技能。' },
    fields: {
      slug: { label: { en: 'Name', zh: '名称' } },
      name: { label: { en: 'Title', zh: '标题' } },
      description: { label: { en: 'Description', zh: '说明' } },
      version: { label: { en: 'Version', zh: '版本' } },
      owner: { label: { en: 'Publisher', zh: '发布者' } },
      downloads: { label: { en: 'Downloads', zh: '下载次数' } },
      is_installed: { label: { en: 'Installed', zh: '已安装' } },
      expected_sha256: { label: { en: 'Expected SHA-256', zh: '预期的 SHA-256' } },
      replace: { label: { en: 'Update if it is installed', zh: '已安装时更新' } },
      discard_edits: { label: { en: 'Overwrite changes by hand', zh: '覆盖手动修改' } },
      accept_findings: { label: { en: 'Install in spite of critical findings', zh: '忽略严重问题并安装' } },
      accept_suspicious: { label: { en: 'Install what the hub calls suspicious', zh: '安装技能库认为可疑的技能' } },
    },
  },
  missing: (slug) => hubErrors.not_found(slug),
});
