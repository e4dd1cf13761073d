/** Hands as tools: an agent sees them, and one that may create agents activates and deactivates them. */
import { type Actor, type AnyTool, defineTool, Type } from '@svc/api';
import { type AgentsService, isBelow } from '@svc/ext-agents/contract';
import type { Definitions } from './definitions.js';
import { handErrors } from './errors.js';
import type { Instance, Instances } from './instances.js';

const HandId = Type.String({ minLength: 1, maxLength: 128, description: 'Id of the hand, as hand_list shows it' });

const stateOf = ({ id, handId, state, missing, roles }: Instance): string =>
  JSON.stringify({ instance_id: id, hand_id: handId, status: missing.length > 0 ? 'error' : state, agents: roles.map(({ role, agentName }) => ({ role, name: agentName })), missing });

export interface HandToolDeps {
  readonly agents: Pick<AgentsService, 'find'>;
  readonly definitions: Definitions;
  readonly instances: Instances;
}

/** Its agents are deleted, which an agent may do with those below it alone. A person may do it with all that are theirs. */
const own = async ({ agents, instances }: HandToolDeps, actor: Actor, id: string, agentId: string): Promise<Instance> => {
  const instance = await instances.get(actor, id);
  const find = (one: string) => agents.find(actor, one);
  for (const role of agentId === '' ? [] : instance.roles) if (!(await isBelow(find, await find(role.agentId), agentId))) throw handErrors.instance_not_found(id);
  return instance;
};

export const handTools = (deps: HandToolDeps): AnyTool[] => {
  const { definitions, instances } = deps;
  const reads = { risk: 'read', openWorld: false, replay: 'safe', parallel: true } as const;
  const changes = { risk: 'agent', openWorld: false, replay: 'never', parallel: false, capabilities: ['agent_spawn'], needs: [{ capability: 'agent_spawn' }] } as const;
  return [
    defineTool({
      name: 'hand_list',
      description: 'Lists the hands that can be activated: agents with a purpose, settings and a schedule.',
      params: Type.Object({}),
      ...reads,
      run: async (_args, { actor }) => {
        const [all, active] = await Promise.all([definitions.list(), instances.list(actor)]);
        return JSON.stringify(all.map(({ hand: { id, name, description } }) => ({ hand_id: id, name, description, active: active.some(({ handId }) => handId === id) })));
      },
    }),
    defineTool({
      name: 'hand_activate',
      description: 'Activates a hand: its agents are created below you, and have at most what you have.',
      params: Type.Object({ hand_id: HandId, config: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: 'Settings by key' })) }),
      ...changes,
      run: async ({ hand_id, config = {} }, { actor, agentId }) => {
        const { instance, remarks } = await instances.activate(actor, hand_id, { config, grants: {}, parentId: agentId });
        return [stateOf(instance), ...remarks].join('\n');
      },
    }),
    defineTool({
      name: 'hand_status',
      description: 'Shows the active instances of a hand, and their agents.',
      params: Type.Object({ hand_id: HandId }),
      ...reads,
      run: async ({ hand_id }, { actor }) => {
        const { hand } = await definitions.get(hand_id);
        return (await instances.list(actor, hand.id)).map(stateOf).join('\n') || `The hand "${hand.id}" is not active.`;
      },
    }),
    defineTool({
      name: 'hand_deactivate',
      description: 'Deactivates a hand that you activated: its agents are deleted.',
      params: Type.Object({ instance_id: Type.String({ format: 'uuid' }) }),
      ...changes,
      run: async ({ instance_id }, { actor, agentId }) => {
        const { id } = await own(deps, actor, instance_id, agentId);
        await instances.deactivate(actor, id);
        return JSON.stringify({ status: 'deactivated', instance_id });
      },
    }),
  ];
};
