/** What the doctor, the health page and metrics say of memory: how much can be found by meaning, by whom, and the last error. */
import type { Db, DoctorFinding, Metric, Probe } from '@svc/api';
import type { Embedding } from './search/embedding.js';

export interface HealthDeps {
  readonly db: Db;
  readonly embedding: Embedding;
}

export interface Standing {
  readonly entries: number;
  readonly indexed: number;
  readonly embedder: string;
  readonly error: string | undefined;
}

export const standingOf = async ({ db, embedding }: HealthDeps): Promise<Standing> => {
  const reader = db.system('how many entries have vectors');
  const model = await embedding.model().catch(() => undefined);
  const [entries, indexed] = await Promise.all([reader.count('entries', { archived: 0 }), model === undefined ? 0 : reader.count('vectors', { model })]);
  const kind = embedding.kind();
  return { entries, indexed, embedder: kind === 'none' ? 'none' : (model ?? 'a provider that has not answered yet'), error: embedding.state.error };
};

const textOf = ({ entries, indexed, embedder, error }: Standing): string =>
  embedder === 'none'
    ? `${entries} entries, found by words alone`
    : `${Math.min(indexed, entries)} of ${entries} entries have a vector (${embedder})${error === undefined ? '' : `; last error: ${error}`}`;

export const memoryProbe = async (deps: HealthDeps): Promise<Probe> => {
  const standing = await standingOf(deps);
  return { name: 'memory', status: standing.error === undefined ? 'ok' : 'warn', detail: textOf(standing) };
};

export const memoryFindings = async (deps: HealthDeps): Promise<DoctorFinding[]> => {
  const standing = await standingOf(deps);
  const isFine = standing.error === undefined;
  return [
    {
      check: 'memory.index',
      result: isFine ? 'pass' : 'warn',
      message: isFine ? textOf(standing) : `Memory is searched by words alone: ${standing.error}`,
      ...(isFine ? {} : { fix: 'Check the provider that [memory] embedding_provider names, or set it to "auto" for the built-in embedder' }),
    },
  ];
};

export const memoryMetrics = async (deps: HealthDeps): Promise<Metric[]> => {
  const { entries, indexed } = await standingOf(deps);
  return [
    { name: 'svc_memory_entries', help: 'Memory entries, without archived ones', type: 'gauge', value: entries },
    { name: 'svc_memory_indexed', help: 'Memory entries with a vector of the present embedder', type: 'gauge', value: indexed },
  ];
};
