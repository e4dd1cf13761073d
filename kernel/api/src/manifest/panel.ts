/**
 * Panels: what an extension adds to the page. Declared in extension.json, so that the page can offer one before any of its code
 * is loaded; its code is `panels/<id>.panel.tsx` of the extension, built to a chunk of its own that the page loads when it is opened.
 * Of an extension that is installed from elsewhere it is one module, `dist/panels/<id>.js`, with a style sheet `<id>.css` beside it
 * if it wants one, and runs in a sandboxed frame (@svc/client/frame).
 *
 * A panel that names a collection has no code: the page draws it from the declaration (collection-view.ts).
 */
import type { CollectionView } from '../declare/collection-view.js';
import { PERMISSION_PATTERN } from '../http/permission.js';
import { type Static, Type } from '../schema/schema.js';

/** The entries of the page's navigation, in their order. The panels of one are its tabs. */
export const PANEL_HUBS = ['chat', 'agents', 'automate', 'knowledge', 'connect', 'costs', 'safety', 'system', 'more'] as const;

const closed = { additionalProperties: false };
const Words = Type.String({ minLength: 1, maxLength: 40 });

export const Panel = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
      maxLength: 40,
      description: 'Also the end of its address, and the name of its file in panels/. One id, one panel, of whichever extension',
    }),
    title: Type.Object({ en: Words, zh: Words }, { ...closed, description: 'As the navigation calls it' }),
    icon: Type.String({ pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$', maxLength: 40, description: 'The name of an icon of the kit' }),
    hub: Type.Union(
      PANEL_HUBS.map((hub) => Type.Literal(hub)),
      {
        description:
          'Its hub in the navigation, where it is a tab. automate: workflows, schedules, triggers, goals, tasks and runs; knowledge: memory, files and skills; ' +
          'connect: models, MCP, channels, plugins and peers; safety: approvals, audit and checkpoints; system: the daemon; more: everything else',
      },
    ),
    agentTab: Type.Optional(
      Type.Union([Type.Literal('path'), Type.Literal('query')], {
        description: 'It is a tab of each agent too. path: the tab is at `#/<id>/<agent id>`; query: at `#/<id>?agent_id=<agent id>`',
      }),
    ),
    waiting: Type.Optional(
      Type.Object(
        {
          path: Type.String({ maxLength: 200, pattern: '^/api/[A-Za-z0-9/_-]+(?:\\?[A-Za-z0-9_=&.-]*)?$', description: 'A GET route of the extension, with its query' }),
          count: Type.String({ maxLength: 40, pattern: '^[a-z][a-z0-9_]*$', description: 'The field of the answer: a number, or a list whose items are counted' }),
          event: Type.String({ maxLength: 40, description: 'The live event after which the page counts again' }),
          since: Type.Optional(Type.Boolean({ description: 'Counts only since the panel was last open: the page adds `since=<time>` to the query' })),
        },
        { ...closed, description: 'What waits for a person: the navigation and the title of the tab show the number' },
      ),
    ),
    collection: Type.Optional(Type.String({ maxLength: 60, description: 'A collection of the extension, by its path: the page draws its table and forms, and the panel needs no code' })),
    order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000, description: 'Among those of its hub; default 500' })),
    permission: Type.String({
      pattern: PERMISSION_PATTERN,
      description: "As the extension's routes name it, such as `acme-garden.read`. Callers without it do not see the panel. The panel's own requests are checked separately",
    }),
  },
  closed,
);
export type Panel = Static<typeof Panel>;

/** A panel of an extension that is active. */
export interface PanelView extends Panel {
  readonly extension: string;
  /** Names of its files; with another build they have other names. A panel of a collection has none. */
  readonly script?: string;
  readonly style?: string;
  /** What the page draws, where the panel names a collection. */
  readonly view?: CollectionView;
  /** Of a third party's alone: it runs in a frame of its own, and may ask for these, its extension's routes, through the page. */
  readonly frame?: {
    readonly routes: readonly FrameRoute[];
    /** Events of the extension that its panels hear, as far as the caller may: those that it declares as live. */
    readonly events: readonly string[];
    /** Another one after each reload of the extension. */
    readonly build: string;
  };
}

export interface FrameRoute {
  readonly method: string;
  /** As it was declared: `/api/garden/beds/{id}`. */
  readonly path: string;
}
