/**
 * What an agent's own manifest says of its calls.
 *
 * P4  `[approval]` of agent.toml only tightens: the stricter of its ruling and that of config.toml holds, whatever config.toml allows or approves by itself.
 */
import type { Agent } from '@svc/ext-agents/contract';
import type { Approval } from '../config.js';
import { isInUse, type Ruling, ruleOn, type Subject } from './rules.js';

const STRICTNESS: Readonly<Record<Ruling['action'], number>> = { run: 0, ask: 1, deny: 2 };

/** The settings as if the manifest were all there is; undefined where it says nothing. */
const settingsOf = ({ approval }: Agent['manifest'], settings: Approval): Approval | undefined =>
  approval && {
    ...settings,
    require_approval: approval.require_approval,
    rules: approval.rules.map(({ tool = '*', ...rule }) => ({ ...rule, tool })),
    auto_approve: false,
    trusted_senders: [],
  };

/** False where no call of the agent ever waits or is refused. `agent` is undefined for a call without one. */
export const isAskedOf = (settings: Approval, agent: Pick<Agent, 'manifest'> | undefined): boolean => isInUse(settings) || agent?.manifest.approval !== undefined;

export const rulingOn = (settings: Approval, agent: Pick<Agent, 'manifest'> | undefined, subject: Subject): Ruling => {
  const general = ruleOn(settings, subject);
  const own = agent && settingsOf(agent.manifest, settings);
  if (!own) return general;
  const special = ruleOn(own, subject);
  return STRICTNESS[special.action] > STRICTNESS[general.action] ? special : general;
};
