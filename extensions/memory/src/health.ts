/** What the doctor, the health page and metrics say of memory: how much can be found by meaning, by whom, and the last error. */
import type { Db, DoctorFinding, Metric, Probe } from '@svc/api';
import type { Canary } from './search/canary.js';
import type { Embedding } from './search/embedding.js';
import type { VectorShare } from './search/vector-share.js';

export interface HealthDeps {
  readonly db: Db;
  readonly embedding: Embedding;
  readonly canary: Pick<Canary, 'standing'>;
  readonly share: Pick<VectorShare, 'standing'>;
}

export interface Standing {
  readonly entries: number;
  readonly indexed: number;
  readonly embedder: string;
  /** Named by what [memory] embedding_provider says. */
  readonly error: string | undefined;
  /** Of entries that were looked for by their own text; undefined before the first hour. */
  readonly canary: Canary['standing'];
  readonly share: VectorShare['standing'];
}

export const standingOf = async ({ db, embedding, canary, share }: HealthDeps): Promise<Standing> => {
  const reader = db.system('how many entries have vectors');
  const model = await embedding.model().catch(() => undefined);
  const [entries, indexed] = await Promise.all([reader.count('entries', { archived: 0 }), model === undefined ? 0 : reader.count('vectors', { model })]);
  const kind = embedding.kind();
  return {
    entries,
    indexed,
    embedder: kind === 'none' ? 'none' : (model ?? 'a provider that has not answered yet'),
    error: embedding.state.error === undefined ? undefined : `the embedder ${embedding.name()}: ${embedding.state.error}`,
    canary: canary.standing,
    share: share.standing,
  };
};

const textOf = ({ entries, indexed, embedder, error, canary, share }: Standing): string =>
  [
    embedder === 'none' ? `${entries} entries, found by words alone` : `${Math.min(indexed, entries)} of ${entries} entries have a vector (${embedder})`,
    error === undefined ? '' : `last error: ${error}`,
    canary && canary.asked > 0 ? `${canary.found} of ${canary.asked} entries were found by their own text` : '',
    share.searches === 0 ? '' : `vectors found more than words in ${share.more} of the last ${share.searches} searches`,
  ]
    .filter((part) => part !== '')
    .join('; ');

/** Undefined where all is well. */
const troubleOf = ({ error, canary }: Standing): { readonly message: string; readonly fix: string } | undefined => {
  if (error !== undefined)
    return {
      message: `Memory is searched by words alone: ${error}`,
      fix: 'Check the provider that [memory] embedding_provider names, or set it to "auto" for the built-in embedder',
    };
  if (canary && canary.found < canary.asked)
    return {
      message: `Only ${canary.found} of the ${canary.asked} newest entries of memory are found by their own text.`,
      fix: 'Correct these entries on the page Memory: a new text is indexed again',
    };
  return undefined;
};

export const memoryProbe = async (deps: HealthDeps): Promise<Probe> => {
  const standing = await standingOf(deps);
  return { name: 'memory', status: troubleOf(standing) ? 'warn' : 'ok', detail: textOf(standing) };
};

export const memoryFindings = async (deps: HealthDeps): Promise<DoctorFinding[]> => {
  const standing = await standingOf(deps);
  const trouble = troubleOf(standing);
  return [{ check: 'memory.index', result: trouble ? 'warn' : 'pass', message: textOf(standing), ...trouble }];
};

export const memoryMetrics = async (deps: HealthDeps): Promise<Metric[]> => {
  const { entries, indexed } = await standingOf(deps);
  return [
    { name: 'svc_memory_entries', help: 'Memory entries, without archived ones', type: 'gauge', value: entries },
    { name: 'svc_memory_indexed', help: 'Memory entries with a vector of the present embedder', type: 'gauge', value: indexed },
  ];
};
