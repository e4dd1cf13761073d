/**
 * Where model providers are: base URLs that whoever keeps the providers has allowed, and nothing else.
 *
 * O1  A URL is allowed when its origin is that of a base URL and its path is that path or lies below it.
 * O2  An entry stands until it is taken back, or the generation that made it stops.
 */
import { type Disposable, parsedUrl } from '@svc/api';
import { fetchErrors } from '../errors.js';

/** More base URLs than a daemon has providers. */
const MAX_ENTRIES = 2_000;

export interface ModelOrigins {
  allow(baseUrl: string): Disposable;
  covers(url: URL): boolean;
}

export const createModelOrigins = (): ModelOrigins => {
  const perOrigin = new Map<string, string[]>();
  let count = 0;
  return {
    allow: (baseUrl) => {
      const { origin, path } = parse(baseUrl);
      if (count >= MAX_ENTRIES) throw fetchErrors.too_many_origins(MAX_ENTRIES);
      count++;
      const paths = perOrigin.get(origin) ?? [];
      paths.push(path);
      perOrigin.set(origin, paths);
      let isStanding = true;
      return {
        dispose: () => {
          if (!isStanding) return;
          isStanding = false;
          count--;
          paths.splice(paths.indexOf(path), 1);
          if (paths.length === 0 && perOrigin.get(origin) === paths) perOrigin.delete(origin);
        },
      };
    },
    covers: (url) => perOrigin.get(url.origin)?.some((path) => url.pathname === path || url.pathname.startsWith(`${path}/`)) ?? false,
  };
};

/** The path without slashes at its end: `` covers everything of its origin. */
const parse = (baseUrl: string): { origin: string; path: string } => {
  const url = parsedUrl(baseUrl);
  if (!url) throw fetchErrors.bad_url('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw fetchErrors.bad_url(`${url.protocol.slice(0, -1)} is not http or https`);
  if (url.username !== '' || url.password !== '') throw fetchErrors.bad_url('it contains a user name or password');
  return { origin: url.origin, path: url.pathname.replace(/(?<!\/)\/+$/, '') };
};
