/** vault provides no service: it answers the kernel's hooks `secret.resolve` and `secret.change`. */
export interface VaultStatus {
  readonly state: 'open' | 'locked' | 'missing' | 'corrupt';
  readonly secrets: number;
}
