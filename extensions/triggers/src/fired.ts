import { defineEvent, Type } from '@svc/api';

/** A trigger fired: its agent is asked, or its workflow starts. */
export const TriggerFired = defineEvent(
  'trigger.fired',
  '1.0.0',
  Type.Object({
    ownerId: Type.String(),
    triggerId: Type.String(),
    fireId: Type.String(),
    agentId: Type.String({ description: 'The agent of the trigger' }),
    event: Type.String({ description: 'What happened, such as `task_posted`' }),
  }),
);

/** A program outside asked for attention, by a webhook. */
export const WebhookWake = defineEvent(
  'webhook.wake',
  '1.1.0',
  Type.Object({ ownerId: Type.String(), id: Type.String({ description: 'Of the run that it began' }), agentId: Type.String(), text: Type.String() }),
);
