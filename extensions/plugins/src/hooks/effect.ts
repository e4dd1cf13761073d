/** What a response does. Data of a script is looked at before it is used. */
import { isTable } from '@svc/api';

export interface Effect {
  /** Texts for the model. */
  readonly memories: readonly string[];
  /** Why nothing came of it; null where something did. */
  readonly note: string | null;
}

const MAX_MEMORIES = 50;
const MAX_MEMORY_CHARS = 20_000;

const none = (note: string): Effect => ({ memories: [], note });

export const effectOf = (hook: string, value: unknown): Effect => {
  if (!isTable(value))
    return none(`the response is ${Array.isArray(value) ? 'a list' : `the ${value === null ? 'value null' : typeof value} ${JSON.stringify(value).slice(0, 40)}`} and no object: it has no effect`);
  if (hook !== 'ingest')
    return value.type === 'ok' ? { memories: [], note: null } : none(`the response has the type ${JSON.stringify(value.type ?? null).slice(0, 60)} instead of "ok": it has no effect`);
  if (value.type !== 'ingest_result') return none(`the response has the type ${JSON.stringify(value.type ?? null).slice(0, 60)} instead of "ingest_result": it has no effect`);
  if (!Array.isArray(value.memories)) return none('the response has no list "memories": it has no effect');
  const texts = value.memories.flatMap((one: unknown) =>
    isTable(one) && typeof one.content === 'string' && one.content.trim() !== '' ? [one.content.replaceAll('\0', '').slice(0, MAX_MEMORY_CHARS)] : [],
  );
  const lost = value.memories.length - Math.min(texts.length, MAX_MEMORIES);
  return { memories: texts.slice(0, MAX_MEMORIES), note: lost > 0 ? `${lost} of ${value.memories.length} memories have no "content" or are beyond ${MAX_MEMORIES}` : null };
};
