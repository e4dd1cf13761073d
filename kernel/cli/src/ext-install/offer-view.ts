/** A package as a person sees it before they agree. Pure. What its author wrote is shown without marks that a terminal obeys. */
import { isTable, type PackageOffer } from '@svc/api';
import { facts } from '../terminal/layout.js';
import { oneLine, type Terminal } from '../terminal/terminal.js';

const MAX_WORDS = 400;

/** Of the details of a refusal. */
export const offerOf = (details: unknown): PackageOffer | undefined =>
  // The daemon's own document names the other members.
  isTable(details) && typeof details.digest === 'string' && Array.isArray(details.grants) && Array.isArray(details.not_kept) ? (details as unknown as PackageOffer) : undefined;

const SIGNED = {
  known: 'trusted here',
  'handed-on': 'confirmed by the previous key',
  unknown: 'not trusted yet: if you agree, only this key can sign this extension from then on',
} as const;

const signedBy = ({ key, trust }: PackageOffer): string => {
  if (trust === 'linked') return 'no: a folder in development';
  if (!key) return 'no';
  return `with ${key.id}${key.name === '' ? '' : ` (${oneLine(key.name, 80)})`}, ${SIGNED[key.standing]}`;
};

const RUNS = {
  isolated: 'isolated: in its own process, without files, programs and secrets that were not granted',
  walled: 'walled: in its own process, blocked from files and network by the operating system',
} as const;

export const offerLines = (offer: PackageOffer, out: Terminal): string[] => {
  const { description, id, isolation, isolation_why, not_kept, replaces, source, version } = offer;
  const pairs: Array<[string, string]> = [
    ['from', oneLine(source, MAX_WORDS)],
    ...(replaces ? ([['replaces', replaces.version]] satisfies Array<[string, string]>) : []),
    ['signed', signedBy(offer)],
    ['runs', RUNS[isolation]],
    ['why so', oneLine(isolation_why, MAX_WORDS)],
    ...not_kept.map((one): [string, string] => ['not kept', one]),
  ];
  const loud = new Set(['not kept', ...(offer.key?.standing === 'known' ? [] : ['signed'])]);
  return [
    `${out.bold(`${id} ${version}`)}${description === '' ? '' : `  ${oneLine(description, MAX_WORDS)}`}`,
    ...facts(pairs, out.width, (text, label) => (loud.has(label) ? out.yellow(text) : text)),
    ...grantLines(offer, out),
  ];
};

const grantLines = ({ grants, replaces }: PackageOffer, out: Terminal): string[] => {
  if (grants.length === 0) return ['It needs no permissions beyond its own rows, routes and tools.'];
  const marked = (one: PackageOffer['grants'][number]): string => `${oneLine(one.grant, MAX_WORDS)}${one.optional ? ' (optional)' : ''}${replaces && one.new ? ' (new)' : ''}`;
  return [
    'Requested permissions:',
    ...grants.flatMap((one) => [
      `  ${replaces && one.new ? out.yellow(marked(one)) : out.cyan(marked(one))}`,
      ...facts([['lets it', one.what], ...(one.why === '' ? [] : ([['because', `"${oneLine(one.why, MAX_WORDS)}"`]] satisfies Array<[string, string]>))], out.width).map((line) => `  ${line}`),
    ]),
  ];
};
