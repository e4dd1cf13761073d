import { Type, defineConfig } from '@svc/api';

export const VaultSection = defineConfig(
  'vault',
  Type.Object(
    { enabled: Type.Boolean({ default: true, description: 'Off: nothing is stored, and keys come only from the environment' }) },
    { additionalProperties: false, 'x-by-hand': 'it decides whether secrets are stored', 'x-waiting': { path: true, use_os_keyring: true } },
  ),
);
