/** Routes beside those of the collections. */
import { type Db, type OpenCollection, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { Delivered, type DeliveryRow, EventSubscriptions, MAX_WEBHOOKS } from './contract.js';
import type { Deliveries } from './delivery.js';
import { webhookErrors } from './errors.js';

const route = routeGroup({ area: 'webhooks' });

export const deliveredOf = ({ owner_id: _owner, webhook_id: _webhook, body: _body, status, ...row }: DeliveryRow): Delivered => ({ ...row, status: status as Delivered['status'] }); // src/delivery.ts writes no other

export const subscriptionRoutes = (subscriptions: OpenCollection<typeof EventSubscriptions.spec.fields>): RouteDecl[] => [
  route({
    id: 'listEventSubscriptions',
    method: 'GET',
    path: '/api/webhooks/events',
    summary: 'List event subscriptions',
    description: 'A bare array, newest first.',
    responses: { 200: Type.Array(EventSubscriptions.item) },
    handler: async ({ actor }) => reply(200, [...(await subscriptions.list(actor, { limit: MAX_WEBHOOKS })).rows]),
  }),
];

export const replayRoute = ({ db, deliveries }: { readonly db: Db; readonly deliveries: Pick<Deliveries, 'replay'> }): RouteDecl =>
  route({
    id: 'replayWebhookDelivery',
    method: 'POST',
    path: '/api/webhooks/deliveries/{id}/replay',
    summary: 'Send a delivery again',
    description: 'One that was taken or given up: the same body and id, signed anew, with all attempts. 409 while it is still on its way.',
    audit: 'webhook_replayed',
    params: Type.Object({ id: Type.String({ format: 'uuid', description: 'Id of a delivery' }) }),
    errors: [404, 409],
    responses: { 200: Delivered },
    handler: async ({ actor, params }) => {
      const read = (): Promise<DeliveryRow | undefined> => db.as(actor).first<DeliveryRow>({ from: 'deliveries', where: { id: params.id.toLowerCase() } });
      const row = await read();
      if (!row) throw webhookErrors.delivery_not_found(params.id);
      if (!(await deliveries.replay(row))) throw webhookErrors.under_way();
      return reply(200, deliveredOf((await read()) ?? row));
    },
  });
