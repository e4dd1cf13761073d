import { AgentReview, AgentSpawning, Agents } from '@svc/ext-agents/contract';
import { Auth } from '@svc/ext-auth/contract';
import { type CapabilityDecl, DoctorCheck, type ExtensionContext, type Role, type ToolFacts, SecurityReport, ToolBefore, ToolGrants, ToolList, defineExtension, securityProbe } from '@svc/api';
import { createCallRate } from './call-rate.js';
import { createCallPolicy, type Receivers, type Standing } from './call-verdict.js';
import { AllowedCommands, CapabilitiesSection, NoOutputTimeout, SafeBins } from './config.js';
import { type ExecSettings, narrowedBy } from './exec-policy.js';
import { type Bounded, bound, grantsOf, reviewOf } from './grants.js';
import { neverReason } from './policy.js';
import { idleNames, roleFindings } from './role-names.js';
import { lookAtInheritance } from './self-check.js';
import { createSpawnPolicy } from './spawn-verdict.js';

const STAGE = -200;

export default defineExtension({
  config: [CapabilitiesSection, AllowedCommands, SafeBins, NoOutputTimeout],
  activate(ctx) {
    const standing = standingOf(ctx);
    ctx.hooks.tap(ToolBefore, createCallPolicy(standing, receiversOf(ctx), createCallRate(ctx.clock), ctx.capabilities), { stage: STAGE });
    ctx.hooks.tap(ToolGrants, async (capabilities, { ownerId }) => (await standing(ownerId, capabilities)).capabilities, { stage: STAGE });
    ctx.hooks.tap(ToolList, (tools, { capabilities, ownerId }) => (capabilities && ownerId !== undefined ? usable(tools, standing(ownerId, capabilities), ctx.capabilities.declared()) : undefined), {
      stage: STAGE,
    });
    ctx.hooks.tap(AgentSpawning, createSpawnPolicy({ standing, declared: () => ctx.capabilities.declared(), log: ctx.log }));
    ctx.hooks.tap(AgentReview, ({ manifest }) => reviewOf(manifest.capabilities));
    ctx.hooks.tap(DoctorCheck, () => roleFindings(ctx.config.get(CapabilitiesSection), ctx.capabilities.declared()));
    ctx.config.onChange(CapabilitiesSection, () => warnOfIdle(ctx));
    ctx.hooks.tap(SecurityReport, securityProbe('capability_inheritance_validation', lookAtInheritance));
  },
  start: (ctx) => warnOfIdle(ctx),
});

const warnOfIdle = (ctx: ExtensionContext): void => {
  for (const message of idleNames(ctx.config.get(CapabilitiesSection), ctx.capabilities.declared())) ctx.log.warn(message);
};

/** At once where the standing is known at once. */
const usable = (tools: readonly ToolFacts[], standing: Bounded | Promise<Bounded>, declared: readonly CapabilityDecl[]): readonly ToolFacts[] | Promise<readonly ToolFacts[]> => {
  if (standing instanceof Promise) return standing.then((known) => usable(tools, known, declared));
  return tools.filter((tool) => neverReason(tool, standing.capabilities, declared) === undefined);
};

/** By the roles and settings of now. While auth is off, only the owner is known. */
const standingOf = (ctx: ExtensionContext): Standing => {
  const auth = ctx.services.optional(Auth);
  return (ownerId, capabilities) => {
    const as = (role: Role | undefined) => ({ ...bound(narrowedBy(execSettings(ctx), capabilities), grantsOf(role, ctx.config.get(CapabilitiesSection))), role });
    if (ownerId === 'owner' || ownerId === 'system') return as(ownerId);
    return auth.value ? auth.value.roleOf(ownerId).then(as) : as(undefined);
  };
};

const execSettings = ({ config }: ExtensionContext): ExecSettings => ({
  allowed_commands: config.get(AllowedCommands),
  safe_bins: config.get(SafeBins),
  no_output_timeout_secs: config.get(NoOutputTimeout),
});

const receiversOf = (ctx: ExtensionContext): Receivers => {
  const agents = ctx.services.optional(Agents);
  return async (actor, target) => {
    const agent = await agents.value?.find(actor, target);
    return agent ? [agent.name, agent.id] : [target];
  };
};
