/** Answers of a hub, read with care: every field may be missing or of another kind. */
import { isTable, type Plain, Type } from '@svc/api';

type Table = Readonly<Record<string, unknown>>;

const Time = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

export const HubItem = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    version: Type.String(),
    owner: Type.String({ description: 'Name of its publisher; empty where the hub does not say it' }),
    downloads: Type.Integer(),
    stars: Type.Integer(),
    score: Type.Number({ description: 'How well it fits a search; 0 when browsing' }),
    updated_at: Time,
    is_installed: Type.Boolean(),
  },
  { 'x-name': 'HubSkill' },
);
export type HubItem = Plain<typeof HubItem>;

export const HubDetail = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    version: Type.String(),
    downloads: Type.Integer(),
    stars: Type.Integer(),
    author: Type.String(),
    author_name: Type.String(),
    author_image: Type.String(),
    tags: Type.Array(Type.String()),
    changelog: Type.String(),
    created_at: Time,
    updated_at: Time,
    installed: Type.Boolean(),
    is_installed: Type.Boolean(),
    moderation: Type.Object({
      verdict: Type.String({ description: 'What the hub says of it: `clean`, `suspicious`, `malicious`, or `unknown`' }),
      is_suspicious: Type.Boolean(),
      is_blocked: Type.Boolean(),
      reasons: Type.Array(Type.String()),
    }),
    sha256: Type.Union([Type.String(), Type.Null()], { description: 'Of the download, where the hub says it' }),
  },
  { 'x-name': 'HubSkillDetail' },
);
export type HubDetail = Plain<typeof HubDetail>;

const MAX_ITEMS = 200;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0);
const table = (value: unknown): Table => (isTable(value) ? value : {});
const tables = (value: unknown): Table[] => (Array.isArray(value) ? value.filter(isTable).slice(0, MAX_ITEMS) : []);

const time = (value: unknown): string | null => {
  if (typeof value !== 'number' || !(Math.abs(value) < 8.64e15)) return null;
  return new Date(value).toISOString();
};

const topicsOf = (row: Table): string[] => (Array.isArray(row.topics) ? row.topics.map(text).filter((topic) => topic !== '') : []);

export type IsInstalled = (slug: string) => boolean;

export const searchItems = (body: Table, isInstalled: IsInstalled): HubItem[] =>
  tables(body.results)
    .filter(({ slug, source }) => text(slug) !== '' && source !== 'skills-sh')
    .map((row) => ({
      slug: text(row.slug),
      name: text(row.displayName) || text(row.slug),
      description: text(row.summary),
      version: text(row.version),
      owner: text(row.ownerHandle) || text(table(row.owner).handle),
      downloads: count(row.downloads),
      stars: 0,
      score: typeof row.score === 'number' && Number.isFinite(row.score) ? row.score : 0,
      updated_at: time(row.updatedAt),
      is_installed: isInstalled(text(row.slug)),
    }));

export const browseItems = (body: Table, category: string | undefined, isInstalled: IsInstalled): HubItem[] =>
  tables(body.items)
    .filter((row) => text(row.slug) !== '' && (category === undefined || topicsOf(row).some((topic) => topic.toLowerCase() === category.toLowerCase())))
    .map((row) => ({
      slug: text(row.slug),
      name: text(row.displayName) || text(row.slug),
      description: text(row.summary) || text(row.description),
      version: text(table(row.latestVersion).version),
      owner: text(row.ownerHandle) || text(table(row.owner).handle),
      downloads: count(table(row.stats).downloads),
      stars: count(table(row.stats).stars),
      score: 0,
      updated_at: time(row.updatedAt),
      is_installed: isInstalled(text(row.slug)),
    }));

export const nextCursor = (body: Table): string | null => text(body.nextCursor) || null;

/** Undefined where the hub shows none. */
export const detailOf = (body: Table, isInstalled: IsInstalled): HubDetail | undefined => {
  const skill = table(body.skill);
  const slug = text(skill.slug);
  if (slug === '') return undefined;
  const owner = table(body.owner);
  const latest = table(body.latestVersion);
  const moderation = table(body.moderation);
  const installed = isInstalled(slug);
  return {
    slug,
    name: text(skill.displayName) || slug,
    description: text(skill.summary) || text(skill.description),
    version: text(latest.version),
    downloads: count(table(skill.stats).downloads),
    stars: count(table(skill.stats).stars),
    author: text(owner.handle),
    author_name: text(owner.displayName) || text(owner.handle),
    author_image: text(owner.image),
    tags: [...new Set([...topicsOf(skill), ...Object.keys(table(skill.tags))])].slice(0, 50),
    changelog: text(latest.changelog),
    created_at: time(skill.createdAt),
    updated_at: time(skill.updatedAt),
    installed,
    is_installed: installed,
    moderation: {
      verdict: text(moderation.verdict) || 'unknown',
      is_suspicious: moderation.isSuspicious === true || moderation.verdict === 'suspicious',
      is_blocked: moderation.isMalwareBlocked === true || moderation.verdict === 'malicious',
      reasons: Array.isArray(moderation.reasonCodes) ? moderation.reasonCodes.map(text).filter((code) => code !== '') : [],
    },
    sha256: /^[0-9a-f]{64}$/i.test(text(body.expectedSha256)) ? text(body.expectedSha256).toLowerCase() : null,
  };
};

/** Where the hub does not store the files itself: what `/skills/{slug}/install` says. */
export const handOffOf = (body: Table): string | undefined => {
  if (body.installKind !== 'github') return undefined;
  const github = table(body.github);
  return text(github.sourceUrl) || [text(github.owner), text(github.repo)].filter((part) => part !== '').join('/') || 'GitHub';
};
