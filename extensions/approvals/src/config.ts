/** What an operator says of approvals: which calls wait for a person, for how long, and with which second factor. */
import { defineConfig, OneOf, type Plain, Type } from '@svc/api';
import { RISKS } from './policy/risk.js';

const Glob = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const Globs = (description: string, maxItems = 200) => Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { default: [], maxItems, description });

export const Rule = Type.Object(
  {
    action: OneOf(['ask', 'deny', 'allow'], { description: '`deny` comes before `ask`, `ask` before `allow`, and `allow` before require_approval' }),
    tool: Type.String({ default: '*', minLength: 1, maxLength: 200, description: 'Name of a tool; `*` stands for any text' }),
    agent: Type.Optional(Glob('Name of an agent; `*` stands for any text')),
    risk: Type.Optional(OneOf(RISKS, { description: 'Calls of this risk, or of a higher one' })),
    command: Type.Optional(Glob('A command such as `git push *`. A line that starts more than its text tells fits every ask and deny rule and no allow rule')),
    argument: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 1_000 }), { description: 'By argument: its text, in which `*` stands for any text' })),
    reason: Type.Optional(Type.String({ maxLength: 500, description: 'What the agent and whoever decides are told' })),
  },
  { additionalProperties: false },
);
export type Rule = Plain<typeof Rule>;

export const Reviewer = Type.Object(
  {
    agent: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Name of an agent of the same owner that a person made: its model and system prompt are used, and its budget. It can't use tools" }),
    ),
    model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'A model id or alias, or PROVIDER/MODEL, where no agent is named; by default the default model. The agent whose call it is pays' }),
    ),
    max_risk: OneOf(RISKS, { default: 'high', description: 'Calls of a higher risk are not reviewed: a person decides' }),
    timeout_secs: Type.Integer({ default: 30, minimum: 1, maximum: 300, description: 'If it has not answered then, a person decides' }),
    appeal_secs: Type.Integer({ default: 300, minimum: 10, maximum: 604_800, description: 'How long a person can approve what it denied' }),
  },
  { additionalProperties: false, description: 'A model that decides first: it approves, denies, or leaves the call to a person, as every failure does' },
);
export type Reviewer = Plain<typeof Reviewer>;

export const Approval = Type.Object(
  {
    require_approval: Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })], {
      default: false,
      'x-owner-turns-on': true,
      description: 'Tools whose calls wait for a person: names, in which `*` stands for any text. `true` stands for shell_exec, process_start, file_write, file_delete, apply_patch and skill_evolve_*',
    }),
    rules: Type.Array(Rule, { default: [], maxItems: 200, description: 'Exceptions by tool, agent, risk, command or argument' }),
    timeout_secs: Type.Integer({ default: 3_600, minimum: 10, maximum: 604_800, description: 'How long a request waits for a person' }),
    timeout_fallback: OneOf(['deny', 'skip', 'escalate'], {
      default: 'deny',
      description: 'What then happens: the call is refused, or skipped, or the request is announced again and waits `escalation_secs` longer, three times at most',
    }),
    escalation_secs: Type.Integer({ default: 120, minimum: 10, maximum: 86_400, description: 'How much longer an escalated request waits, each time' }),
    auto_approve: Type.Boolean({ default: false, description: 'Nobody is asked. Rules that deny still hold' }),
    trusted_senders: Globs('Owners, such as `user:alice`, whose calls of low and medium risk wait for nobody', 100),
    cache_approvals_per_session: Type.Boolean({ default: false, description: 'An approval also covers later calls of the tool in the same session; of a command, the same command' }),
    totp_tools: Globs('Tools whose approval needs a code where `second_factor` is `totp`; all of them where none is named'),
    totp_issuer: Type.String({ default: 'svc', minLength: 1, maxLength: 60, pattern: '^[^:]+$', description: 'The name that authenticators show' }),
    totp_grace_period_secs: Type.Integer({ default: 0, minimum: 0, maximum: 3_600, description: 'For so long after a code the same person needs no other one; 0 asks for one each time' }),
    reviewer: Type.Optional(Reviewer),
    audit_retention_days: Type.Integer({ default: 90, minimum: 1, maximum: 3_650, description: 'How long decided requests are stored' }),
  },
  {
    additionalProperties: false,
    default: {},
    'x-security': true,
    'x-by-hand': 'it says which calls of agents people have to approve',
    'x-waiting': {
      channel_rules: 'messages come in over no channel yet; rules name tools, agents, commands and arguments',
      routing: true,
      auto_approve_autonomous: 'there are no autonomous agents yet',
    },
  },
);
export type Approval = Plain<typeof Approval>;

export const ApprovalSection = defineConfig('approval', Approval);
export const SecondFactor = defineConfig(
  '/second_factor',
  OneOf(['none', 'totp'], {
    default: 'none',
    description: '`totp`: approving a tool call needs a code from an authenticator',
    'x-security': true,
    'x-by-hand': 'it says whether an approval needs more than a key',
  }),
);
