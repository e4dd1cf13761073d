/** What a trigger waits for. */
import { OneOf, type Plain, Type } from '@svc/api';
import { SCHEMES } from './senders.js';

const Words = Type.String({ maxLength: 512 });
const Match = Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()], { description: '`self`, the id or the name of an agent; left out or null: any' }));
const Empty = Type.Object({}, { additionalProperties: false });
const one = <const K extends string, T extends ReturnType<typeof Type.Object>>(kind: K, schema: T) => Type.Object({ [kind]: schema } as Record<K, T>, { additionalProperties: false });

/** They have no parameter. */
const PLAIN = ['all', 'lifecycle', 'agent_terminated', 'system', 'memory_update'] as const;
/** Their parameter may be left out. */
const TASKS = ['task_posted', 'task_claimed', 'task_completed'] as const;

const Posted = Type.Object(
  { assignee_match: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()], { description: '`self`, `unassigned`, the id or the name of an agent; left out or null: any' })) },
  { additionalProperties: false },
);
const Creator = Type.Object({ creator_match: Match }, { additionalProperties: false });

const Hook = Type.Object(
  {
    scheme: OneOf(SCHEMES, {
      description: '`standard`: the headers of Standard Webhooks; `github`: `X-Hub-Signature-256`; `stripe`: `Stripe-Signature`; `token`: `Authorization: Bearer`, `X-Api-Key` or `X-Gitlab-Token`',
    }),
    where: Type.Optional(Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.String({ maxLength: 512 }), { description: 'Values by path: calls with others are ignored' })),
  },
  { additionalProperties: false },
);
export type Hook = Plain<typeof Hook>;

export const Pattern = Type.Union(
  [
    OneOf([...PLAIN, ...TASKS]),
    one('all', Empty),
    one('lifecycle', Empty),
    one('agent_terminated', Empty),
    one('system', Empty),
    one('memory_update', Empty),
    one('agent_spawned', Type.Object({ name_pattern: Type.String({ maxLength: 256, description: 'Part of the name; `*` for any' }) }, { additionalProperties: false })),
    one('system_keyword', Type.Object({ keyword: Type.String({ minLength: 1, maxLength: 512 }) }, { additionalProperties: false })),
    one('memory_key_pattern', Type.Object({ key_pattern: Type.String({ maxLength: 512, description: 'Part of the key; `*` for any' }) }, { additionalProperties: false })),
    one('content_match', Type.Object({ substring: { ...Words, minLength: 1 } }, { additionalProperties: false })),
    one('webhook', Hook),
    one('task_posted', Posted),
    one('task_claimed', Creator),
    one('task_completed', Creator),
  ],
  { description: 'What it waits for: a word such as `all`, `lifecycle` or `task_posted`, or an object such as `{"agent_spawned": {"name_pattern": "*"}}`', 'x-kind': 'json' },
);
export type Pattern = Plain<typeof Pattern>;

export interface Parsed {
  readonly kind: string;
  readonly value: Readonly<Record<string, string | null | undefined>>;
}

export const parsed = (pattern: Pattern): Parsed => {
  if (typeof pattern === 'string') return { kind: pattern, value: {} };
  const [kind, value] = Object.entries(pattern)[0] ?? ['', {}];
  return { kind, value: value as Parsed['value'] }; // the schema has checked it
};

/** Of a trigger that waits for calls of its own address. */
export const hookOf = (pattern: Pattern): Hook | undefined => (typeof pattern === 'object' && 'webhook' in pattern ? pattern.webhook : undefined);

/** A word where there is no parameter: two spellings are stored as one. */
export const shortened = (pattern: Pattern): Pattern => {
  const { kind, value } = parsed(pattern);
  const isPlain = [...PLAIN, ...TASKS].some((word) => word === kind);
  return isPlain && Object.values(value).every((said) => said === null || said === undefined) ? (kind as Pattern) : pattern;
};

/** Events of these kinds can match, and no others; undefined for all. */
export const kindsOf = (pattern: Pattern): readonly string[] | undefined => {
  const { kind } = parsed(pattern);
  return KINDS[kind];
};
const KINDS: Readonly<Record<string, readonly string[]>> = {
  lifecycle: ['agent_spawned', 'agent_stopped', 'agent_suspended', 'agent_resumed'],
  agent_spawned: ['agent_spawned'],
  agent_terminated: ['agent_stopped'],
  system: ['system'],
  system_keyword: ['system'],
  memory_update: ['memory'],
  memory_key_pattern: ['memory'],
  webhook: ['webhook'],
  task_posted: ['task_posted'],
  task_claimed: ['task_claimed'],
  task_completed: ['task_completed'],
};

/** Whether its cooldown is counted for each subject alone: of others, all events share one. */
export const isPerSubject = (pattern: Pattern): boolean => !['all', 'webhook', 'system', 'system_keyword', 'content_match'].includes(parsed(pattern).kind);
