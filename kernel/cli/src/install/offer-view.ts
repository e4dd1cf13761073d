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
  known: 'which is trusted here',
  'handed-on': 'which the key before handed it on to',
  unknown: 'which is not known here: agreeing trusts it, and from then on only it may sign this extension',
} as const;

const signedBy = ({ key, trust }: PackageOffer): string => {
  if (trust === 'linked') return 'no: a folder in development';
  if (!key) return 'no: nothing says whose it is';
  return `with ${key.id}${key.name === '' ? '' : ` (${oneLine(key.name, 80)})`}, ${SIGNED[key.standing]}`;
};

const RUNS = {
  isolated: 'isolated: in a process of its own, without files, programs and secrets that it was not granted',
  walled: 'walled: in a process of its own, cut off from files and network by the operating system',
  'in-process': 'inside the daemon',
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
  if (grants.length === 0) return ['It asks for nothing beyond its own rows, routes and tools.'];
  const marked = (one: PackageOffer['grants'][number]): string => `${oneLine(one.grant, MAX_WORDS)}${one.optional ? ' (optional)' : ''}${replaces && one.new ? ' (new)' : ''}`;
  return [
    'It asks for:',
    ...grants.flatMap((one) => [
      `  ${replaces && one.new ? out.yellow(marked(one)) : out.cyan(marked(one))}`,
      ...facts([['lets it', one.what], ...(one.why === '' ? [] : ([['because', `"${oneLine(one.why, MAX_WORDS)}"`]] satisfies Array<[string, string]>))], out.width).map((line) => `  ${line}`),
    ]),
  ];
};
