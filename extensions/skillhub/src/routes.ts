/** The mirror of a hub, and the search over the local registry and the hub together. */
import { type ErrorShape, isSvcError, reply, type RouteDecl, routeGroup, Type, wordsAsked } from '@svc/api';
import type { SkillsService } from '@svc/ext-skills/contract';
import type { Hub } from './hub.js';
import { BrowseQuery, HUB_ERRORS, HubAnswer, SearchQuery } from './resources.js';

const route = routeGroup({ area: 'skillhub' });
const PAGE = 20;
const HUB_RESULTS = 50;

/** Who shows a list shows an empty one with the reason. */
export const emptyList: ErrorShape = { body: (status, error) => (HUB_ERRORS.includes(status) ? { ...error, items: [] } : undefined) };

const Result = Type.Object(
  {
    name: Type.String(),
    author: Type.String(),
    description: Type.String(),
    downloads: Type.Integer(),
    version: Type.String(),
    from: Type.String({ description: '`registry` or `skillhub`: where it is installed from' }),
    is_installed: Type.Boolean(),
  },
  { 'x-name': 'MarketplaceSkill' },
);

export interface RouteDeps {
  readonly hub: Hub;
  readonly skills: Pick<SkillsService, 'installed' | 'registry'>;
  isSet(): Promise<boolean>;
}

export const hubRoutes = ({ hub, skills, isSet }: RouteDeps): RouteDecl[] => [
  route({
    id: 'searchMirror',
    method: 'GET',
    cost: 10,
    path: '/api/clawhub-cn/search',
    summary: 'Search the mirror of a hub',
    description: 'As `GET /api/skillhub/search`, at the address that `[skills] hub_mirror_url` names.',
    query: SearchQuery,
    errors: HUB_ERRORS,
    errorShape: emptyList,
    responses: { 200: HubAnswer },
    handler: async ({ actor, query }) => reply(200, await hub.search(actor, 'skillhub-cn', query)),
  }),
  route({
    id: 'browseMirror',
    method: 'GET',
    cost: 10,
    path: '/api/clawhub-cn/browse',
    summary: 'Browse the mirror of a hub',
    description: 'As `GET /api/skillhub/browse`, at the address that `[skills] hub_mirror_url` names.',
    query: BrowseQuery,
    errors: HUB_ERRORS,
    errorShape: emptyList,
    responses: { 200: HubAnswer },
    handler: async ({ actor, query }) => reply(200, await hub.browse(actor, 'skillhub-cn', query)),
  }),
  route({
    id: 'searchMarketplace',
    method: 'GET',
    cost: 10,
    path: '/api/marketplace/search',
    summary: 'Search for skills everywhere',
    description: 'The local registry, and the hub where one is set. If the hub could not be asked, `error` says why and the others are listed.',
    query: Type.Object({ q: SearchQuery.properties.q, page: BrowseQuery.properties.page }),
    responses: {
      200: Type.Object(
        { results: Type.Array(Result), total: Type.Integer(), page: Type.Integer(), error: Type.Optional(Type.String({ description: 'Why the hub is missing' })) },
        { 'x-name': 'MarketplaceResults' },
      ),
    },
    handler: async ({ actor, query: { q, page = 1 } }) => {
      const words = wordsAsked(q).map((word) => word.toLowerCase());
      const installed = new Set((await skills.installed(actor)).map(({ name }) => name));
      const local = (await skills.registry(actor))
        .filter(({ name, description, tags }) => words.every((word) => `${name} ${description} ${tags.join(' ')}`.toLowerCase().includes(word)))
        .map(({ name, author, description, version }) => ({ name, author, description, downloads: 0, version, from: 'registry', is_installed: installed.has(name) }));
      const { items, error } = (await isSet()) ? await asked(() => hub.search(actor, 'skillhub', { q, limit: HUB_RESULTS })) : { items: [], error: undefined };
      const remote = items.map(({ slug, owner, description, downloads, version, is_installed }) => ({ name: slug, author: owner, description, downloads, version, from: 'skillhub', is_installed }));
      const all = [...local, ...remote];
      return reply(200, { results: all.slice((page - 1) * PAGE, page * PAGE), total: all.length, page, ...(error === undefined ? {} : { error }) });
    },
  }),
];

const asked = async <T extends { items: unknown[] }>(work: () => Promise<T>): Promise<{ items: T['items']; error: string | undefined }> => {
  try {
    return { items: (await work()).items, error: undefined };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { items: [], error: error.message };
  }
};
