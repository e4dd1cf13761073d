/** Extensions as text: a list, one in full, a plan, the graph. Pure. */
import type { ExtensionPlan, ExtensionStatus } from '@svc/api';
import type { RefusedExtension } from '@svc/api/internal';
import { bytesText, facts, table } from './terminal/layout.js';
import { oneLine, type Terminal } from './terminal/terminal.js';

export interface GraphNode {
  readonly id: string;
  readonly state: string;
  readonly needs: readonly string[];
  readonly uses: readonly string[];
  readonly waitsFor: readonly string[];
}

const stateWord = (status: ExtensionStatus): string => (status.degraded && status.state === 'active' ? 'degraded' : status.state);

const paintState = (state: string, text: string, out: Terminal): string => {
  if (state === 'active') return out.green(text);
  if (state === 'failed' || state === 'quarantined') return out.red(text);
  return state === 'inactive' ? out.dim(text) : out.yellow(text);
};

/** Owner: shown where not all came with svc. */
const whose = ({ origin }: ExtensionStatus): string => (origin === null ? 'svc' : `${origin.publisher?.name ?? origin.publisher?.keyId ?? origin.trust}, ${origin.isolation}`);

/** Files and rows together; nothing for what has no limit. */
const storedText = ({ stored }: ExtensionStatus): string => (stored === null || stored.filesBytes === null || stored.rowsBytes === null ? '' : bytesText(stored.filesBytes + stored.rowsBytes));

const ofLimit = (used: number | null, limit: number): string => `${used === null ? 'not measured yet' : bytesText(used)} of ${bytesText(limit)}`;

/** What it is; of one in trouble, what is wrong. */
const whatOf = ({ description, reason, state }: ExtensionStatus): string => {
  const about = oneLine(description, 400);
  if (reason === null) return about;
  return state === 'inactive' ? `${about} (${reason})` : reason;
};

export const listLines = (extensions: readonly ExtensionStatus[], out: Terminal): string[] => {
  const sorted = [...extensions].sort((a, b) => a.id.localeCompare(b.id));
  const isMixed = sorted.some(({ origin }) => origin !== null);
  const rows = sorted.map((each) => [
    each.id,
    stateWord(each),
    `${each.intent.enabled ? 'on' : 'off'} (${each.intent.decidedBy})`,
    ...(isMixed ? [whose(each), storedText(each)] : []),
    each.version,
    whatOf(each),
  ]);
  const columns = [
    { title: 'EXTENSION' },
    { title: 'STATE' },
    { title: 'SET BY' },
    ...(isMixed
      ? [
          { title: 'BY', givesWay: true },
          { title: 'STORED', givesWay: true },
        ]
      : []),
    { title: 'VERSION' },
    { title: 'WHAT', shrinks: true },
  ];
  return table(columns, rows, out.width, (text, column, row) => {
    if (row < 0 || column >= 2) return out.dim(text);
    return column === 1 ? paintState(text.trim(), text, out) : text;
  });
};

export const infoLines = (status: ExtensionStatus, nodes: readonly GraphNode[], out: Terminal): string[] => {
  const neededBy = nodes.filter((node) => node.needs.includes(status.id)).map((node) => node.id);
  const pairs: Array<[string, string]> = [
    ['state', stateLine(status)],
    ['set by', decision(status)],
    ...originPairs(status),
    ['version', `${status.version}, generation ${status.generation}${status.bundled ? ', comes with svc' : ''}${status.essential ? ', essential' : ''}`],
  ];
  const add = (label: string, values: readonly string[]): void => {
    if (values.length > 0) pairs.push([label, values.join(', ')]);
  };
  add(
    'provides',
    Object.entries(status.provides).map(([name, version]) => `${name} ${version}`),
  );
  add('requires', status.requires);
  add('uses', status.optional);
  add('needed by', neededBy);
  for (const [kind, values] of Object.entries(status.contributes)) add(kind, values);
  add('holds', status.holds);
  add('leaks', status.leaks);
  if (status.strikes > 0) pairs.push(['strikes', String(status.strikes)]);
  if (status.startedAt !== null) pairs.push(['started', `${status.startedAt}${status.startMs === null ? '' : `, took ${status.startMs} ms`}`]);
  return [
    out.bold(status.id),
    ...facts([['what', status.description], ...pairs] satisfies Array<[string, string]>, out.width, (text, label) => (label === 'state' ? paintState(stateWord(status), text, out) : text)),
  ];
};

const RUNS = { isolated: 'isolated, in a process of its own', walled: 'walled, in a process of its own' } as const;

