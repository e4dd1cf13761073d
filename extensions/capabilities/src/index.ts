// For the hooks agent.spawning and agent.review, and the service auth.
import type {} from '@svc/ext-agents/contract';
import type {} from '@svc/ext-auth/contract';
import { type AnyTool, defineExtension, type ExtensionContext } from '@svc/api';
import { createCallRate } from './call-rate.js';
import { CODE, createJudge, type Receivers, type Standing } from './call-verdict.js';
import { CapabilitiesSection } from './config.js';
import { type Bounded, bound, grantsOf, reviewOf, whyWithheld } from './grants.js';
import { escalationOf } from './inheritance.js';
import { neverReason } from './judge.js';
import { inheritanceHolds } from './self-check.js';

const STAGE = -200;

export default defineExtension({
  config: { capabilities: CapabilitiesSection },
  activate(ctx) {
    const standing = standingOf(ctx);
    ctx.hooks.tap('tool.before', createJudge(standing, receiversOf(ctx), createCallRate(ctx.clock)), { stage: STAGE });
    ctx.hooks.tap('tool.grants', async (capabilities, { ownerId }) => (await standing(ownerId, capabilities)).capabilities, { stage: STAGE });
    ctx.hooks.tap('tool.list', (tools, { capabilities, ownerId }) => (capabilities && ownerId !== undefined ? usable(tools, standing(ownerId, capabilities)) : undefined), { stage: STAGE });
    ctx.hooks.tap('agent.spawning', async ({ actor, manifest, parent }) => {
      const more = parent ? escalationOf(parent.manifest, manifest) : undefined;
      if (more !== undefined) {
        ctx.log.warn('a child agent was refused', { parent: parent?.id, more });
        return { deny: `Privilege escalation denied: the child would have ${more}, and its parent has not.`, code: CODE };
      }
      const ownerId = parent?.ownerId ?? actor.ownerId;
      const { withheld, role } = await standing(ownerId, manifest.capabilities);
      const [first] = withheld;
      if (!first) return undefined;
      ctx.log.warn('an agent was refused', { owner: ownerId, grant: first.grant });
      return { deny: `This agent was not made: ${whyWithheld(first, role)}`, code: CODE };
    });
    ctx.hooks.tap('agent.review', ({ manifest }) => reviewOf(manifest.capabilities));
    ctx.hooks.tap('security.report', () => ({ name: 'capability_inheritance_validation', state: inheritanceHolds() ? 'active' : 'degraded' }));
  },
});

const usable = async (tools: readonly AnyTool[], standing: Promise<Bounded>): Promise<readonly AnyTool[]> => {
  const { capabilities } = await standing;
  return tools.filter((tool) => neverReason(tool, capabilities) === undefined);
};

/** By the roles and settings of now. While auth is off, only the owner is known. */
const standingOf = (ctx: ExtensionContext): Standing => {
  const auth = ctx.services.optional('auth');
  return async (ownerId, capabilities) => {
    const role = ownerId === 'owner' || ownerId === 'system' ? ownerId : await auth.value?.roleOf(ownerId);
    return { ...bound(capabilities, grantsOf(role, ctx.config.get('capabilities'))), role };
  };
};

/** agent_send names an agent by id or by name; a pattern of the manifest may mean either. */
const receiversOf = (ctx: ExtensionContext): Receivers => {
  const agents = ctx.services.optional('agents');
  return async ({ tool, args, call }) => {
    const named = args.agent_id;
    if (tool.name !== 'agent_send' || typeof named !== 'string') return [];
    const agent = await agents.value?.find(call.actor, named);
    return agent ? [agent.name, agent.id] : [named];
  };
};
