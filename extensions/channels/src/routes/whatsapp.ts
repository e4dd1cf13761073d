/**
 * Signing in to WhatsApp by QR code. svc has no gateway for WhatsApp Web of its own: a program of `[[sidecar_channels]]` is one, by its name or its
 * `channel_type`, and says the code by the protocol of sidecars.
 */
import { type Clock, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { renderSVG } from 'uqr';
import type { Accounts } from '../accounts.js';
import { type SignIn, signInOf } from '../adapters/sidecar.js';
import { channelErrors } from '../errors.js';

const route = routeGroup({ area: 'channels', errors: [404] });
const COST = 10;
const LOOKS = 20;
const LOOK_MS = 250;
const MAX_CODE = 2_000;
const WITHOUT_GATEWAY =
  'svc has no gateway for WhatsApp Web. Add a program that is one under [[sidecar_channels]], with the name or channel_type "whatsapp", and start again here; or use the Cloud API of Meta with a webhook.';

export interface WhatsappDeps {
  readonly accounts: Pick<Accounts, 'sidecars'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly closing: AbortSignal;
}

const gatewayOf = ({ accounts }: Pick<WhatsappDeps, 'accounts'>): string | undefined => accounts.sidecars().find(({ name, channel_type: type }) => (type ?? name) === 'whatsapp')?.name;

const STATES = { pending: 'pending', scanning: 'scanned', confirmed: 'authenticated' } as const;
const stateOf = ({ status }: SignIn): 'pending' | 'scanned' | 'authenticated' => STATES[status as keyof typeof STATES] ?? 'pending';

/** A program may draw the code itself. */
const pictureOf = (code: string): string => (code.startsWith('data:image/') ? code : `data:image/svg+xml;base64,${Buffer.from(renderSVG(code)).toString('base64')}`);

export const whatsappRoutes = (deps: WhatsappDeps): RouteDecl[] => [start(deps), status(deps)];

const start = (deps: WhatsappDeps): RouteDecl =>
  route({
    id: 'startWhatsappQr',
    method: 'POST',
    path: '/api/channels/whatsapp/qr/start',
    summary: 'Start signing in to WhatsApp by QR code',
    description:
      'Needs a gateway for WhatsApp Web: a program of `[[sidecar_channels]]` with the name or `channel_type` whatsapp. Without one the answer is `available: false`, and says what to do. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    responses: {
      200: Type.Object({ available: Type.Boolean(), connected: Type.Boolean(), qr_data_url: Nullable(Type.String()), session_id: Nullable(Type.String()), message: Type.String() }),
    },
    handler: async ({ signal }) => {
      const gateway = gatewayOf(deps);
      const none = { connected: false, qr_data_url: null, session_id: null };
      if (gateway === undefined) return reply(200, { available: false, ...none, message: WITHOUT_GATEWAY });
      for (let look = 0; look < LOOKS; look += 1) {
        const found = signInOf(gateway);
        if (found && stateOf(found) === 'authenticated') return reply(200, { available: true, ...none, connected: true, session_id: found.session, message: 'WhatsApp is connected.' });
        if (found?.code !== undefined)
          return reply(200, {
            available: true,
            ...none,
            qr_data_url: pictureOf(found.code.slice(0, MAX_CODE)),
            session_id: found.session,
            message: found.message ?? 'Scan the code with WhatsApp, under Linked devices.',
          });
        await deps.clock.sleep(LOOK_MS, AbortSignal.any([signal, deps.closing]));
      }
      return reply(200, { available: true, ...none, message: `The program ${gateway} has given no code yet. \`svc channels show ${gateway}\` says how it is.` });
    },
  });

const status = (deps: WhatsappDeps): RouteDecl =>
  route({
    id: 'getWhatsappQrStatus',
    method: 'GET',
    path: '/api/channels/whatsapp/qr/status',
    summary: 'Get how far a sign-in to WhatsApp is',
    description: 'There is a sign-in only after `POST /api/channels/whatsapp/qr/start` answered with a `session_id`.',
    query: Type.Object({ session_id: Type.Optional(Type.String({ maxLength: 200, format: 'uuid' })) }),
    responses: { 200: Type.Object({ status: OneOf(['pending', 'scanned', 'authenticated']), connected: Type.Boolean(), expired: Type.Boolean(), message: Type.String() }) },
    handler: ({ query }) => {
      const gateway = gatewayOf(deps);
      const found = gateway === undefined ? undefined : signInOf(gateway);
      if (!found || (query.session_id !== undefined && query.session_id.toLowerCase() !== found.session)) throw channelErrors.no_qr_session();
      const state = stateOf(found);
      return reply(200, { status: state, connected: state === 'authenticated', expired: found.status === 'expired', message: found.message ?? '' });
    },
  });
