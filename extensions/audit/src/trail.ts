/** The trail as people read it: entries of the chain with what may be said of them. */
import type { Actor } from '@svc/api';
import { sentenceOf } from './format/sentence.js';
import { commitmentOf, fieldsOf } from './format/entry.js';
import type { AuditStore, EntryFilter, StoredEntry } from './store.js';
import type { DetailRow } from './tables.js';

export interface ShownEntry {
  readonly id: number;
  readonly timestamp: string;
  readonly event_type: string;
  readonly summary: string;
  readonly agent_id: string;
  readonly details: string;
  readonly hash: string;
  readonly prev_hash: string;
  readonly outcome: string;
  readonly actor: string | null;
  readonly personal: Readonly<Record<string, unknown>> | null;
  readonly state: 'whole' | 'erased' | 'altered';
}

export interface ShownPage {
  readonly rows: readonly ShownEntry[];
  readonly total: number;
  readonly next: string | null;
}

export const recent = async (store: AuditStore, actor: Actor, filter: EntryFilter, page: { limit: number; offset: number; after: string | undefined }): Promise<ShownPage> => {
  const { ids, total, next } = await store.ids(actor, filter, page);
  if (ids.length === 0) return { rows: [], total, next };
  const [entries, details] = await Promise.all([store.entries(ids), store.details(actor, ids)]);
  return { rows: ids.flatMap((id) => shown(entries.get(id), details.get(id)) ?? []), total, next };
};

/** Undefined where it was trimmed meanwhile. */
export const shown = (entry: StoredEntry | undefined, detail: DetailRow | undefined): ShownEntry | undefined => {
  if (!entry || entry.body === null) return undefined;
  const fields = fieldsOf(entry.body);
  const facts = recordOf(fields?.details);
  // What cannot be read is shown as altered: it is no reason to show nothing.
  if (!fields || !facts) return { ...UNREADABLE, id: entry.id, hash: entry.hash };
  const isAltered = detail !== undefined && commitmentOf(detail.salt, detail.detail) !== facts.personal;
  const personal = detail && !isAltered ? (recordOf(detail.detail) ?? null) : null;
  const outcome = String(facts.outcome);
  const who = typeof personal?.actor === 'string' ? personal.actor : null;
  return {
    ...fields,
    id: entry.id,
    hash: entry.hash,
    summary: sentenceOf({ type: fields.event_type, actor: who, outcome }),
    outcome,
    actor: who,
    personal,
    state: isAltered ? 'altered' : detail ? 'whole' : 'erased',
  };
};

const UNREADABLE = {
  timestamp: '',
  event_type: 'unreadable',
  summary: 'This entry can no longer be read',
  agent_id: '',
  details: '',
  prev_hash: '',
  outcome: '',
  actor: null,
  personal: null,
  state: 'altered',
} as const;

const recordOf = (text: string | undefined): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};
