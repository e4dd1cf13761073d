/**
 * What the routes do at a hub.
 *
 * K1  Before an install the hub is asked what it says of the skill: blocked ones are refused, suspicious ones need a word for it.
 * K2  A version is pinned by what was asked for, and its bytes by the hub's SHA-256 and the caller's.
 */
import type { Actor } from '@svc/api';
import type { InstallChoices, Installed, SkillPlan, SkillsService } from '@svc/ext-skills/contract';
import { hubErrors } from './errors.js';
import { answerOf, type HubClient } from './hub-client.js';
import { browseItems, detailOf, handOffOf, type HubDetail, type HubItem, nextCursor, searchItems } from './wire.js';

export type HubKind = 'skillhub' | 'skillhub-cn';
const CODE_FILES = ['SKILL.md', 'package.json', 'skill.toml'];
const PAGE = 20;
const MAX_PAGES = 50;

export interface HubPage {
  readonly items: HubItem[];
  readonly total: number;
  readonly page: number;
  readonly next_cursor: string | null;
}

export interface Wanted {
  readonly slug: string;
  readonly version?: string;
  readonly owner?: string;
}

export interface HubDeps {
  readonly skills: Pick<SkillsService, 'installed' | 'planDownload' | 'installDownload'>;
  /** Throws `skillhub_not_set`. */
  client(kind: HubKind): Promise<HubClient>;
}

export interface Hub {
  search(actor: Actor, kind: HubKind, query: { q: string; limit?: number }): Promise<HubPage>;
  browse(actor: Actor, kind: HubKind, query: { category?: string; page?: number; sort?: string; limit?: number; cursor?: string }): Promise<HubPage>;
  detail(actor: Actor, slug: string, owner?: string): Promise<HubDetail>;
  code(slug: string, owner?: string): Promise<{ slug: string; filename: string; code: string }>;
  plan(actor: Actor, wanted: Wanted): Promise<SkillPlan>;
  install(actor: Actor, wanted: Wanted, choices: InstallChoices, acceptSuspicious: boolean): Promise<Installed>;
}

export const createHub = (deps: HubDeps): Hub => ({
  search: (actor, kind, query) => search(deps, actor, kind, query),
  browse: (actor, kind, query) => browse(deps, actor, kind, query),
  detail: (actor, slug, owner) => detail(deps, actor, slug, owner),
  code: (slug, owner) => code(deps, slug, owner),
  plan: async (actor, wanted) => deps.skills.planDownload(actor, (await fetched(deps, actor, wanted, true)).download),
  install: async (actor, wanted, choices, acceptSuspicious) => {
    const { download, sha256 } = await fetched(deps, actor, wanted, acceptSuspicious);
    return deps.skills.installDownload(actor, download, { ...choices, ...(choices.expectedSha256 === undefined && sha256 !== null ? { expectedSha256: sha256 } : {}) });
  },
});

const installedSlugs = async ({ skills }: HubDeps, actor: Actor): Promise<(slug: string) => boolean> => {
  const slugs = new Set((await skills.installed(actor)).flatMap(({ slug }) => (slug === null ? [] : [slug])));
  return (slug) => slugs.has(slug);
};

const search = async (deps: HubDeps, actor: Actor, kind: HubKind, { q, limit = PAGE }: { q: string; limit?: number }): Promise<HubPage> => {
  const client = await deps.client(kind);
  const body = await client.json('/search', { q, limit });
  const items = searchItems(body, await installedSlugs(deps, actor)).slice(0, limit);
  return { items, total: items.length, page: 1, next_cursor: nextCursor(body) };
};

/** The hub has cursors: page n is reached over those before it, which are remembered. It knows no categories: those of each page are chosen by its topics. */
const browse = async (deps: HubDeps, actor: Actor, kind: HubKind, query: Parameters<Hub['browse']>[2]): Promise<HubPage> => {
  const { category, page = 1, sort, limit = PAGE } = query;
  const client = await deps.client(kind);
  let { cursor } = query;
  let body: Readonly<Record<string, unknown>> = {};
  for (let at = 1; at <= Math.min(page, MAX_PAGES); at += 1) {
    body = await client.json('/skills', { limit, sort, cursor });
    const next = nextCursor(body);
    if (at < page && next === null) return { items: [], total: 0, page, next_cursor: null };
    if (at < page) cursor = next ?? undefined;
  }
  const items = browseItems(body, category, await installedSlugs(deps, actor));
  return { items, total: items.length, page, next_cursor: nextCursor(body) };
};

const detail = async (deps: HubDeps, actor: Actor, slug: string, owner?: string): Promise<HubDetail> => {
  const client = await deps.client('skillhub');
  const body = await asked(slug, () => client.json(`/skills/${encodeURIComponent(slug)}`, { ownerHandle: owner }));
  const found = detailOf(body, await installedSlugs(deps, actor));
  if (!found) throw hubErrors.not_found(slug);
  return found;
};

/** Statuses of the hub that mean something for one skill. */
const asked = async <T>(slug: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const answer = answerOf(error);
    if (answer?.status === 404) throw hubErrors.not_found(slug);
    if (answer?.status === 410) throw hubErrors.gone(slug);
    if (answer?.status === 409) throw hubErrors.ambiguous(slug, answer.said || 'several publishers have one of this name');
    if (answer?.status === 403 || answer?.status === 423) throw hubErrors.blocked(slug, answer.said === '' ? '' : `: ${answer.said}`);
    throw error;
  }
};

const code = async (deps: HubDeps, slug: string, owner?: string): Promise<{ slug: string; filename: string; code: string }> => {
  const client = await deps.client('skillhub');
  for (const filename of CODE_FILES) {
    const found = await asked(slug, () => client.text(`/skills/${encodeURIComponent(slug)}/file`, { path: filename, ownerHandle: owner }));
    if (found !== undefined) return { slug, filename, code: found };
  }
  throw hubErrors.no_source(slug);
};

const fetched = async (deps: HubDeps, actor: Actor, { slug, version, owner }: Wanted, acceptSuspicious: boolean) => {
  const client = await deps.client('skillhub');
  const about = await detail(deps, actor, slug, owner);
  const { is_blocked: isBlocked, is_suspicious: isSuspicious, reasons } = about.moderation;
  const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
  if (isBlocked) throw hubErrors.blocked(slug, why);
  if (isSuspicious && !acceptSuspicious) throw hubErrors.suspicious(slug, why);
  const wanted = version ?? about.version;
  if (wanted === '') await refuseHandOff(client, slug, owner);
  const author = owner ?? (about.author || undefined);
  const bytes = await asked(slug, () => client.download({ slug: about.slug, ownerHandle: author, version: wanted === '' ? undefined : wanted }));
  const isLatest = version === undefined || version === about.version;
  return {
    download: { type: 'skillhub' as const, slug: about.slug, version: wanted, ...(owner === undefined ? {} : { owner }), name: `${about.slug}.zip`, data: Buffer.from(bytes).toString('base64') },
    sha256: isLatest ? about.sha256 : null,
  };
};

const refuseHandOff = async (client: HubClient, slug: string, owner: string | undefined): Promise<void> => {
  const body = await asked(slug, () => client.json(`/skills/${encodeURIComponent(slug)}/install`, { ownerHandle: owner }));
  const where = handOffOf(body);
  if (where !== undefined) throw hubErrors.elsewhere(slug, where);
};
