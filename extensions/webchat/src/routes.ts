/// <reference path="./page-files.d.ts" />
/**
 * The page, what it is made of, and the panels that areas bring.
 *
 * W1  None of its files holds data of this daemon, so none asks for a key. What the page shows it asks of the API, as whoever looks at it.
 * W2  No script or style runs but files of this daemon, and the page speaks with this daemon alone (Content-Security-Policy).
 * W3  A panel is offered to those who have its permission, while its area is on. Files of an area that is off are not served.
 * W4  What third parties bring or models write runs in a document whose origin is nobody's, and is no script of this origin.
 */
import { type Actor, type Assets, bytes, type CollectionView, defineRoute, ErrorBody, OneOf, PANEL_HUBS, type PanelView, reply, type RouteDecl, sendAsset, servedErrors, Type } from '@svc/api';
import { frameDocument } from './frame-document.js';
import icon from '../page/icon.svg' with { type: 'text' };
import markup from '../page/page.html' with { type: 'text' };
import sandbox from '../page/sandbox.html' with { type: 'text' };
import { webchatErrors } from './errors.js';
import { SANDBOX, SANDBOX_HEADERS } from './sandbox.js';

export interface PageDeps {
  readonly assets: Assets;
  /** Where the changes stand, which the live socket tells. */
  newest(): string;
  panels(): readonly PanelView[];
  panelFiles(extension: string): Assets | undefined;
  /** Whether the caller has this permission. */
  mayDo(actor: Actor, permission: string): Promise<boolean>;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Pictures that were just chosen, and those of the workspaces, are shown before or without an address of their own.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  // Sound and video among the uploads.
  "media-src 'self'",
  "manifest-src 'self'",
  // Documents of third parties' panels and of what models write, which are sandboxed by themselves.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** May be kept, but is asked for again: an answer of 304 costs less than a page and a script of two versions. */
const CHECKED = { 'cache-control': 'no-cache', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' };
/** Its name says which version it is. */
const FOR_EVER = { ...CHECKED, 'cache-control': 'public, max-age=31536000, immutable' };

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const ICON = 'icon.svg';
/** It is asked for in three places of one page. */
const FOR_AN_HOUR = { ...CHECKED, 'cache-control': 'public, max-age=3600' };
const DEFAULT_ORDER = 500;

const FileName = Type.String({ maxLength: 100, pattern: '^(?:[A-Za-z0-9][A-Za-z0-9._-]*\\.(?:js|css|svg|png|webmanifest)|sandbox\\.html)$', description: 'Its name', examples: ['shell.js'] });

const PanelShown = Type.Object({
  id: Type.String({ description: 'Its address is `#/<id>`' }),
  extension: Type.String({ description: 'The extension that contributes it' }),
  title: Type.Object({ en: Type.String(), zh: Type.String() }),
  icon: Type.String(),
  hub: Type.Union(PANEL_HUBS.map((hub) => Type.Literal(hub))),
  agentTab: Type.Optional(OneOf(['path', 'query'], { description: 'It is a tab of each agent: the agent id follows it in the path, or is `agent_id` of the query' })),
  waiting: Type.Optional(
    Type.Object(
      { path: Type.String(), count: Type.String(), event: Type.String(), since: Type.Optional(Type.Boolean()) },
      { description: 'A GET route and the field of its answer that says how much waits for a person; `event` is the change of the live socket after which the page asks again' },
    ),
  ),
  script: Type.Optional(Type.String({ description: 'A module below `/ui/panels/<extension>/`; another build has another name' })),
  view: Type.Optional(Type.Unsafe<CollectionView>({ type: 'object', description: 'Instead of a module: a collection that the page draws' })),
  style: Type.Optional(Type.String({ description: 'Its style sheet' })),
  frame: Type.Optional(
    Type.Object(
      {
        routes: Type.Array(Type.Object({ method: Type.String(), path: Type.String() })),
        events: Type.Array(Type.String(), { description: 'Changes of the live socket that the page passes on to it' }),
        build: Type.String(),
      },
      { description: 'Third-party panel: runs in a sandboxed document at `/ui/frames/<extension>/<id>`. The page calls only these routes for it' },
    ),
  ),
});

/** By the ending of a name. */
const TYPES: Readonly<Record<string, string>> = { css: STYLE, png: 'image/png', webmanifest: 'application/manifest+json' };
const typeOf = (file: string): string => TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? SCRIPT;

const byHub = (one: PanelView, other: PanelView): number =>
  PANEL_HUBS.indexOf(one.hub) - PANEL_HUBS.indexOf(other.hub) || (one.order ?? DEFAULT_ORDER) - (other.order ?? DEFAULT_ORDER) || (one.id < other.id ? -1 : 1);

/** A third party's panel counts by a route of its own extension, and by no other. */
const isOwnRoute = (path: string, frame: PanelView['frame']): boolean => frame === undefined || frame.routes.some((route) => route.method === 'GET' && route.path === path.split('?', 1)[0]);

/** Of two with one id the first one stays. */
const onlyFirst = (all: readonly PanelView[]): PanelView[] => all.filter((panel, index) => all.findIndex(({ id }) => id === panel.id) === index);

/** The panel that opens by itself is named in the page's head, and its files with it, so that they come while the page itself does. */
const FIRST_PANEL = 'chat';
const withFirstPanel = (all: readonly PanelView[]): string => {
  const first = all.find(({ id, frame }) => id === FIRST_PANEL && !frame);
  if (first?.script === undefined) return markup;
  const { extension, script, style } = first;
  const head = [
    `<meta name="first-panel" content="${[FIRST_PANEL, extension, script, style ?? ''].join(' ').trim()}">`,
    `<link rel="modulepreload" href="/ui/panels/${extension}/${script}">`,
    ...(style === undefined ? [] : [`<link rel="stylesheet" href="/ui/panels/${extension}/${style}">`]),
  ];
  return markup.replace('</head>', `${head.map((line) => `  ${line}\n  `).join('')}</head>`);
};

const pageRoutes = ({ assets, panels, panelFiles }: PageDeps): RouteDecl[] => [
  defineRoute({
    id: 'getWebchat',
    method: 'GET',
    path: '/',
    summary: 'The web page',
    description: 'Chat with agents, see what they do and cost, and fix problems. The page itself contains no data and needs no key; if the daemon has a key, the page asks for it.',
    auth: 'public',
    permission: 'webchat.read',
    cost: 0,
    responses: { 200: { description: 'An HTML page that uses this API', contentType: 'text/html' } },
    handler: async () => bytes(200, 'text/html; charset=utf-8', withFirstPanel(panels()), { ...CHECKED, 'content-language': 'en, zh', 'content-security-policy': POLICY }),
  }),
  defineRoute({
    id: 'getPageFile',
    method: 'GET',
    path: '/ui/{asset}',
    summary: 'Get an asset of the page',
    description:
      'Files of the page at `/`. Compressed if the caller accepts it, with an `ETag`. `sandbox.html` is the document in which the page previews what a model wrote, without an origin and without connections.',
    auth: 'public',
    permission: 'webchat.read',
    cost: 0,
    params: Type.Object({ asset: FileName }),
    responses: { 200: { description: 'The file', contentType: 'text/*' }, 304: Type.Null({ description: 'Not modified (If-None-Match)' }), 404: ErrorBody },
    handler: async (req) => {
      const { asset: file } = req.params;
      if (file === ICON) return bytes(200, 'image/svg+xml', icon, FOR_AN_HOUR);
      if (file === SANDBOX) return bytes(200, 'text/html; charset=utf-8', sandbox, { ...CHECKED, ...SANDBOX_HEADERS });
      if (file.endsWith('.svg')) throw servedErrors.file_missing(file);
      return sendAsset(req, assets, file, typeOf(file), file.startsWith('chunk-') ? FOR_EVER : CHECKED);
    },
  }),
  defineRoute({
    id: 'getPanelFile',
    method: 'GET',
    path: '/ui/panels/{extension}/{chunk}',
    summary: 'Get an asset of a panel',
    description: 'A file of a panel, while its extension is on. Its name changes with each build, so it can be cached forever.',
    auth: 'public',
    permission: 'webchat.read',
    cost: 0,
    params: Type.Object({ extension: Type.String({ maxLength: 60, description: 'The id of the extension', examples: ['webchat'] }), chunk: FileName }),
    responses: { 200: { description: 'The file', contentType: 'text/*' }, 304: Type.Null({ description: 'Not modified (If-None-Match)' }), 404: ErrorBody },
    handler: async (req) => {
      const { extension, chunk } = req.params;
      const files = panelFiles(extension);
      if (!files || panels().some((panel) => panel.extension === extension && panel.frame)) throw webchatErrors.panel_missing(extension);
      return sendAsset(req, files, chunk, typeOf(chunk), FOR_EVER);
    },
  }),
];

const frameRoute = ({ assets, panels, panelFiles }: PageDeps): RouteDecl =>
  defineRoute({
    id: 'getPanelFrame',
    method: 'GET',
    path: '/ui/frames/{extension}/{panel}',
    summary: 'Get a third-party panel as a document',
    description: 'The page shows it in a sandboxed frame with an opaque origin and without connections. The page makes its requests, to routes of that extension only.',
    auth: 'public',
    permission: 'webchat.read',
    cost: 0,
    params: Type.Object({
      extension: Type.String({ maxLength: 60, description: 'The id of the extension', examples: ['acme-garden'] }),
      panel: Type.String({ maxLength: 40, description: 'The id of the panel', examples: ['garden'] }),
    }),
    responses: { 200: { description: 'An HTML page', contentType: 'text/html' }, 404: ErrorBody },
    handler: async ({ params }) => {
      const panel = panels().find(({ id, extension, frame }) => frame && extension === params.extension && id === params.panel);
      const files = panel && panelFiles(panel.extension);
      if (!files || panel.script === undefined || !(await files.stat(panel.script))) throw webchatErrors.panel_missing(params.extension);
      const [own, script, style] = await Promise.all([assets.readText('shell.css'), files.readText(panel.script), styleOf(files, panel)]);
      const { text, policy } = frameDocument({ title: panel.title.en, script, styles: [own, style] });
      return bytes(200, 'text/html; charset=utf-8', text, { ...CHECKED, 'content-security-policy': policy, 'x-dns-prefetch-control': 'off' });
    },
  });

const styleOf = async (files: Assets, { style }: PanelView): Promise<string> => (style !== undefined && (await files.stat(style)) ? files.readText(style) : '');

export const webchatRoutes = (deps: PageDeps): RouteDecl[] => [
  ...pageRoutes(deps),
  frameRoute(deps),
  defineRoute({
    id: 'listPanels',
    method: 'GET',
    path: '/api/panels',
    summary: 'List panels',
    description: 'The panels of extensions that are on, in the order of the navigation, if the caller may use them.',
    auth: 'bearer',
    permission: 'webchat.read',
    cost: 1,
    responses: { 200: Type.Object({ panels: Type.Array(PanelShown), after: Type.String({ description: 'For the live socket: what changed after this answer was made' }) }) },
    handler: async ({ actor }) => {
      const after = deps.newest();
      const all = onlyFirst([...deps.panels()].sort(byHub));
      const allowed = await Promise.all(all.map(({ permission }) => deps.mayDo(actor, permission)));
      const panels = all
        .filter((_, index) => allowed[index])
        .map(({ id, extension, title, icon, hub, agentTab, waiting, script, style, view, frame }) => ({
          id,
          extension,
          title,
          icon,
          hub,
          ...(agentTab === undefined ? {} : { agentTab }),
          ...(waiting === undefined || !isOwnRoute(waiting.path, frame) ? {} : { waiting }),
          ...(script === undefined ? {} : { script }),
          ...(view === undefined ? {} : { view }),
          ...(style === undefined ? {} : { style }),
          ...(frame ? { frame: { routes: [...frame.routes], events: [...frame.events], build: frame.build } } : {}),
        }));
      return reply(200, { panels, after });
    },
  }),
];
