/** What a new device calls: it has no key yet, the code is what lets it in. */
import { reply, routeGroup, type RouteDecl, SvcError, Type } from '@svc/api';
import type { Attempts } from './codes.js';
import type { DevicesOf } from './devices.js';
import { pairingErrors } from './errors.js';

const route = routeGroup({ area: 'pairing' });

const Code = Type.String({ maxLength: 40, description: 'As the other device shows it, with or without the dash, in any case' });
const Name = Type.String({ maxLength: 100, default: 'unknown' });
const Body = Type.Object(
  {
    pairing_code: Type.Optional(Code),
    token: Type.Optional(Type.String({ ...Code, description: 'In place of `pairing_code`' })),
    display_name: Type.Optional(Type.String({ ...Name, description: 'How lists call the device' })),
    platform: Type.Optional(Type.String({ ...Name, description: 'Such as `android`, `ios`, `web`' })),
    push_token: Type.Optional(Type.String({ maxLength: 4_096, description: 'Not used: messages go by ntfy or Gotify, as `[pairing]` says' })),
  },
  { additionalProperties: false, 'x-name': 'PairingRequest' },
);
const Answer = Type.Object(
  {
    device_id: Type.String(),
    api_key: Type.String({ description: 'The key of the device: 64 hexadecimal digits, shown this once' }),
    display_name: Type.String(),
    platform: Type.String(),
    paired_at: Type.String({ format: 'date-time' }),
  },
  { 'x-name': 'PairedDevice' },
);

const named = (text: string | undefined): string => text?.trim() || 'unknown';

export const completeRoute = (devices: DevicesOf, attempts: Attempts): RouteDecl =>
  route({
    id: 'completePairing',
    method: 'POST',
    path: '/api/pairing/complete',
    summary: 'Pair this device',
    description:
      'Called by the new device, without a key: the code is what lets it in. The answer has the key of the device, once; it acts on what belongs to the person who asked for the code. Used, expired and wrong codes are all answered with 410. After five of them from one address, further ones are answered with 429 for a while.',
    auth: 'public',
    cost: 50,
    audit: 'device_paired',
    auditCategory: 'logins',
    errors: [400, 410, 429],
    body: Body,
    examples: {
      'a phone': { pairing_code: 'ABCD-2345', display_name: 'Phone', platform: 'android' },
      'the code alone': { pairing_code: 'abcd2345' },
      'by the other name': { token: 'ABCD-2345', display_name: 'Tablet', platform: 'web' },
    },
    responses: { 200: Answer },
    handler: async ({ body, network }) => {
      const code = (body.pairing_code ?? body.token ?? '').trim();
      if (code === '') throw pairingErrors.no_code();
      const waitMs = attempts.waitMs(network);
      if (waitMs > 0) throw pairingErrors.too_many_attempts().with({ headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } });
      try {
        const { device, key } = await devices.complete({ code, display_name: named(body.display_name), platform: named(body.platform) });
        const { display_name, id: device_id, paired_at, platform } = device;
        return reply(200, { device_id, api_key: key, display_name, platform, paired_at }, { 'cache-control': 'no-store' });
      } catch (error) {
        if (error instanceof SvcError && error.status === 410) attempts.failed(network);
        throw error;
      }
    },
  });
