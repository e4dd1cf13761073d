/** What a request gets that no route answers. */
import type { SvcError } from '@svc/api';
import { httpErrors } from './errors.js';
import { derivedFrom, type Installed, type InstalledStore } from '@svc/core';

/** The extension that would answer this if it ran. */
export type OffExtension = (method: string, path: string) => string | undefined;

export const notServed = ({ offExtension }: { readonly offExtension: OffExtension }, method: string, path: string): SvcError => {
  const id = offExtension(method === 'HEAD' ? 'GET' : method, path);
  return id === undefined ? httpErrors.not_found(path) : httpErrors.extension_off(path, id);
};

interface OffRoute {
  readonly id: string;
  readonly method: string;
  readonly segments: readonly string[];
}

export const createOffRoutes = (installed: Pick<InstalledStore, 'all'>, isActive: (id: string) => boolean): ((method: string, path: string) => string | undefined) => {
  const routes = derivedFrom(installed, (all) => all.flatMap(routesOf));
  return (method, path) => {
    const asked = path.split('/');
    return routes().find((route) => route.method === method && isFor(route, asked) && !isActive(route.id))?.id;
  };
};

/** `GET /api/goals/{id}`, and a socket's path, which is opened by GET. */
const routesOf = ({ id, contributions: { routes, sockets } }: Installed): OffRoute[] =>
  [...routes, ...sockets.map((path) => `GET ${path}`)].map((route) => {
    const [method = '', path = ''] = route.split(' ');
    return { id, method, segments: path.split('/') };
  });

const isFor = ({ segments }: OffRoute, asked: readonly string[]): boolean => {
  const hasRest = segments.at(-1)?.startsWith('{*') === true;
  if (hasRest ? asked.length < segments.length : asked.length !== segments.length) return false;
  return segments.every((segment, at) => segment.startsWith('{') || segment === asked[at]);
};
