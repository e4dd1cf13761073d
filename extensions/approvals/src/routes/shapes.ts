/** Requests and remembered approvals as they are answered. */
import { Nullable, type Plain, ToolPreview, Type, Uuid } from '@svc/api';
import { type GrantRow, RequestState, type RequestRow, Review } from '../contract.js';
import { RISKS } from '../policy/risk.js';

const Time = Type.String({ format: 'date-time' });

export const Approval = Type.Object(
  {
    id: Uuid,
    agent_id: Uuid,
    agent_name: Type.String(),
    tool_name: Type.String(),
    action: Type.String({ description: 'The same as tool_name' }),
    description: Type.String({ description: 'Why it needs approval' }),
    action_summary: Type.String({ description: 'One line, made from the arguments' }),
    risk_level: Type.Unsafe<(typeof RISKS)[number]>({ type: 'string', enum: [...RISKS] }),
    payload: Type.Unknown({ description: 'The arguments of the call' }),
    preview: ToolPreview,
    session_id: Nullable(Uuid),
    run_id: Nullable(Uuid),
    parent_run_id: Nullable(Uuid, { description: 'The run of the agent that asked this one' }),
    status: RequestState,
    needs_totp: Type.Boolean({ description: 'Approving it needs a code' }),
    can_remember: Type.Boolean({ description: 'The approval can cover the same call later' }),
    requested_at: Time,
    created_at: Time,
    expires_at: Time,
    timeout_secs: Type.Integer(),
    decided_at: Nullable(Time),
    decided_by: Nullable(Type.String()),
    feedback: Nullable(Type.String()),
    second_factor_used: Type.Boolean(),
    review: Nullable(Review, { description: 'What the reviewer of [approval.reviewer] said; null where nobody reviewed it' }),
  },
  { 'x-name': 'Approval' },
);
export type Approval = Plain<typeof Approval>;

export const Grant = Type.Object(
  {
    id: Uuid,
    agent_id: Uuid,
    agent_name: Type.String(),
    tool_name: Type.String(),
    covers: Type.String({ description: 'The command or the arguments, or `every call`' }),
    session_id: Nullable(Uuid),
    expires_at: Nullable(Time),
    created_at: Time,
    created_by: Type.String(),
    request_id: Uuid,
  },
  { 'x-name': 'ApprovalGrant' },
);

const MAX_SUMMARY_CHARS = 200;

export const approvalOf = (row: RequestRow, needsCode: (tool: string) => boolean, canRemember: (row: RequestRow) => boolean): Approval => {
  const preview = JSON.parse(row.preview) as Approval['preview']; // written by `rowOf` as a preview
  return {
    id: row.id,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    tool_name: row.tool,
    action: row.tool,
    description: row.description,
    action_summary: summaryOf(row.tool, preview),
    risk_level: RISKS.find((risk) => risk === row.risk) ?? 'critical',
    payload: JSON.parse(row.payload),
    preview,
    session_id: row.session_id === '' ? null : row.session_id,
    run_id: row.run_id === '' ? null : row.run_id,
    parent_run_id: row.parent_run_id,
    status: row.state as Approval['status'], // written by `decide` and `rowOf` alone
    needs_totp: row.state === 'pending' && needsCode(row.tool),
    can_remember: row.state === 'pending' && canRemember(row),
    requested_at: row.requested_at,
    created_at: row.requested_at,
    expires_at: row.expires_at,
    timeout_secs: row.timeout_secs,
    decided_at: row.decided_at,
    decided_by: row.decided_by,
    feedback: row.feedback,
    second_factor_used: row.second_factor === 1,
    review: row.review === null ? null : (JSON.parse(row.review) as Approval['review']), // written by reviews.ts
  };
};

export const summaryOf = (tool: string, preview: Approval['preview']): string => {
  const what = {
    command: () => ('line' in preview ? preview.line : ''),
    diff: () => ('files' in preview ? preview.files.map(({ path, added, removed }) => `${path} (+${added} -${removed})`).join(', ') : ''),
    request: () => ('url' in preview ? `${preview.method} ${preview.url}` : ''),
    arguments: () => ('text' in preview ? preview.text.replaceAll(/\s+/g, ' ') : ''),
  }[preview.kind]();
  const summary = `${tool}: ${what}`;
  return summary.length <= MAX_SUMMARY_CHARS ? summary : `${summary.slice(0, MAX_SUMMARY_CHARS - 1)}…`;
};

export const grantShown = (row: GrantRow) => ({
  id: row.id,
  agent_id: row.agent_id,
  agent_name: row.agent_name,
  tool_name: row.tool,
  covers: row.shown,
  session_id: row.session_id,
  expires_at: row.expires_at,
  created_at: row.created_at,
  created_by: row.created_by,
  request_id: row.request_id,
});
