import { defineErrors } from '@svc/api';

export const vaultErrors = defineErrors('vault', {
  disabled: {
    status: 503,
    retry: false,
    message: () => 'The vault is switched off, so secrets cannot be stored.',
    hint: 'Set enabled = true under [vault] in config.toml, or give the key in the environment.',
  },
  locked: {
    status: 503,
    retry: false,
    message: (why: string) => `The vault cannot be opened: ${why}.`,
    hint: 'Bring back the SVC_VAULT_KEY (or the vault.key file) that the vault was made with; all daemons on a database need the same; if it is lost, `svc vault reset` creates a new vault. Keys in the environment keep working.',
  },
  corrupt: {
    status: 503,
    retry: false,
    message: (why: string) => `The vault file is damaged and was not changed: ${why}.`,
    hint: 'Restore vault.enc from a backup, or create a new vault with `svc vault reset`. Keys in the environment keep working.',
  },
  not_shared: {
    status: 409,
    retry: false,
    message: () => 'Secrets cannot be stored: several daemons use this database, and the others would not see what this one stores in its home.',
    hint: 'Set SVC_VAULT_KEY to the same 32 bytes (head -c 32 /dev/urandom | base64) for all daemons, or give keys in the environment of each.',
  },
  busy: { status: 409, retry: true, message: () => 'Other daemons change secrets at the same time.', hint: 'Try again.' },
  full: { status: 507, retry: false, message: (limit: number) => `The vault stores at most ${limit} secrets.`, hint: 'Delete what is no longer used.' },
  needs_confirmation: {
    status: 409,
    retry: false,
    message: (names: readonly string[] | null) => `A new vault loses ${lossOf(names)}, unless you restore the key of the current one.`,
    hint: 'Repeat with ?confirm=true, or answer yes in svc vault reset. The current file is moved aside, not deleted.',
  },
  nothing_to_reset: { status: 409, retry: false, message: () => 'There is no vault yet, so there is nothing to reset.', hint: 'Storing the first key creates it.' },
  key_unusable: {
    status: 409,
    retry: false,
    message: (why: string) => `A new vault could not be opened either: ${why}.`,
    hint: 'Correct SVC_VAULT_KEY, or remove it so that the vault makes its own key file, and start the daemon again.',
  },
  nothing_to_rotate: { status: 409, retry: false, message: () => 'There is no vault yet, so its key cannot be rotated.', hint: 'Storing the first secret creates the vault and its key.' },
  key_in_environment: {
    status: 409,
    retry: false,
    message: () => "The vault's key is SVC_VAULT_KEY, which svc cannot change.",
    hint: 'Restart the daemon with the new key in SVC_VAULT_KEY and the present one in SVC_VAULT_KEY_PREVIOUS, then run `svc vault rotate-key` again.',
  },
  not_yours: {
    status: 409,
    retry: false,
    message: (name: string) => `The secret ${name} is managed by svc itself.`,
    hint: "A provider's key: `svc providers set-key PROVIDER` and `svc providers remove-key PROVIDER`. A second factor: `svc approvals totp`. Signing keys cannot be changed.",
  },
  not_found: { status: 404, retry: false, message: (name: string) => `The vault has no secret ${name}.`, hint: '`svc vault list` shows the names.' },
  bad_name: { status: 400, retry: false, message: () => "A secret's name has 1 to 200 letters, digits, dots, dashes, underscores, slashes or colons." },
  too_large: { status: 413, retry: false, message: (limit: number) => `A secret may have at most ${limit} bytes.` },
});

/** What is lost, for a person. */
export const lossOf = (names: readonly string[] | null): string =>
  names === null
    ? 'every secret in it, whose names cannot be read'
    : names.length === 0
      ? 'no secret'
      : names.length === 1
        ? `the secret ${names[0]}`
        : `${names.length} secrets (${names.join(', ')})`;
