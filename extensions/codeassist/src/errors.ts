import { defineErrors } from '@svc/api';

export const codeassistErrors = defineErrors('codeassist', {
  no_client_id: {
    status: 409,
    retry: false,
    message: () => 'No app is set that you could log in with.',
    hint: 'Set client_id under [codeassist] in config.toml: the client ID of an OAuth app with the device flow enabled. Or set a token: svc providers set-key github-copilot.',
  },
  not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `You have no login with the poll_id ${id}.`,
    hint: 'POST /api/providers/codeassist/oauth/start begins one. It is forgotten an hour after its code expired.',
  },
  unreachable: {
    status: 502,
    retry: true,
    message: (host: string, why: string) => `${host} did not answer the login: ${why}`,
    hint: 'Try again. If it stays so, check login_url under [codeassist] in config.toml.',
  },
  refused: {
    status: 502,
    retry: false,
    message: (host: string, why: string) => `${host} refused the login: ${why}.`,
    hint: 'Check client_id and login_url under [codeassist] in config.toml, and enable the device flow in the settings of the OAuth app.',
  },
  session_refused: {
    status: 502,
    retry: false,
    message: (host: string, status: number) => `${host} opened no session for models (${status}): it refused the token, or the account has no Copilot.`,
    hint: 'Log in again: svc auth codeassist. The account needs a Copilot plan.',
  },
  session_failed: {
    status: 502,
    retry: true,
    message: (host: string, why: string) => `${host} opened no session for models: ${why}`,
    hint: 'Try again. If it stays so, check api_url under [codeassist] in config.toml.',
  },
});
