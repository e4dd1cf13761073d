/** The verdict on one tool call: the manifest, what the owner's role leaves of it, and the rate. */
import type { Actor, Capabilities, DeclaredCapabilities, Need, Role, ToolRequest, Verdict } from '@svc/api';
import type { CallRate } from './call-rate.js';
import { type Bounded, type Grant, whyWithheld, type Withheld } from './grants.js';
import { type NamedNeed, refusalOf } from './policy.js';
import { missingGrants } from './missing-grants.js';

export const CODE = 'capability_denied';

/** What this owner's role leaves of the capabilities, and which role that is. */
type Stood = Bounded & { readonly role: Role | undefined };
/** What the owner may grant, as its role and the settings are now; at once where the role need not be asked for. */
export type Standing = (ownerId: string, capabilities: Capabilities) => Stood | Promise<Stood>;
/** Every name of the agent that a call would write to. */
export type Receivers = (actor: Actor, target: string) => Promise<readonly string[]>;

/** Which permissions of a role stand behind a capability; behind the others one of the same name. */
const GRANTS_OF: ReadonlyMap<string, readonly Grant[]> = new Map([
  ['shell', ['shell', 'full_shell']],
  ['network', ['network', 'private_network']],
]);

export const createCallPolicy =
  (standing: Standing, receiversOf: Receivers, rate: CallRate, { declared }: DeclaredCapabilities) =>
  async (request: ToolRequest): Promise<Verdict | undefined> => {
    const { tool, call } = request;
    const { capabilities, withheld, role } = await standing(call.actor.ownerId, call.capabilities);
    const subject = { tool, needs: await named(request, receiversOf), declared: declared() };
    const why = refusalOf({ ...subject, capabilities });
    if (why !== undefined) {
      // Where the manifest alone would have allowed the call, what the role withholds is the reason.
      const isLost = withheld.length > 0 && refusalOf({ ...subject, capabilities: call.capabilities }) === undefined;
      const lost = isLost ? reasonAmong(withheld, request.needs) : undefined;
      return lost ? { deny: `This call is refused: ${whyWithheld(lost, role)}`, code: CODE } : { deny: why, code: CODE, missing: missingGrants({ ...subject, capabilities }) };
    }
    return rateVerdict(rate, call.agentId, call.capabilities.max_tool_calls_per_minute ?? 0);
  };

const reasonAmong = (withheld: readonly Withheld[], needs: readonly Need[]): Withheld | undefined => {
  const grants = needs.flatMap(({ capability }): readonly string[] => GRANTS_OF.get(capability) ?? [capability]);
  return withheld.find(({ grant }) => grants.includes(grant)) ?? withheld[0];
};

/** A message names an agent by its id or its name; a pattern of the manifest may mean either. */
const named = ({ needs, call }: ToolRequest, receiversOf: Receivers): Promise<NamedNeed[]> =>
  Promise.all(
    needs.map(async (need) => {
      if (need.capability !== 'agent_message' || need.target === undefined) return need;
      return { ...need, names: await receiversOf(call.actor, need.target) };
    }),
  );

const rateVerdict = (rate: CallRate, agentId: string, limit: number): Verdict | undefined => {
  const waitMs = limit > 0 && agentId !== '' ? rate.take(agentId, limit) : undefined;
  if (waitMs === undefined) return undefined;
  return {
    deny: `This agent has made ${limit} tool calls within a minute, all that [resources] max_tool_calls_per_minute allows. The next one is possible in ${Math.ceil(waitMs / 1000)} s.`,
    code: 'capability_rate_limited',
  };
};
