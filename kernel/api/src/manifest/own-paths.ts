/**
 * Where an extension from elsewhere may answer: below /api/ext/<id>, below /api/<id> where that is no name of the interface, and
 * below what a grant `routes:/path` names. The author's build and the daemon ask the same function.
 *
 * P1  Names of the interface are nobody's, also those that are not served yet, and in any case of letters.
 * P2  The prefix is written out, as plain names in small letters: no parameter, escape or dot stands in it.
 */
import { type Grant, isGranted } from './grants.js';
import { API_NAMES, isBelow, isOfInterface, isPlainName } from './path-names.js';

const PARAMETER = /^\{\*?[a-zA-Z_][a-zA-Z0-9_]*\}$/;

/** What an extension of this id may answer without asking, the way that people type it first. */
export const ownPathsOf = (id: string): readonly string[] => (API_NAMES.has(id) ? [`/api/ext/${id}`] : [`/api/${id}`, `/api/ext/${id}`]);

/** Why an extension from elsewhere may not answer this path, as the end of a sentence; undefined where it may. */
export const pathFault = (path: string, id: string, grants: readonly Grant[]): string | undefined => {
  const segments = path.split('/').slice(1);
  const odd = segments.find((segment) => !PARAMETER.test(segment) && !isPlainName(segment));
  if (odd !== undefined) return `has "${odd}" in it, which is not a plain name`;
  const end = segments.findIndex((segment) => PARAMETER.test(segment));
  const names = end < 0 ? segments : segments.slice(0, end);
  const literal = `/${names.join('/')}`;
  if (ownPathsOf(id).some((own) => isBelow(literal, own))) return undefined;
  if (isOfInterface(literal)) return 'belongs to the interface of svc';
  if (isGranted(grants, 'routes', literal)) return undefined;
  return `is not below ${ownPathsOf(id).join(' nor below ')}, and not below a granted path (routes:${grantFor(names)})`;
};

const grantFor = (names: readonly string[]): string => `/${names.slice(0, names[0] === 'api' ? 2 : 1).join('/')}`.toLowerCase();
