/** vault provides no service: it answers the kernel's hooks `secret.resolve` and `secret.change`. */
declare module '@svc/api' {
  interface EventMap {
    /** The vault was set aside: what was kept is gone, and whoever remembers where a secret is looks again. */
    'vault.reset': Readonly<Record<string, never>>;
  }
}

export interface VaultStatus {
  readonly state: 'open' | 'locked' | 'missing' | 'corrupt';
  readonly secrets: number;
}
