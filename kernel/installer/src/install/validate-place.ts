/** Whether a package can stand beside what is installed: ids, claims, routes, tools, requirements. Validated from data alone. */
import type { Contributions, Manifest } from '@svc/api/internal';
import { providerOf, resolve, rivalClaim } from '@svc/core';
import { overlap, parsePath, type PathPattern } from '@svc/platform/http/routes/path-pattern';
import satisfies from 'semver/functions/satisfies.js';
import { type AllContributions, namesOf } from '../contributions.js';
import { isCliWord } from '../commands/cli-words.js';
import { installErrors } from '../errors.js';
import { validateOwnRoutes } from './own-routes.js';

export interface Neighbour {
  readonly id: string;
  /** Whether it came with the daemon. */
  readonly bundled: boolean;
  readonly manifest: Manifest;
  readonly contributions: Contributions;
}

export interface Candidate {
  readonly manifest: Manifest;
  readonly contributions: AllContributions;
}

/** Throws `install_api_range`. */
export const validateApiRange = ({ id, api }: Manifest, apiVersion: string): void => {
  if (!satisfies(apiVersion, api, { includePrerelease: true })) throw installErrors.api_range(id, api, apiVersion);
};

/** Throws `install_id_taken`. */
export const validateId = (id: string, installed: readonly Neighbour[]): void => {
  if (installed.some((one) => one.id === id && one.bundled)) throw installErrors.id_taken(id);
};

/** Throws `install_requirement`, `install_conflict`, `install_route_taken`, `install_tool_taken`, `install_command_taken`, `install_route_refused` or `install_ring`. An earlier version of the same id is not in its way. */
export const validateNeighbours = (candidate: Candidate, installed: readonly Neighbour[], apiVersion: string): void => {
  const { manifest } = candidate;
  const others = installed.filter(({ id }) => id !== manifest.id);
  validateRequirements(manifest, others);
  validateConflicts(manifest, others);
  validateNames(candidate, others);
  validateOwnRoutes(
    manifest.id,
    candidate.contributions,
    (manifest.grants ?? []).map(({ grant }) => grant),
  );
  refuseCycle(manifest, others, apiVersion);
};

const validateRequirements = ({ id, requires, provides }: Manifest, others: readonly Neighbour[]): void => {
  const manifests = others.map(({ manifest }) => manifest);
  for (const [service, range] of Object.entries(requires ?? {})) {
    if (provides?.[service] !== undefined) throw installErrors.ring(id, `${id} → ${id}`);
    if (!providerOf(service, range, manifests)) throw installErrors.requirement(id, service, range);
  }
};

const validateConflicts = (manifest: Manifest, others: readonly Neighbour[]): void => {
  const rival = others.find((other) => manifest.conflicts?.includes(other.id) || other.manifest.conflicts?.includes(manifest.id));
  if (rival) throw installErrors.conflict(manifest.id, `it and ${rival.id} exclude each other`);
  const claim = rivalClaim(
    manifest,
    others.map((other) => other.manifest),
    { sections: [], events: [], kinds: [] },
  );
  if (claim !== undefined) throw installErrors.conflict(manifest.id, claim);
};

/** A route as it is listed: its method and its path. Throws `install_manifest` for what is none. */
const placeOf = (route: string): { readonly method: string; readonly pattern: PathPattern } => {
  const [method = '', ...path] = route.split(' ');
  try {
    return { method, pattern: parsePath(path.join(' ')) };
  } catch (error) {
    throw installErrors.manifest('contributions.json', [error instanceof Error ? error.message : `the route ${route}`]);
  }
};

/** A socket is opened by a GET. */
const asOpened = (path: string): string => `GET ${path}`;

/** Not the same route alone: `/api/vault/mine` would be sent what somebody means for `/api/vault/{name}`. */
const rivalRoute = ({ routes, sockets }: Contributions, others: readonly Neighbour[]): { readonly name: string; readonly other: string } | undefined => {
  const places = [...routes, ...sockets.map(asOpened)].map((name) => ({ name, ...placeOf(name) }));
  for (const other of others) {
    for (const theirs of [...other.contributions.routes, ...other.contributions.sockets.map(asOpened)].map(placeOf)) {
      const rival = places.find(({ method, pattern }) => method === theirs.method && overlap(pattern, theirs.pattern));
      if (rival) return { name: rival.name, other: other.id };
    }
  }
  return undefined;
};

const validateNames = ({ manifest: { id }, contributions }: Candidate, others: readonly Neighbour[]): void => {
  const own = namesOf(contributions);
  const ours = own.commandWords?.find(isCliWord);
  if (ours !== undefined) throw installErrors.command_taken(id, ours, 'svc itself');
  const taken = (mine: readonly string[], theirs: (of: Contributions) => readonly string[]): { readonly name: string; readonly other: string } | undefined => {
    for (const other of others) {
      const names = new Set(theirs(other.contributions));
      const name = mine.find((one) => names.has(one));
      if (name !== undefined) return { name, other: other.id };
    }
    return undefined;
  };
  const route = rivalRoute(own, others);
  if (route) throw installErrors.route_taken(id, route.name, route.other);
  const tool = taken(
    own.tools.map(({ name }) => name),
    ({ tools }) => tools.map(({ name }) => name),
  );
  if (tool) throw installErrors.tool_taken(id, tool.name, tool.other);
  const slash = taken(slashNames(own), slashNames);
  if (slash) throw installErrors.slash_taken(id, slash.name, slash.other);
  const word = taken(own.commandWords ?? [], ({ commandWords }) => commandWords ?? []);
  if (word) throw installErrors.command_taken(id, word.name, word.other);
};

const slashNames = ({ slashCommands = [] }: Contributions): string[] => slashCommands.flatMap((names) => names.split(' '));

const refuseCycle = (manifest: Manifest, others: readonly Neighbour[], apiVersion: string): void => {
  const all = [...others.map((other) => other.manifest), manifest];
  const reason = resolve(all, all, { apiVersion }).blocked.get(manifest.id);
  if (reason === undefined) return;
  const [, ring] = /form a ring: (.+)$/.exec(reason) ?? [];
  throw ring === undefined ? installErrors.conflict(manifest.id, reason) : installErrors.ring(manifest.id, ring);
};
