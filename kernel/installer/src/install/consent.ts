/** What a package asks for, what of it somebody agreed to, and what no isolation keeps. */
import { GRANT_KINDS, parseGrant } from '@svc/api';
import { isGranted, type Manifest } from '@svc/api/internal';
import type { Isolation } from '../signing/trust.js';

export interface AskedGrant {
  readonly grant: string;
  /** What the grant allows, in words. */
  readonly what: string;
  /** The author's reason. */
  readonly why: string;
  /** It works without. */
  readonly optional: boolean;
  /** Not covered by what was agreed to for the version that is installed. */
  readonly isNew: boolean;
}

type Asking = Pick<Manifest, 'grants' | 'hooks' | 'events' | 'provides' | 'requires' | 'optional'>;

/** What extensions from elsewhere can do by a service, in words; undefined where nobody provides it. */
export type ServiceWords = (name: string) => readonly string[] | undefined;

/** `agreed`: the grants of the version that is installed; none for a new extension. What it gets by a declaration is asked for like what it gets by an adapter. */
export const askedGrants = (manifest: Asking, routes: readonly Readonly<Record<string, unknown>>[], agreed: readonly string[], services: ServiceWords): readonly AskedGrant[] => {
  const before = agreed.map(parseGrant).filter((one) => typeof one !== 'string');
  const byGrant = (manifest.grants ?? []).map(({ grant, why, optional = false }) => {
    const parsed = parseGrant(grant);
    const known = typeof parsed === 'string' ? undefined : parsed;
    return { grant, what: known ? GRANT_KINDS[known.kind].what : '', why, optional, isNew: !(known && isGranted(before, known.kind, known.parameter)) };
  });
  return [...byGrant, ...declared(manifest, routes, services).map((one) => ({ ...one, optional: false, isNew: !agreed.includes(one.grant) }))];
};

/** Taps where nothing of anybody passes. */
const QUIET_HOOKS = new Set(['doctor.check', 'health.probe', 'kernel.ready', 'metrics.collect', 'storage.purge']);

const declared = (
  { events, hooks = [], optional, provides = {}, requires }: Asking,
  routes: readonly Readonly<Record<string, unknown>>[],
  services: ServiceWords,
): Array<Pick<AskedGrant, 'grant' | 'what' | 'why'>> => [
  ...hooks
    .filter(({ name }) => !QUIET_HOOKS.has(name))
    .map(({ name, why = '' }) => ({ grant: `hook:${name}`, what: 'is asked there each time: it sees what passes, and may change or refuse it as the hook lets it', why })),
  ...(events?.listens ?? []).filter((name) => !events?.publishes?.includes(name)).map((name) => ({ grant: `event:${name}`, what: 'receives each occurrence, with the people it concerns', why: '' })),
  ...Object.keys({ ...requires, ...optional })
    .filter((name) => !(name in provides))
    .map((name) => ({ grant: `service:${name}`, what: whatOf(services(name)), why: '' })),
  ...routes.filter(({ auth }) => auth === 'public').map(({ method, path }) => ({ grant: `public:${String(method)} ${String(path)}`, what: 'answers this to everybody, without a key', why: '' })),
];

const whatOf = (words: readonly string[] | undefined): string => {
  if (words === undefined) return 'calls this service, which nothing here provides now';
  return words.length === 0 ? 'can see whether this service exists, but cannot call it' : `for the extension's caller, during the call: ${words.join('; ')}`;
};

/** The grants that hold from now on, and those that it cannot do without and that nobody agreed to. */
export const agreedGrants = (asked: readonly AskedGrant[], consent: readonly string[] | 'all'): { readonly granted: readonly string[]; readonly missing: readonly string[] } => {
  const isAgreed = ({ grant, isNew }: AskedGrant): boolean => consent === 'all' || !isNew || consent.includes(grant);
  return {
    granted: asked.filter(isAgreed).map(({ grant }) => grant),
    missing: asked.filter((one) => !one.optional && !isAgreed(one)).map(({ grant }) => grant),
  };
};

const NETWORK =
  'the network: without bubblewrap this extension can open network connections of its own, to other programs on this machine too (Docker, the session bus). The daemon requires a key once the extension starts, so it cannot act as you there. Requests through the daemon are limited to its grants. isolation = "walled" in [extensions] blocks the network; it needs bubblewrap on Linux.';

/** What isolation can't block, as sentences for whoever agrees. */
export const notKept = (isolation: Isolation): readonly string[] => {
  if (isolation === 'walled') return [];
  return [NETWORK];
};
