/** What areas and the kernel tell the audit trail. They put the event into the commit that causes it; the audit area alone writes the trail. */
import type { Actor } from '../actor.js';
import { OneOf, Type } from '../schema/schema.js';
import { defineEvent } from './event.js';
import type { Plain } from './plain.js';

/** What `[audit] required` can name: such an act does not happen unless the trail can be written first. */
export const AUDIT_CATEGORIES = ['logins', 'grants', 'installs', 'approvals', 'settings', 'secrets'] as const;
export const AuditCategory = OneOf(AUDIT_CATEGORIES);
export type AuditCategory = Plain<typeof AuditCategory>;

export const AuditOutcome = OneOf(['requested', 'ok', 'refused', 'failed'], { description: '`requested` is stored before the act, the others after it' });

const Text = Type.String({ maxLength: 1_000 });
const Fact = Type.Union([Text, Type.Number(), Type.Boolean(), Type.Null()]);

/**
 * `details` stand in the trail for ever and name nobody: ids, names of tools and settings, digests. `personal` is what
 * may have to be erased: who acted, addresses, texts. The trail holds a salted hash of it, and the rest is a row of `ownerId`.
 */
export const AuditFact = Type.Object({
  /** The same fact is entered once, however often it is delivered. */
  id: Type.String({ format: 'uuid' }),
  at: Type.String({ format: 'date-time' }),
  /** What it was done to, then what was done: `agent_spawned`. */
  type: Type.String({ pattern: '^[a-z][a-z0-9_]{1,63}$' }),
  outcome: AuditOutcome,
  agentId: Type.String({ maxLength: 64, description: 'Empty where no agent is concerned' }),
  ownerId: Text,
  details: Type.Record(Type.String(), Fact),
  personal: Type.Record(Type.String(), Fact),
});
export type AuditFact = Plain<typeof AuditFact>;

/** Stored because the audit area listens to it durably. Only areas that come with svc publish it, without naming it in their manifest, and only the audit area hears it. */
export const AuditRecorded = defineEvent('audit.recorded', '1.0.0', AuditFact);

export interface AuditNote {
  readonly type: string;
  readonly actor: Actor;
  readonly outcome?: AuditFact['outcome'];
  readonly agentId?: string | undefined;
  /** Whose entry it is, where it is not the actor's: the owner of the agent. */
  readonly ownerId?: string;
  readonly requestId?: string;
  readonly details?: AuditFact['details'];
  readonly personal?: AuditFact['personal'];
}

/** The data of `AuditRecorded`: `ctx.events.event(AuditRecorded, auditFact(ctx, { … }))`. */
export const auditFact = (
  { ids, clock }: { readonly ids: { uuid(): string }; readonly clock: { iso(): string } },
  { type, actor, outcome = 'ok', agentId = '', ownerId = actor.ownerId, requestId, details, personal }: AuditNote,
): AuditFact => ({
  id: ids.uuid(),
  at: clock.iso(),
  type,
  outcome,
  agentId,
  ownerId,
  details: { role: actor.role, ...(requestId === undefined ? {} : { request_id: requestId }), ...details },
  personal: { actor: actor.id, ...personal },
});

const MAX_PREVIEW = 200;

/** A tool call as the trail has it: what was called, how it was decided and how it ended. Of its arguments a digest stays, and the beginning as a personal detail. */
export const toolCallNote = (call: {
  readonly actor: Actor;
  readonly agentId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly digest: string;
  readonly args: unknown;
  readonly status: string;
  /** Why it was refused, as a code. */
  readonly code?: string | undefined;
}): AuditNote => ({
  type: 'tool_invoked',
  actor: call.actor,
  agentId: call.agentId,
  outcome: call.status === 'completed' ? 'ok' : call.status === 'denied' ? 'refused' : 'failed',
  details: {
    tool: call.tool.slice(0, MAX_PREVIEW),
    digest: call.digest,
    status: call.status,
    call_id: call.callId.slice(0, MAX_PREVIEW),
    ...(call.runId === '' ? {} : { run_id: call.runId }),
    ...(call.code === undefined ? {} : { code: call.code }),
  },
  personal: { arguments: (JSON.stringify(call.args) ?? '').slice(0, MAX_PREVIEW) },
});
