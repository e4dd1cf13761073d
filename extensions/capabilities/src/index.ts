// For the hook agent.spawning.
import type {} from '@svc/ext-agents/contract';
import { defineExtension, type ExtensionContext, type ToolRequest, type Verdict } from '@svc/api';
import { escalationOf } from './inheritance.js';
import { neverReason, refusalOf } from './judge.js';
import { inheritanceHolds } from './self-check.js';

const STAGE = -200;

export default defineExtension({
  activate(ctx) {
    const receivers = receiversOf(ctx);
    ctx.hooks.tap('tool.before', (request) => judge(request, receivers), { stage: STAGE });
    ctx.hooks.tap('tool.list', (tools, { capabilities }) => (capabilities ? tools.filter((tool) => neverReason(tool, capabilities) === undefined) : undefined), { stage: STAGE });
    ctx.hooks.tap('agent.spawning', ({ manifest, parent }) => {
      const more = parent ? escalationOf(parent.manifest, manifest) : undefined;
      if (more === undefined) return undefined;
      ctx.log.warn('a child agent was refused', { parent: parent?.id, more });
      return { deny: `Privilege escalation denied: the child would have ${more}, and its parent has not.`, code: 'capability_denied' };
    });
    ctx.hooks.tap('security.report', () => ({ name: 'capability_inheritance_validation', state: inheritanceHolds() ? 'active' : 'degraded' }));
  },
});

type Receivers = (request: ToolRequest) => Promise<readonly string[]>;

const judge = async (request: ToolRequest, receivers: Receivers): Promise<Verdict | undefined> => {
  const { tool, args, call } = request;
  const why = refusalOf({ tool, args, capabilities: call.capabilities, receivers: await receivers(request) });
  return why === undefined ? undefined : { deny: why, code: 'capability_denied' };
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
