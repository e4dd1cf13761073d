/**
 * The panels of what is active, and the files that they are made of.
 *
 * P1  Code of third parties is never among what runs in the page: their panels say that they want a frame.
 * P2  A frame may ask for routes of its own extension, and for none that somebody else could answer.
 * P3  Of one id the panel that came with the daemon stays.
 * P4  The panel of a collection is data, and asks for the collection of its own extension alone.
 */
import type { Assets, CollectionView, PanelView } from '@svc/api';
import type { FrameRoute } from '@svc/api/internal';
import type { InstalledStore, Lifecycle } from '@svc/core';
import { liveEventsOf } from './live-changes.js';
import type { PlatformParts } from '../parts.js';
import type { InstalledFiles } from '@svc/core';

export interface PanelParts extends Pick<PlatformParts, 'http' | 'openDir'> {
  readonly lifecycle: Pick<Lifecycle, 'isActive' | 'statuses'>;
  readonly installed: InstalledStore<InstalledFiles>;
}

export const panelsOf = (parts: PanelParts): PanelView[] => {
  const running = parts.installed.all().filter(({ id }) => parts.lifecycle.isActive(id));
  const active = running.filter(({ manifest }) => manifest.panels?.length);
  const references = referencesOf(running);
  const own = active.filter(({ bundled }) => bundled).flatMap((one) => viewsOf(one, references));
  const taken = new Set(own.map(({ id }) => id));
  const strange = active
    .filter(({ bundled }) => !bundled)
    .flatMap((extension) =>
      viewsOf(extension, references).map((panel) =>
        panel.view ? panel : { ...panel, frame: { routes: frameRoutes(parts, extension.id), events: liveEventsOf(extension), build: buildOf(parts, extension) } },
      ),
    )
    .filter(({ id }) => !taken.has(id));
  return [...own, ...strange];
};

export const panelFilesOf = ({ installed, lifecycle, openDir }: PanelParts, extension: string): Assets | undefined => {
  const found = installed.get(extension);
  if (!found?.panels || !lifecycle.isActive(extension)) return undefined;
  const { read, readStream, readText, stat } = openDir(found.panels.folder);
  return Object.freeze({ read, readStream, readText, stat });
};

const viewsOf = (installed: InstalledFiles, references: References): PanelView[] =>
  (installed.manifest.panels ?? []).flatMap((panel): PanelView[] => {
    const { id: extension, panels } = installed;
    const view = panel.collection === undefined ? undefined : ownCollection(installed, panel.collection);
    const files = panels?.files[panel.id];
    // Code of a third party runs in a frame; a collection of theirs is drawn from data alone.
    if (view) return [{ ...panel, ...(installed.bundled ? files : {}), view: withReferences(view, references), extension }];
    return files ? [{ ...panel, ...files, extension }] : [];
  });

type References = NonNullable<CollectionView['references']>;

/** Lists of what is active, by the name that a field refers to. Of one name the one that came with the daemon counts. */
const referencesOf = (running: readonly InstalledFiles[]): References =>
  Object.fromEntries(running.toSorted((one, other) => Number(one.bundled) - Number(other.bundled)).flatMap(({ contributions: { references = {} } }) => Object.entries(references)));

/** Those alone that its fields and columns name. */
const withReferences = (view: CollectionView, all: References): CollectionView => {
  const named = [...JSON.stringify(view).matchAll(/"(?:x-of|of)":"([^"]+)"/g)].map(([, name = '']) => name);
  const wanted = Object.entries(all).filter(([name]) => named.includes(name));
  return wanted.length === 0 ? view : { ...view, references: Object.fromEntries(wanted) };
};

/** P4. What others packed says it, so it is held to the routes that are theirs. */
const ownCollection = ({ contributions: { collections, routes } }: InstalledFiles, path: string): CollectionView | undefined =>
  collections?.find((view) => view.path === path && routes.includes(`GET ${path}`));

const buildOf = ({ lifecycle }: PanelParts, { id, version }: InstalledFiles): string => `${version}.${lifecycle.statuses().find((status) => status.id === id)?.generation ?? 0}`;

/** P2. */
const frameRoutes = ({ http }: Pick<PanelParts, 'http'>, extension: string): FrameRoute[] => {
  const all = http.routes.active();
  const others = all.filter(({ owner }) => owner.id !== extension).map(({ value }) => value);
  return all
    .filter(({ owner, value }) => owner.id === extension && !others.some((other) => other.method === value.method && mayMeet(other.path, value.path)))
    .map(({ value: { method, path } }) => ({ method, path }));
};

/** Whether there is an address that both could answer. */
const mayMeet = (one: string, other: string): boolean => {
  const [first, second] = [one.split('/'), other.split('/')];
  const rest = [first, second].map((parts) => parts.findIndex((part) => part.startsWith('{*'))).filter((at) => at >= 0);
  if (rest.length === 0 && first.length !== second.length) return false;
  const compared = Math.min(first.length, second.length, ...rest);
  return Array.from({ length: compared }, (_, at) => at).every((at) => first[at] === second[at] || isAny(first[at]) || isAny(second[at]));
};

const isAny = (part: string | undefined): boolean => part?.startsWith('{') === true;
