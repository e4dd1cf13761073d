/** What an operator says of flows: what becomes of a call that carries something from outside, and which sources count as inside. */
import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

const ACTIONS = ['ask', 'refuse', 'log', 'allow'] as const;
const Action = (description: string) => Type.Optional(OneOf(ACTIONS, { description }));
const Names = (description: string) => Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { default: [], maxItems: 200, description });

export const Taint = Type.Object(
  {
    mode: OneOf(ACTIONS, {
      default: 'ask',
      description:
        'What becomes of a call with an address, account, path or command from outside: `ask` waits for your approval, `refuse` refuses it, `log` runs it and writes a warning to the log, `allow` runs it',
    }),
    shell_exec: Action('Commands; by default as `mode`'),
    net_fetch: Action('Requests to the network, also for secrets and personal details in them; by default as `mode`'),
    agent_message: Action('Messages to other agents, and new agents; by default as `mode`'),
    tool_call: Action('Tools that change something elsewhere; by default as `mode`'),
    trusted_tools: Names('Tools whose results count as yours; `*` stands for any text'),
    trusted_hosts: Names('Hosts whose pages count as yours; `*.example.com` stands for all hosts below it'),
    scan: Type.Boolean({ default: true, description: 'Whether results from outside are searched for instructions to the model' }),
  },
  { additionalProperties: false, default: {}, 'x-security': true, 'x-by-hand': 'it says which calls of agents text from outside may decide' },
);
export type Taint = Plain<typeof Taint>;

export const TaintSection = defineConfig('taint', Taint);
