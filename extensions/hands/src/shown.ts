/** Hands and instances as they are answered. */
import { isTable } from '@svc/api';
import type { Definition } from './definitions.js';
import { promptIn } from './definitions.js';
import type { Hand, Setting } from './hand-file.js';
import type { DepResult } from './install-deps.js';
import type { Instance } from './instances.js';
import { type Checked, isMetAll, optionsOf, type Requirements } from './requirements.js';
import { loopOf, textsOf } from './role-agents.js';

export type Platform = 'linux' | 'macos' | 'windows';
export const platformOf = (node: NodeJS.Platform): Platform => (node === 'darwin' ? 'macos' : node === 'win32' ? 'windows' : 'linux');

const STEP = /^[^\S\n]*(?:\d{1,9}[.)]|[-*] )[^\S\n]*(\S.{2,199})$/gm;
const MAX_STEPS = 50;

const common = ({ hand, isCustom }: Definition, checked: readonly Checked[], isActive: boolean) => ({
  id: hand.id,
  hand_id: hand.id,
  name: hand.name,
  description: hand.description,
  category: hand.category,
  icon: hand.icon,
  version: hand.version,
  tools: [...hand.tools],
  requirements_met: isMetAll(checked),
  active: isActive,
  degraded: isActive && checked.some(({ satisfied }) => !satisfied),
  is_custom: isCustom,
  has_settings: hand.settings.length > 0,
  settings_count: hand.settings.length,
  dashboard_metrics: hand.metrics.length,
  metadata: hand.metadata && {
    frequency: hand.metadata.frequency ?? null,
    token_consumption: hand.metadata.token_consumption ?? null,
    default_active: hand.metadata.default_active ?? false,
    activation_warning: hand.metadata.activation_warning ?? null,
  },
  i18n: hand.i18n as Record<string, Record<string, unknown>>,
});

export const handItem = (definition: Definition, checked: readonly Checked[], isActive: boolean) => ({
  ...common(definition, checked, isActive),
  requirements: checked.map(({ key, label, satisfied, optional }) => ({ key, label, satisfied, optional })),
});

export const wholeRequirements = (checked: readonly Checked[], plan: readonly DepResult[]) =>
  checked.map((one) => {
    const command = plan.find(({ key }) => key === one.key)?.command;
    return { ...one, ...(command === undefined ? {} : { command }) };
  });

interface DetailParts {
  readonly checked: readonly Checked[];
  readonly plan: readonly DepResult[];
  readonly isActive: boolean;
  readonly platform: Platform;
  readonly requirements: Requirements;
  readonly remarks: readonly string[];
}

export const handDetail = async (definition: Definition, { checked, plan, isActive, platform, requirements, remarks }: DetailParts) => {
  const { hand, skill } = definition;
  const agents = hand.roles.map((one) => roleShown(hand, one));
  const [leader] = agents;
  return {
    ...common(definition, checked, isActive),
    requirements: wholeRequirements(checked, plan),
    server_platform: platform,
    agent: leader ? { name: leader.name, description: leader.description, provider: leader.provider, model: leader.model } : null,
    agents,
    dashboard: hand.metrics.map(({ label, memory_key, format = 'text' }) => ({ label, memory_key, format })),
    settings: await settingsShown(requirements, hand.settings),
    skills: [...hand.skills],
    mcp_servers: [...hand.mcp_servers],
    skill_content: skill,
    unknown_keys: [...hand.unknown],
    remarks: [...remarks],
  };
};

const roleShown = (hand: Hand, { role, name, description, isCoordinator, manifest, schedule }: Hand['roles'][number]) => {
  const model = isTable(manifest.model) ? manifest.model : {};
  const capabilities = isTable(manifest.capabilities) ? manifest.capabilities : {};
  const prompt = promptIn(manifest);
  return {
    role,
    name,
    description,
    coordinator: isCoordinator,
    provider: typeof model.provider === 'string' ? model.provider : 'default',
    model: typeof model.model === 'string' ? model.model : 'default',
    steps: [...prompt.matchAll(STEP)].slice(0, MAX_STEPS).map(([, text = '']) => text.trim()),
    system_prompt: prompt,
    capabilities_tools: textsOf(capabilities.tools ?? manifest.tools ?? hand.tools),
    capabilities: { ...capabilities },
    loop: loopOf(schedule)?.schedule ?? null,
  };
};

export const settingsShown = (requirements: Requirements, settings: readonly Setting[]) =>
  Promise.all(
    settings.map(async (one) => ({
      key: one.key,
      label: one.label ?? one.key,
      description: one.description ?? '',
      setting_type: one.setting_type,
      default: one.default === undefined ? '' : String(one.default),
      env_var: one.env_var ?? null,
      options: await optionsOf(requirements, one),
    })),
  );

export const statusOf = ({ state, missing }: Instance) => (missing.length > 0 ? ('error' as const) : state === 'paused' ? ('paused' as const) : ('running' as const));

export const instanceItem = (instance: Instance) => {
  const leader = instance.roles.find(({ isCoordinator }) => isCoordinator);
  return {
    id: instance.id,
    instance_id: instance.id,
    hand_id: instance.handId,
    hand_name: instance.handName,
    hand_icon: instance.handIcon,
    status: statusOf(instance),
    error: instance.missing.length > 0 ? `These agents of it were deleted: ${instance.missing.join(', ')}. Deactivate the hand, and activate it again.` : null,
    agent_id: leader?.agentId ?? null,
    agent_name: leader?.agentName ?? null,
    agent_ids: Object.fromEntries(instance.roles.map(({ role, agentId }) => [role, agentId])),
    coordinator_role: leader?.role ?? '',
    activated_at: instance.activatedAt,
    updated_at: instance.updatedAt,
    config: { ...instance.config },
  };
};
