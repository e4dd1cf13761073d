/**
 * Entries out and in.
 *
 * I1  What is exported into an empty agent is the same there; imported once more, it adds nothing.
 * I2  A bad row refuses the whole import, by its index.
 */
import type { Actor } from '@svc/api';
import { type EntryRow, type Level, LEVELS } from '../contract.js';
import { checkedContent, type Draft } from '../entries/entry-rows.js';
import type { Entries } from '../entries/entries.js';
import { memoryErrors } from '../errors.js';
import { isSvcError } from '@svc/api';

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
export const addRows = async (entries: Entries, actor: Actor, agentId: string, rows: readonly unknown[]): Promise<boolean[]> => {
  const drafts = rows.map((row, index) => draftOf(actor, agentId, row, index));
  const { added, rows: standing } = await entries.add(drafts);
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
  const confidence = one.confidence ?? 1;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return bad('its confidence is not between 0 and 1');
  const tags = one.tags ?? [];
  if (!Array.isArray(tags) || tags.length > 50 || tags.some((tag) => typeof tag !== 'string' || tag.length > 100)) return bad('its tags are no list of at most 50 short texts');
  const metadata = one.metadata ?? {};
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata) || JSON.stringify(metadata).length > 20_000) return bad('its metadata is no small object');
  const category = one.category ?? null;
  if (category !== null && (typeof category !== 'string' || category.length > 100)) return bad('its category is no short text');
  const userId = one.user_id ?? '';
  if (typeof userId !== 'string' || userId.length > 200) return bad('its user_id is no short text');
  const created = timeOf(one.created_at, 'created_at', bad);
  const updated = timeOf(one.updated_at, 'updated_at', bad) ?? created;
  return {
    ownerId: actor.ownerId,
    agentId,
    content,
    confidence,
    tags: tags as string[],
    metadata: metadata as Record<string, unknown>,
    category,
    userId,
    source: 'import',
    ...(level === undefined ? {} : { level: level as Level }),
    ...(created === undefined ? {} : { createdAt: created }),
    ...(updated === undefined ? {} : { updatedAt: updated }),
  };
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
