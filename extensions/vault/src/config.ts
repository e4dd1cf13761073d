import { Type, defineConfig } from '@svc/api';

export const VaultSection = defineConfig(
  'vault',
  Type.Object(
    { enabled: Type.Boolean({ default: true, description: 'Off: nothing is kept, and keys come from the environment alone' }) },
    { additionalProperties: false, 'x-waiting': { path: true, use_os_keyring: true } },
  ),
);
