/**
 * May this agent be made, or changed so?
 *
 * W1  A child has no more than its parent (I1 to I3), also after it was changed.
 * W2  An agent has nothing that the role of its owner may not grant. What it has by now is kept from it when it is used (G1), and so only what a change adds is validated.
 * W3  Who gives more to somebody else's agent must be one who could have made all of it: a limit that is lifted frees what the agent had anyway.
 * W4  A change that adds nothing, as a new name does, is no question of rights.
 */
import type { CapabilityDecl, Logger, Plain, Role, Verdict } from '@svc/api';
import type { Agent, AgentManifest, AgentSpawning } from '@svc/ext-agents/contract';
import { CODE, type Standing } from './call-verdict.js';
import { whyWithheld, type Withheld } from './grants.js';
import { escalationOf } from './inheritance.js';

interface SpawnPolicyDeps {
  readonly standing: Standing;
  declared(): readonly CapabilityDecl[];
  readonly log: Pick<Logger, 'warn'>;
}

type Subject = Plain<(typeof AgentSpawning)['subject']>;

export const createSpawnPolicy =
  (deps: SpawnPolicyDeps) =>
  async ({ actor, manifest, parent, changes }: Subject): Promise<Verdict | undefined> => {
    if (changes && escalationOf(changes.manifest, manifest, deps.declared()) === undefined) return undefined;
    const more = parent ? escalationOf(parent.manifest, manifest, deps.declared()) : undefined;
    if (more !== undefined) {
      deps.log.warn('a child agent was refused', { parent: parent?.id, more });
      return { deny: `Privilege escalation denied: the child would have ${more}, and its parent has not.`, code: CODE };
    }
    const ownerId = changes?.ownerId ?? parent?.ownerId ?? actor.ownerId;
    const beyond = (await beyondOwner(deps, ownerId, manifest, changes)) ?? (changes && actor.ownerId !== ownerId ? await beyondRole(deps, actor.ownerId, manifest) : undefined);
    if (!beyond) return undefined;
    deps.log.warn('an agent was refused', { owner: ownerId, by: actor.id, grant: beyond.withheld.grant });
    return { deny: `${changes ? 'This agent was not changed' : 'This agent was not made'}: ${whyWithheld(beyond.withheld, beyond.role)}`, code: CODE };
  };

interface Beyond {
  readonly withheld: Withheld;
  readonly role: Role | undefined;
}

/** W2. */
const beyondOwner = async (deps: SpawnPolicyDeps, ownerId: string, manifest: AgentManifest, changes: Agent | undefined): Promise<Beyond | undefined> => {
  const before = changes ? (await deps.standing(ownerId, changes.manifest.capabilities)).withheld : [];
  return beyondRole(deps, ownerId, manifest, before);
};

const beyondRole = async ({ standing }: SpawnPolicyDeps, ownerId: string, { capabilities }: AgentManifest, except: readonly Withheld[] = []): Promise<Beyond | undefined> => {
  const { withheld, role } = await standing(ownerId, capabilities);
  const first = withheld.find(({ what }) => !except.some((one) => one.what === what));
  return first && { withheld: first, role };
};
