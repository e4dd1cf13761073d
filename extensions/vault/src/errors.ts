import { defineErrors } from '@svc/api';

export const vaultErrors = defineErrors('vault', {
  disabled: {
    status: 503,
    retry: false,
    message: () => 'The vault is switched off, so no secret can be kept.',
    hint: 'Set enabled = true under [vault] in config.toml, or give the key in the environment.',
  },
  locked: {
    status: 503,
    retry: false,
    message: (why: string) => `The vault cannot be opened: ${why}.`,
    hint: 'Start the daemon with the SVC_VAULT_KEY (or the vault.key file) that the vault was made with. `svc doctor` names the check VaultKeyCheck.',
  },
  corrupt: {
    status: 503,
    retry: false,
    message: (why: string) => `The vault file is damaged and was left as it is: ${why}.`,
    hint: 'Restore vault.enc from a backup, or move it away to begin an empty vault.',
  },
  full: { status: 507, retry: false, message: (limit: number) => `The vault keeps at most ${limit} secrets.`, hint: 'Delete what is no longer used.' },
  bad_name: { status: 400, retry: false, message: () => 'A secret is named by 1 to 200 letters, digits, dots, dashes, underscores, slashes or colons.' },
  too_large: { status: 413, retry: false, message: (limit: number) => `A secret may have at most ${limit} bytes.` },
});