/** Of what came from elsewhere: from where, who vouches for it, and how it runs. */
const originPairs = ({ origin, process, stored }: ExtensionStatus): Array<[string, string]> => {
  if (origin === null) return [];
  const { isolation, isolationWhy, publisher, source, trust } = origin;
  const signed = publisher === null ? (trust === 'linked' ? 'no: a folder in development' : 'no') : `with ${publisher.keyId}${publisher.name === null ? '' : ` (${publisher.name})`}`;
  const memory = process?.memoryBytes === null || process === null ? '' : `, ${bytesText(process.memoryBytes)}`;
  const crashes = process === null || process.crashes === 0 ? '' : `, ended ${process.crashes} crashes within ten minutes`;
  const where = process === null ? '' : process.pid === null ? ', resting' : `, process ${process.pid}${memory}`;
  return [
    ['from', oneLine(source, 400)],
    ['signed', signed],
    ['runs', `${RUNS[isolation]}${where}${crashes}`],
    ...(isolationWhy === undefined ? [] : ([['why so', oneLine(isolationWhy, 400)]] satisfies Array<[string, string]>)),
    ...(stored === null ? [] : [['stored', `${ofLimit(stored.filesBytes, stored.filesLimit)} files, ${ofLimit(stored.rowsBytes, stored.rowsLimit)} rows`] as [string, string]]),
  ];
};

export const refusedLines = (refused: readonly RefusedExtension[], out: Terminal): string[] =>
  refused.length === 0
    ? []
    : [
        '',
        out.red('Installed, and refused:'),
        ...facts(
          refused.map(({ id, message }): [string, string] => [id, message]),
          out.width,
        ),
      ];

export const whyLines = (status: ExtensionStatus, nodes: readonly GraphNode[], out: Terminal): string[] => {
  const waits = nodes.find((node) => node.id === status.id)?.waitsFor ?? [];
  const pairs: Array<[string, string]> = [
    ['state', stateLine(status)],
    ['set by', decision(status)],
  ];
  if (waits.length > 0) pairs.push(['waits for', waits.join(', ')]);
  if (status.state === 'failed' || status.state === 'quarantined')
    pairs.push(['fix', status.recoverable ? `svc tries again automatically, or now: svc ext reload ${status.id}` : `svc logs --lines 50, then svc ext reload ${status.id}`]);
  return [out.bold(status.id), ...facts(pairs, out.width, (text, label) => (label === 'state' ? paintState(stateWord(status), text, out) : text))];
};

const stateLine = (status: ExtensionStatus): string => `${stateWord(status)}${status.phase === null ? '' : ` (${status.phase})`}${status.reason === null ? '' : `: ${status.reason}`}`;

const decision = (status: ExtensionStatus): string => {
  const who = { choice: `a person's choice (svc ext reset ${status.id} drops it)`, config: 'config.toml, [extensions]', preset: 'the preset' }[status.intent.decidedBy];
  return `${status.intent.enabled ? 'on' : 'off'}, by ${who}`;
};

export const planLines = (plan: ExtensionPlan, out: Terminal): string[] => {
  const pairs: Array<[string, string]> = [];
  if (plan.starts.length > 0) pairs.push(['starts', plan.starts.join(', ')]);
  if (plan.stops.length > 0) pairs.push(['stops', plan.stops.join(', ')]);
  if (plan.degrades.length > 0) pairs.push(['degrades', plan.degrades.join(', ')]);
  if (plan.warning !== null) pairs.push(['warning', plan.warning]);
  if (plan.back !== null && plan.warning !== null) pairs.push(['way back', plan.back]);
  return [`To ${plan.action} ${out.bold(plan.id)}:`, ...facts(pairs, out.width, (text, label) => (label === 'warning' ? out.yellow(text) : text))];
};

export const graphLines = (nodes: readonly GraphNode[], out: Terminal): string[] =>
  [...nodes]
    .sort((a, b) => a.id.localeCompare(b.id))
    .flatMap((node) => {
      const pairs: Array<[string, string]> = [];
      if (node.needs.length > 0) pairs.push(['needs', node.needs.join(', ')]);
      if (node.uses.length > 0) pairs.push(['uses', node.uses.join(', ')]);
      if (node.waitsFor.length > 0) pairs.push(['waits for', node.waitsFor.join(', ')]);
      return [`${out.bold(node.id)}  ${paintState(node.state, node.state, out)}`, ...facts(pairs, out.width, (text, label) => (label === 'waits for' ? out.yellow(text) : out.dim(text)))];
    });
