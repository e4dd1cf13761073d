import { type Static, Type } from '@svc/api';

export const VaultConfig = Type.Object(
  { enabled: Type.Boolean({ default: true, description: 'Off: nothing is kept, and keys come from the environment alone' }) },
  { additionalProperties: false, 'x-waiting': { path: true, use_os_keyring: true } },
);
export type VaultConfig = Static<typeof VaultConfig>;

declare module '@svc/api' {
  interface ConfigMap {
    vault: VaultConfig;
  }
}
