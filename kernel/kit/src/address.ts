/**
 * Where the page is: `#/panel/one/two?query`. In the fragment, so that a reload needs nothing of the daemon, and nothing
 * of it stands in anybody's log.
 */
import { signal } from '@preact/signals';

export interface Place {
  /** The id of a panel; empty for the first one. */
  readonly panel: string;
  /** What follows it. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
};

const placeOf = (hash: string): Place => {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [panel = '', ...rest] = path.split('/').filter(Boolean).map(decoded);
  return { panel, path: rest, query: Object.fromEntries(new URLSearchParams(query)) };
};

export const address = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => {
  address.value = placeOf(location.hash);
});

/** As an `href`. */
export const addressOf = (panel: string, path: readonly string[] = [], query: Readonly<Record<string, string | undefined>> = {}): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]]));
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${[panel, ...path].map(encodeURIComponent).join('/')}${search}`;
};

/** `replace`: without a step back in the browser's history. */
export const go = (panel: string, path: readonly string[] = [], { query = {}, replace = false }: { query?: Readonly<Record<string, string | undefined>>; replace?: boolean } = {}): void => {
  const href = addressOf(panel, path, query);
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  address.value = placeOf(href);
};

/** Changes the query of where the page is; nothing else moves. */
export const setQuery = (query: Readonly<Record<string, string | undefined>>): void => {
  const { panel, path, query: now } = address.peek();
  go(panel, path, { query: { ...now, ...query }, replace: true });
};
