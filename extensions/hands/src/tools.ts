/** Hands as tools: an agent sees them, and one that may create agents activates and deactivates them. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import type { Definitions } from './definitions.js';
import type { Instance, Instances } from './instances.js';

const HandId = Type.String({ minLength: 1, maxLength: 128, description: 'Id of the hand, as hand_list shows it' });

const stateOf = ({ id, handId, state, missing, roles }: Instance): string =>
  JSON.stringify({ instance_id: id, hand_id: handId, status: missing.length > 0 ? 'error' : state, agents: roles.map(({ role, agentName }) => ({ role, name: agentName })), missing });

export const handTools = ({ definitions, instances }: { readonly definitions: Definitions; readonly instances: Instances }): AnyTool[] => {
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
      description: 'Deactivates a hand: its agents are deleted.',
      params: Type.Object({ instance_id: Type.String({ format: 'uuid' }) }),
      ...changes,
      run: async ({ instance_id }, { actor }) => {
        await instances.deactivate(actor, instance_id);
        return JSON.stringify({ status: 'deactivated', instance_id });
      },
    }),
  ];
};
