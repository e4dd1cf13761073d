import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

const Pairing = Type.Object(
  {
    enabled: Type.Boolean({ default: true, description: 'Whether devices can be paired. Devices that are paired stay so' }),
    max_devices: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'Devices of one person' }),
    token_expiry_secs: Type.Integer({ minimum: 30, maximum: 3_600, default: 300, description: 'How long a code works' }),
    public_base_url: Type.String({
      maxLength: 2_000,
      default: '',
      pattern: '^$|^https?://\\S+$',
      description: 'Address at which devices reach this daemon, for the QR code. Default: the address of the request',
    }),
    push_provider: OneOf(['none', 'ntfy', 'gotify'], {
      default: 'none',
      description: 'Who brings messages to devices whose page is closed. Gotify: set GOTIFY_SERVER_URL and GOTIFY_APP_TOKEN in the environment',
    }),
    ntfy_url: Type.String({ maxLength: 2_000, default: 'https://ntfy.sh', pattern: '^https?://\\S+$', description: 'Address of the ntfy server' }),
    ntfy_topic: Type.String({ maxLength: 64, default: '', pattern: '^[A-Za-z0-9_-]*$', description: 'Topic that your devices subscribe to. Whoever knows it can read it' }),
  },
  { additionalProperties: false, default: {} },
);
export type PairingConfig = Plain<typeof Pairing>;

export const PairingSection = defineConfig('pairing', Pairing);
