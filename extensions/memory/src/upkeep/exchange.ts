/**
 * Entries out and in.
 *
 * I1  What is exported into an empty agent is the same there; imported once more, it adds nothing. Only rows identical to one that is there are skipped: the same text of another day is another entry.
 * I2  A bad row refuses the whole import, by its index.
 */
import { type Actor, isSvcError, type Origin, type TaintLabel } from '@svc/api';
import { type EntryRow, type Level, LEVELS } from '../contract.js';
import { checkedContent, type Draft } from '../entries/entry-rows.js';
import type { Entries, Sameness } from '../entries/entries.js';
import { memoryErrors } from '../errors.js';
import { topicKey, WIKI } from '../wiki/wiki.js';

const LABELS: readonly TaintLabel[] = ['ExternalNetwork', 'UserInput', 'Pii', 'Secret', 'UntrustedAgent'];
const SOURCES = ['api', 'tool', 'conversation', 'import', WIKI] as const;

/** A row as another daemon may have written it; fields that are not named are ignored. */
type Foreign = Readonly<Record<string, unknown>>;

export const exportedRow = (row: EntryRow) => ({
  content: row.content,
  level: row.level,
  category: row.category,
  confidence: row.confidence,
  tags: JSON.parse(row.tags) as string[],
  user_id: row.user_id === '' ? null : row.user_id,
  source: row.source,
  role: row.role === '' ? null : row.role,
  origin: row.origin === null ? null : (JSON.parse(row.origin) as Origin),
  created_at: row.created_at,
  updated_at: row.updated_at,
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
});

export const rowsIn = (body: unknown): readonly unknown[] => {
  const rows = Array.isArray(body) ? body : typeof body === 'object' && body !== null && 'memories' in body ? body.memories : undefined;
  if (!Array.isArray(rows)) throw memoryErrors.nothing_to_import();
  return rows;
};

export const importRows = async (entries: Entries, actor: Actor, agentId: string, rows: readonly unknown[]): Promise<number> =>
  (await addRows(entries, actor, agentId, rows)).filter((isNew) => isNew).length;

/** Which of them are new. */
export const addRows = async (entries: Entries, actor: Actor, agentId: string, rows: readonly unknown[], sameness: Sameness = 'identical'): Promise<boolean[]> => {
  const drafts = rows.map((row, index) => draftOf(actor, agentId, row, index));
  const { added, rows: standing } = await entries.add(drafts, sameness);
  const fresh = new Set(added.map(({ id }) => id));
  return standing.map(({ id }) => fresh.delete(id));
};

const draftOf = (actor: Actor, agentId: string, row: unknown, index: number): Draft => {
  const bad = (why: string): never => {
    throw memoryErrors.bad_row(index, why);
  };
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return bad('it is no object');
  const one = row as Foreign;
  if (typeof one.content !== 'string') return bad('it has no content');
  const content = contentOf(one.content, bad);
  const level =
    typeof one.level === 'string'
      ? LEVELS.find(
          (known) =>
            known ===
            String(one.level)
              .toLowerCase()
              .replace(/_memory$/, ''),
        )
      : undefined;
  if (one.level !== undefined && one.level !== null && level === undefined) return bad(`its level is none of ${LEVELS.join(', ')}`);
  const confidence = one.confidence ?? undefined;
  if (confidence !== undefined && (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1))) return bad('its confidence is not between 0 and 1');
  const tags = one.tags ?? undefined;
  if (tags !== undefined && (!Array.isArray(tags) || tags.length > 50 || tags.some((tag) => typeof tag !== 'string' || tag.length > 100))) return bad('its tags are no list of at most 50 short texts');
  const metadata = one.metadata ?? undefined;
  if (metadata !== undefined && (typeof metadata !== 'object' || Array.isArray(metadata) || JSON.stringify(metadata).length > 20_000)) return bad('its metadata is no small object');
  const { category } = one;
  if (category !== undefined && category !== null && (typeof category !== 'string' || category.length > 100)) return bad('its category is no short text');
  const userId = one.user_id ?? '';
  if (typeof userId !== 'string' || userId.length > 200) return bad('its user_id is no short text');
  const created = timeOf(one.created_at, 'created_at', bad);
  const updated = timeOf(one.updated_at, 'updated_at', bad) ?? created;
  return {
    ownerId: actor.ownerId,
    agentId,
    content,
    userId,
    source: SOURCES.find((known) => known === one.source) ?? 'import',
    ...(confidence === undefined ? {} : { confidence }),
    ...(tags === undefined ? {} : { tags: tags as string[] }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, unknown> }),
    ...(category === undefined ? {} : { category }),
    ...(one.role === 'user' || one.role === 'assistant' ? { role: one.role } : one.role === null ? { role: '' } : {}),
    ...originIn(one.origin, bad),
    ...topicIn(one),
    ...(level === undefined ? {} : { level: level as Level }),
    ...(created === undefined ? {} : { createdAt: created }),
    ...(updated === undefined ? {} : { updatedAt: updated }),
  };
};

/** Labels of text from outside go with it. */
const originIn = (value: unknown, bad: (why: string) => never): Pick<Draft, 'origin'> => {
  if (value === undefined || value === null) return {};
  const { labels, source } = value as { labels?: unknown; source?: unknown };
  if (!Array.isArray(labels) || typeof source !== 'string' || source.length > 500) return bad('its origin has no labels and source');
  const known = LABELS.filter((label) => labels.includes(label));
  if (known.length !== labels.length) return bad(`its origin has other labels than ${LABELS.join(', ')}`);
  return { origin: { labels: known, source } };
};

/** A page of the wiki is a page again. */
const topicIn = ({ source, metadata }: Foreign): Pick<Draft, 'topic'> => {
  const topic = source === WIKI ? (metadata as { topic?: unknown } | null | undefined)?.topic : undefined;
  try {
    return typeof topic === 'string' ? { topic: topicKey(topic) } : {};
  } catch {
    return {};
  }
};

const contentOf = (content: string, bad: (why: string) => never): string => {
  try {
    return checkedContent(content);
  } catch (error) {
    return bad(isSvcError(error) ? error.message : 'its content is no text');
  }
};

const timeOf = (value: unknown, name: string, bad: (why: string) => never): string | undefined => {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const date = new Date(time);
  if (Number.isNaN(date.getTime()) || Math.abs(date.getUTCFullYear()) > 9_999) return bad(`${name} is no time`);
  return date.toISOString();
};
