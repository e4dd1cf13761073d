/** Cards and tasks, as people and other servers read them. */
import { defineConfig, OneOf, type Plain, Type, Uuid } from '@svc/api';

export const A2aSection = defineConfig(
  'a2a',
  Type.Object(
    {
      enabled: Type.Boolean({ default: true, description: 'Whether agents of other servers may ask yours, with a key' }),
      name: Type.String({ minLength: 1, maxLength: 200, default: 'svc', description: 'Name on the card' }),
      description: Type.String({ minLength: 1, maxLength: 2_000, default: 'A daemon that runs agents.', description: 'Description on the card' }),
      agents: Type.Array(Type.String({ minLength: 1 }), { default: ['*'], description: 'Names of the agents that may be asked; `*` is all' }),
    },
    { additionalProperties: false, default: {} },
  ),
);

export const Skill = Type.Object({ id: Type.String(), name: Type.String(), description: Type.String(), tags: Type.Array(Type.String()) }, { 'x-name': 'A2aSkill' });
export type Skill = Plain<typeof Skill>;

const card = {
  name: Type.String(),
  description: Type.String(),
  url: Type.String({ description: 'Where it takes messages' }),
  version: Type.String(),
  capabilities: Type.Object({ streaming: Type.Boolean(), pushNotifications: Type.Boolean() }),
  skills: Type.Array(Skill),
};
export const AgentCard = Type.Object(card, { 'x-name': 'A2aCard' });
export const LocalAgent = Type.Object({ id: Uuid, ...card }, { 'x-name': 'A2aLocalAgent' });

export const TaskStatus = OneOf(['submitted', 'working', 'input_required', 'completed', 'cancelled', 'failed'], { description: '`input_required`: it waits for somebody, such as for an approval' });
export type TaskStatus = Plain<typeof TaskStatus>;

export const TextMessage = Type.Object({ role: OneOf(['user', 'agent']), parts: Type.Array(Type.Object({ text: Type.String() })) }, { 'x-name': 'A2aMessage' });
export const A2aTask = Type.Object(
  { task_id: Uuid, status: TaskStatus, result: Type.Optional(TextMessage), error: Type.Optional(Type.String({ description: 'Why it failed' })) },
  { 'x-name': 'A2aTask' },
);
export type A2aTask = Plain<typeof A2aTask>;

export const said = (text: string): Plain<typeof TextMessage> => ({ role: 'agent', parts: [{ text }] });
