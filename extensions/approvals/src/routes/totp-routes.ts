/** The authenticator of the caller. */
import { reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { Totp } from '../totp/totp.js';

/** Code of an authenticator, or a recovery code. */
export const Code = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

const route = routeGroup({ area: 'approvals' });
const NO_STORE = { 'cache-control': 'no-store' };

export const totpRoutes = (totp: Totp): RouteDecl[] => [
  route({
    id: 'createTotp',
    method: 'POST',
    path: '/api/approvals/totp/setup',
    summary: 'Set up an authenticator',
    description:
      'Answers with a new secret, its `otpauth://` URI, a QR code and eight recovery codes; none of these is shown again. It holds from the first code that `POST /api/approvals/totp/confirm` accepts; until then a new setup replaces it. With an authenticator that is confirmed already, send a code of it as `current_code`.',
    audit: 'totp_setup',
    bodyRule: 'optional',
    body: Type.Object({ current_code: Type.Optional(Code('From the authenticator that is confirmed now, or one of its recovery codes')) }, { additionalProperties: false }),
    examples: { 'the first one': {}, 'in place of another': { current_code: '492039' }, 'with a recovery code': { current_code: '1f2e-90ab-33c4-7d10' } },
    errors: [409, 503],
    responses: {
      200: Type.Object(
        {
          secret: Type.String({ description: 'Base32' }),
          otpauth_uri: Type.String(),
          qr_code: Type.String({ description: 'The URI as a QR code: a data URI of an SVG image' }),
          recovery_codes: Type.Array(Type.String()),
          message: Type.String(),
        },
        { 'x-name': 'TotpSetup' },
      ),
    },
    handler: async ({ actor, body }) => {
      const made = await totp.setup(actor, body.current_code);
      return reply(200, { ...made, message: 'Scan the QR code or type in the secret, then confirm with a code. Store the recovery codes in a safe place.' }, NO_STORE);
    },
  }),
  route({
    id: 'confirmTotp',
    method: 'POST',
    path: '/api/approvals/totp/confirm',
    summary: 'Confirm an authenticator',
    description: 'Activates what the last setup made. After five wrong codes none is checked for five minutes.',
    audit: 'totp_confirmed',
    body: Type.Object({ code: Type.String({ pattern: '^[0-9]{6}$', description: 'Six digits' }) }, { additionalProperties: false }),
    examples: { 'a code': { code: '492039' }, 'with a zero in front': { code: '049203' }, 'the next one, where the first came too late': { code: '118270' } },
    errors: [409, 503],
    responses: { 200: Type.Object({ status: Type.Literal('confirmed'), message: Type.String() }) },
    handler: async ({ actor, body }) => {
      await totp.confirm(actor, body.code);
      return reply(200, { status: 'confirmed' as const, message: 'Your authenticator is set up. Codes are asked for where second_factor is "totp".' });
    },
  }),
  route({
    id: 'getTotpStatus',
    method: 'GET',
    path: '/api/approvals/totp/status',
    summary: 'Get the state of your authenticator',
    description: 'Of the caller alone. The secret is never shown again.',
    responses: {
      200: Type.Object(
        {
          enrolled: Type.Boolean(),
          confirmed: Type.Boolean(),
          enforced: Type.Boolean({ description: 'Confirmed, and `second_factor` is `totp`' }),
          remaining_recovery_codes: Type.Integer(),
        },
        { 'x-name': 'TotpStatus' },
      ),
    },
    handler: async ({ actor }) => reply(200, await totp.status(actor)),
  }),
  revokeRoute(totp, 'revokeTotp', 'POST', '/api/approvals/totp/revoke'),
  revokeRoute(totp, 'deleteTotp', 'DELETE', '/api/approvals/totp'),
];

const revokeRoute = (totp: Totp, id: string, method: 'POST' | 'DELETE', path: string): RouteDecl =>
  route({
    id,
    method,
    path,
    summary: 'Remove your authenticator',
    description: 'Needs a code of it, or one of its recovery codes. One that was never confirmed can be removed with its code, too.',
    audit: 'totp_revoked',
    body: Type.Object({ code: Code('Six digits, or a recovery code') }, { additionalProperties: false }),
    examples: { 'a code': { code: '492039' }, 'a recovery code': { code: '1f2e-90ab-33c4-7d10' }, 'the first code of one that was never confirmed': { code: '730114' } },
    errors: [409, 503],
    responses: { 200: Type.Object({ status: Type.Literal('revoked'), message: Type.String() }) },
    handler: async ({ actor, body }) => {
      await totp.revoke(actor, body.code);
      return reply(200, { status: 'revoked' as const, message: 'Your authenticator was removed.' });
    },
  });
