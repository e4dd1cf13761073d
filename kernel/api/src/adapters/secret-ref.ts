/** Names a secret: a stored one first, else the environment variable. The value never leaves the adapter that uses it. */
export interface SecretRef {
  secret: string;
  env?: string;
}
