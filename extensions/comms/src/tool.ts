/** Events that agents publish: triggers of the same owner can match them. */
import { type AnyTool, type Db, defineTool, type Events, Type } from '@svc/api';
import { EventPublished } from './contract.js';

const MAX_PAYLOAD = 16_384;

export const eventPublish = ({ db, events }: { readonly db: Db; readonly events: Events }): AnyTool =>
  defineTool({
    name: 'event_publish',
    description: 'Publishes an event, for triggers that wait for it. Nobody is asked directly, and there is no answer.',
    params: Type.Object({
      event_type: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_.:-]+$', description: 'Such as `report.ready`' }),
      payload: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'What triggers read of it' })),
    }),
    risk: 'write',
    openWorld: false,
    replay: 'never',
    parallel: false,
    run: async ({ event_type: type, payload = {} }, { actor, agentId, runId, callId }) => {
      const text = JSON.stringify(payload);
      if (text.length > MAX_PAYLOAD) return { content: `The payload has ${text.length} characters; ${MAX_PAYLOAD} at most.`, isError: true };
      await db.commit([events.event(EventPublished, { ownerId: actor.ownerId, id: `${runId}:${callId}`, agentId, runId, type, payload: text })]);
      return JSON.stringify({ status: 'published', event_type: type });
    },
  });
