/** What approvals declares: its rows and its events. */
import { Actor, defineEvent, defineService, defineTable, method, OneOf, type Plain, type RowOf, type Service, ToolRequest, Type } from '@svc/api';

const STATES = ['pending', 'approved', 'rejected', 'expired', 'skipped'] as const;
export const RequestState = OneOf(STATES, { description: '`skipped`: its run ended before anybody decided, or its time ran out and the call was left out' });
export type RequestState = (typeof STATES)[number];

const Fact = { id: Type.String(), ownerId: Type.String(), agentId: Type.String(), sessionId: Type.String(), runId: Type.String(), tool: Type.String(), state: RequestState };
const LIVE = { what: 'approval', permission: 'approvals.read', owner: 'ownerId', id: 'id', agent: 'agentId', session: 'sessionId', state: 'state' } as const;
/** A call waits for a person; said again when it is escalated. */
export const ApprovalRequested = defineEvent('approval.requested', '1.0.0', Type.Object({ ...Fact, risk: Type.String(), description: Type.String() }), LIVE);
export const ApprovalResolved = defineEvent('approval.resolved', '1.0.0', Type.Object({ ...Fact, decidedBy: Type.String() }), LIVE);

/** What becomes of a call that somebody has to approve; an empty object where it may run. */
export const Answer = Type.Object({
  deny: Type.Optional(Type.String({ description: 'Why it is refused, for the model' })),
  code: Type.Optional(Type.String()),
  suspend: Type.Optional(Type.Object({ reason: Type.String(), wakeKey: Type.String(), until: Type.Optional(Type.String()), data: Type.Optional(Type.Unknown()) })),
});

export const Approvals = defineService('approvals', '1.2.0', {
  /** How many requests wait that the actor may decide. */
  waiting: method([Actor], Type.Integer(), { what: 'counts requests that wait for you' }),
  /** What a person is asked in a chat; undefined where the request is decided, or is another person's. */
  question: method([Actor, Type.String({ description: 'The id of the request' })], Type.Union([Type.String(), Type.Undefined()]), { what: 'reads requests that wait for you' }),
  /** Lets a call wait for a person, as a rule of [approval] would. Ask again after each wake: a call has one request, and what was decided or remembered holds. */
  ask: method([ToolRequest, Type.String({ description: 'What the person is asked' })], Answer),
  /** Whether this person has set up an authenticator and confirmed it. */
  hasAuthenticator: method([Actor], Type.Boolean()),
  /** Uses up a code of their authenticator. Throws what is wrong with it. */
  useCode: method([Actor, Type.String({ description: 'The code, or a recovery code' })], Type.Void()),
});
export type ApprovalsService = Service<typeof Approvals>;

/** What a reviewer said of a request; `pending` while it is asked, `ask` also where it gave no decision. */
export const Review = Type.Object({
  by: Type.String({ description: '`reviewer:` and the agent or model of [approval.reviewer]' }),
  decision: OneOf(['pending', 'approve', 'deny', 'ask']),
  reason: Type.String({ description: 'Empty where it said nothing that can be read' }),
  at: Type.String({ format: 'date-time' }),
});
export type Review = Plain<typeof Review>;

const text = { kind: 'text', notNull: true } as const;
const integer = { kind: 'integer', notNull: true } as const;

/** Rows stay when their agent goes: they say who decided what. */
export const RequestRows = defineTable('requests', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    agent_name: text,
    tool: text,
    description: text,
    risk: text,
    payload: { kind: 'json', notNull: true },
    preview: { kind: 'json', notNull: true },
    digest: text,
    command: { kind: 'text' },
    call_id: text,
    run_id: text,
    parent_run_id: { kind: 'text' },
    session_id: text,
    state: text,
    /** 1 while it is pending: lists show those first. */
    is_open: integer,
    requested_at: text,
    expires_at: text,
    timeout_secs: integer,
    escalations: integer,
    on_timeout: text,
    decided_at: { kind: 'text' },
    decided_by: { kind: 'text' },
    feedback: { kind: 'text' },
    second_factor: integer,
    /** 1 once its run knows, or where there is none. */
    is_woken: integer,
    /** A `Review` as JSON; null where nobody reviews it. */
    review: { kind: 'json' },
    /** Set while the reviewer is asked: when that is over at the latest. */
    review_until: { kind: 'text' },
  },
  unique: [['run_id', 'call_id']],
  indexes: [['owner_id', 'is_open', 'requested_at'], ['is_open', 'expires_at'], ['review_until'], ['is_woken', 'expires_at'], ['agent_id', 'is_open'], ['decided_at']],
  owner: 'owner_id',
});
export type RequestRow = RowOf<typeof RequestRows>;

/** Approvals that are remembered. */
export const GrantRows = defineTable('grants', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    agent_name: text,
    tool: text,
    /** `any`, `argv:` with the words of a command, or `digest:` of the arguments. */
    covers: text,
    shown: text,
    session_id: { kind: 'text' },
    expires_at: { kind: 'text' },
    created_at: text,
    created_by: text,
    request_id: text,
  },
  indexes: [
    ['agent_id', 'tool'],
    ['owner_id', 'created_at'],
  ],
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
});
export type GrantRow = RowOf<typeof GrantRows>;

/** One authenticator of a person. The secret itself is in the vault, under a name with this id. */
export const TotpRows = defineTable('totp', '1.0.0', {
  columns: {
    owner_id: { kind: 'text', primaryKey: true },
    active_key: { kind: 'text' },
    pending_key: { kind: 'text' },
    /** The newest 30-second step of which a code was used: none at or below it is taken again. */
    last_step: integer,
    verified_at: { kind: 'text' },
  },
  owner: 'owner_id',
});
export type TotpRow = RowOf<typeof TotpRows>;

export const AttemptRows = defineTable('attempts', '1.0.0', {
  columns: { owner_id: text, purpose: text, failures: integer, locked_until: { kind: 'text' } },
  primaryKey: ['owner_id', 'purpose'],
  owner: 'owner_id',
});
export type AttemptRow = RowOf<typeof AttemptRows>;

export const RecoveryRows = defineTable('recovery_codes', '1.0.0', {
  columns: { owner_id: text, hash: text, key_id: text },
  primaryKey: ['owner_id', 'hash'],
  owner: 'owner_id',
});
export type RecoveryRow = RowOf<typeof RecoveryRows>;
