/** The verdict on one tool call: the manifest, what the owner's role leaves of it, and the rate. */
import type { Capabilities, Role, ToolRequest, ToolRisk, Verdict } from '@svc/api';
import type { CallRate } from './call-rate.js';
import { type Bounded, type Grant, whyWithheld, type Withheld } from './grants.js';
import { refusalOf } from './judge.js';

export const CODE = 'capability_denied';

/** What this owner's role leaves of the capabilities, and which role that is. */
export type Standing = (ownerId: string, capabilities: Capabilities) => Promise<Bounded & { readonly role: Role | undefined }>;
/** Every name of the agent that a call would write to. */
export type Receivers = (request: ToolRequest) => Promise<readonly string[]>;

const GRANTS_OF_RISK: Readonly<Record<ToolRisk, readonly Grant[]>> = {
  exec: ['shell', 'full_shell'],
  network: ['network', 'private_network'],
  agent: ['agent_spawn', 'agent_message'],
  read: ['file_system'],
  write: ['file_system'],
};

export const createJudge =
  (standing: Standing, receiversOf: Receivers, rate: CallRate) =>
  async (request: ToolRequest): Promise<Verdict | undefined> => {
    const { tool, args, call } = request;
    const { capabilities, withheld, role } = await standing(call.actor.ownerId, call.capabilities);
    const subject = { tool, args, receivers: await receiversOf(request) };
    const why = refusalOf({ ...subject, capabilities });
    if (why !== undefined) {
      // Where the manifest alone would have allowed the call, what the role withholds is the reason.
      const isLost = withheld.length > 0 && refusalOf({ ...subject, capabilities: call.capabilities }) === undefined;
      const lost = isLost ? reasonAmong(withheld, tool.risk) : undefined;
      return { deny: lost ? `This call is refused: ${whyWithheld(lost, role)}` : why, code: CODE };
    }
    return rateVerdict(rate, call.agentId, call.capabilities.max_tool_calls_per_minute ?? 0);
  };

const reasonAmong = (withheld: readonly Withheld[], risk: ToolRisk): Withheld | undefined => withheld.find(({ grant }) => GRANTS_OF_RISK[risk].includes(grant)) ?? withheld[0];

const rateVerdict = (rate: CallRate, agentId: string, limit: number): Verdict | undefined => {
  const waitMs = limit > 0 && agentId !== '' ? rate.take(agentId, limit) : undefined;
  if (waitMs === undefined) return undefined;
  return {
    deny: `This agent has made ${limit} tool calls within a minute, all that [resources] max_tool_calls_per_minute allows. The next one is possible in ${Math.ceil(waitMs / 1000)} s.`,
    code: 'capability_rate_limited',
  };
};
