/**
 * The panels that areas bring, and the code of the one that is open.
 *
 * S1  What is offered is what the daemon lists now: switching an area off or on changes it, without a reload of the page.
 * S2  Code is loaded when its panel is opened. A reload of an area has other names for its files, so its panel is drawn anew.
 * S3  Panels of the daemon's own areas run here. Those of third parties run in a frame (framed.tsx).
 */
import type { CollectionView } from '@svc/api/collection-view';
import type { CollectionSlots } from '@svc/kit/collection';
import { address, batch, caller, daemon, loadStyle, type OutputOf, type PanelDefinition, signal, setOffered } from '@svc/kit';

export type Panel = OutputOf<'listPanels'>['panels'][number];

/** Undefined until they were listed once. */
export const panels = signal<readonly Panel[] | undefined>(undefined);
export const panelsError = signal<unknown>(undefined);
/** Where the changes stood when the panels were listed for the first time: before anything else was read. */
export let readAfter: string | undefined;

/** Asked together with who asks. Where that is nobody yet it is refused, and asked again after the login. */
let coming: Promise<OutputOf<'listPanels'> | undefined> | undefined;

export const askForPanels = (): void => {
  coming = daemon.call('listPanels').catch(() => undefined);
};

const answered = async (): Promise<OutputOf<'listPanels'>> => {
  const first = coming;
  coming = undefined;
  return (await first) ?? daemon.call('listPanels');
};

export const loadPanels = async (): Promise<void> => {
  if (!caller.peek()?.isKnown) return;
  try {
    const answer = await answered();
    const prepared = readAfter === undefined ? prepare(answer.panels) : undefined;
    readAfter ??= answer.after;
    batch(() => {
      panels.value = answer.panels;
      setOffered(answer.panels);
      panelsError.value = undefined;
    });
    await prepared;
  } catch (error) {
    panelsError.value = error;
  }
};

let isAsked = false;

/** Lists them unless that was done already. Resolves when the one that is open could load what it begins with. */
export const listPanels = async (): Promise<void> => {
  if (isAsked) return;
  if (!caller.peek()?.isKnown) {
    coming = undefined;
    return;
  }
  isAsked = true;
  await loadPanels();
};

export const hrefOf = (panel: Pick<Panel, 'extension'>, file: string): string => `/ui/panels/${encodeURIComponent(panel.extension)}/${encodeURIComponent(file)}`;

const loaded = new Map<string, Promise<PanelDefinition>>();
const definitions = new Map<string, PanelDefinition>();

type Source = Pick<Panel, 'extension' | 'script' | 'style' | 'view'>;

/** By what it is made of: another build of it is another panel. */
const keyOf = (panel: Source): string => (panel.view === undefined ? hrefOf(panel, panel.script ?? '') : `${panel.extension} ${JSON.stringify(panel.view)}`);

/** Its code, where that is there. */
export const definitionOf = (panel: Source): PanelDefinition | undefined => definitions.get(keyOf(panel));

/** The panel that the address names, else the first there is. */
export const openPanel = (all: readonly Panel[] = [], id: string): Panel | undefined => (id === '' ? all[0] : all.find((panel) => panel.id === id));

/** What the open panel will ask for first, before it is drawn. */
const prepare = async (all: readonly Panel[]): Promise<void> => {
  const { panel: id, path } = address.peek();
  const open = openPanel(all, id);
  if (!open || open.frame) return;
  // What fails is asked for again, and told, where the panel is drawn.
  await loadPanel(open)
    .then((definition) => definition.prepare?.(path))
    .catch(() => undefined);
};

/** Code that will be wanted when the panels are listed, named in the page's head. */
export const loadFirstPanel = (): void => {
  const [id, extension = '', script = '', style] = document.querySelector<HTMLMetaElement>('meta[name="first-panel"]')?.content.split(' ') ?? [];
  const { panel } = address.peek();
  // Whether it works is seen when it is opened.
  if (id !== undefined && (panel === '' || panel === id)) loadPanel({ extension, script, ...(style === undefined ? {} : { style }) }).catch(() => undefined);
};

const moduleOf = async (panel: Source): Promise<PanelDefinition> => {
  const { href, panel: definition } = await codeOf(panel);
  if (!definition) throw new Error(`${href} exports no panel.`);
  return definition;
};

const codeOf = async (panel: Source): Promise<{ href: string; panel?: PanelDefinition; slots?: CollectionSlots }> => {
  const href = hrefOf(panel, panel.script ?? '');
  const style = panel.style === undefined ? undefined : loadStyle(hrefOf(panel, panel.style));
  const script: Promise<{ panel?: PanelDefinition; slots?: CollectionSlots }> = import(href);
  const [code] = await Promise.all([script, style]);
  return { href, ...code };
};

/** A collection needs no code of its own: the shared part draws it, with what a panel's file draws by hand. */
const collectionOf = async (panel: Source): Promise<PanelDefinition> => {
  const [{ panelOf }, code] = await Promise.all([import('@svc/kit/collection'), panel.script === undefined ? undefined : codeOf(panel)]);
  // The daemon made it of a declaration.
  return panelOf(panel.view as unknown as CollectionView, code?.slots);
};

/** The code of a panel; asked for again after a failure. */
export const loadPanel = (panel: Source): Promise<PanelDefinition> => {
  const key = keyOf(panel);
  const known = loaded.get(key);
  if (known) return known;
  const coming = (panel.view === undefined ? moduleOf(panel) : collectionOf(panel)).then((definition) => {
    definitions.set(key, definition);
    return definition;
  });
  loaded.set(key, coming);
  coming.catch(() => loaded.delete(key));
  return coming;
};
