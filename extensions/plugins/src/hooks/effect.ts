/** What a response does. Data of a script is looked at before it is used. */
import { isTable } from '@svc/api';
import type { HookName } from '../manifest/manifest.js';

type Table = Readonly<Record<string, unknown>>;

export interface Effect {
  /** Texts for the model. */
  readonly memories: readonly string[];
  /** Why nothing came of it, or what else is to be known; null where all is as it should be. */
  readonly note: string | null;
  /** The response, where it can be used. */
  readonly used: Table | undefined;
}

/** Whether a response of the right form can be used; else why not. */
export type Check = (response: Table) => string | null;

const MAX_MEMORIES = 50;
const MAX_MEMORY_CHARS = 20_000;

const TYPES: Readonly<Record<HookName, readonly string[]>> = {
  ingest: ['ingest_result'],
  after_turn: ['ok'],
  bootstrap: ['ok'],
  assemble: ['assemble_result'],
  compact: ['compact_result', 'request_llm_summary'],
  transform_tool_result: [],
  prepare_subagent: ['ok'],
  merge_subagent: ['ok'],
  on_event: [],
};

export const NOTHING: Effect = { memories: [], note: null, used: undefined };
const none = (note: string): Effect => ({ ...NOTHING, note });

export const effectOf = (hook: HookName, value: unknown, check?: Check): Effect => {
  if (!isTable(value))
    return none(`the response is ${Array.isArray(value) ? 'a list' : `the ${value === null ? 'value null' : typeof value} ${JSON.stringify(value).slice(0, 40)}`} and no object: it has no effect`);
  const types = TYPES[hook];
  if (types.length > 0 && !types.some((type) => type === value.type))
    return none(`the response has the type ${JSON.stringify(value.type ?? null).slice(0, 60)} instead of ${types.map((type) => `"${type}"`).join(' or ')}: it has no effect`);
  if (hook === 'ingest') return recalledIn(value);
  const fault = check?.(value) ?? null;
  return fault === null ? { memories: [], note: said(value), used: value } : none(`${fault}: it has no effect`);
};

const recalledIn = (value: Table): Effect => {
  if (!Array.isArray(value.memories)) return none('the response has no list "memories": it has no effect');
  const texts = textsOf(value.memories);
  const lost = value.memories.length - Math.min(texts.length, MAX_MEMORIES);
  return {
    memories: texts.slice(0, MAX_MEMORIES),
    note: lost > 0 ? `${lost} of ${value.memories.length} memories have no "content" or are beyond ${MAX_MEMORIES}` : null,
    used: value,
  };
};

/** The texts among memories that a script gave. */
export const textsOf = (memories: unknown): string[] =>
  (Array.isArray(memories) ? memories : []).flatMap((one: unknown) =>
    isTable(one) && typeof one.content === 'string' && one.content.trim() !== '' ? [one.content.replaceAll('\0', '').slice(0, MAX_MEMORY_CHARS)] : [],
  );

const said = ({ log, annotations }: Table): string | null => {
  const texts = [...(typeof log === 'string' && log !== '' ? [log] : []), ...(annotations === undefined || annotations === null ? [] : [JSON.stringify(annotations)])];
  return texts.length === 0 ? null : texts.join(' ').slice(0, 1_000);
};
