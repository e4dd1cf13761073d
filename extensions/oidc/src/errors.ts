import { defineErrors } from '@svc/api';

export const oidcErrors = defineErrors('oidc', {
  off: { status: 503, retry: false, message: () => 'Sign-in at a provider is off.', hint: 'Set enabled = true, issuer_url and client_id under [external_auth] in config.toml.' },
  no_provider: { status: 404, retry: false, message: (id: string) => `There is no provider ${id}.`, hint: 'GET /api/auth/providers lists them.' },
  no_secret: {
    status: 503,
    retry: false,
    message: (id: string, variable: string) => `The secret of the client at ${id} is not set.`.concat(variable === '' ? '' : ` svc looks for it in ${variable}.`),
    hint: 'Set the variable and start the daemon again, or store the secret in the vault: svc vault set oidc.client.ID.',
  },
  unreachable: {
    status: 502,
    retry: true,
    message: (id: string, why: string) => `The provider ${id} can't be reached: ${why}`,
    hint: 'Check issuer_url under [external_auth], and whether the provider runs. Then sign in again.',
  },
  bad_provider: {
    status: 502,
    retry: false,
    message: (id: string, why: string) => `The provider ${id} is not set up as svc needs it: ${why}.`,
    hint: 'Compare issuer_url and the other addresses under [external_auth] with what the provider names. svc doctor shows more.',
  },
  exchange_failed: {
    status: 502,
    retry: false,
    message: (id: string, why: string) => `The provider ${id} did not complete the sign-in: ${why}.`,
    hint: 'Sign in again. If it stays so, check client_id, the secret of the client, client_auth and redirect_url.',
  },
  refused: { status: 401, retry: false, message: (id: string, why: string) => `The provider ${id} refused the sign-in: ${why}.`, hint: 'Sign in again, or ask who runs the provider.' },
  incomplete: { status: 400, retry: false, message: () => 'The answer of the provider has no code or no state.', hint: 'Begin at GET /api/auth/login.' },
  other_browser: { status: 400, retry: false, message: () => 'This sign-in was begun in another browser.', hint: 'Begin again in this one: GET /api/auth/login. The browser must take cookies.' },
  attempt_over: { status: 400, retry: false, message: () => 'This sign-in was used already, is unknown, or has expired (ten minutes).', hint: 'Begin again: GET /api/auth/login.' },
  bad_token: {
    status: 400,
    retry: false,
    message: (id: string, why: string) => `The token of the provider ${id} is not valid: ${why}.`,
    hint: 'Sign in again. If it stays so, compare the clocks of both machines, client_id and issuer_url.',
  },
  bearer_refused: { status: 401, retry: false, message: (why: string) => `The bearer token is not accepted. ${why}`, hint: 'Get another one from the provider, or sign in: GET /api/auth/login.' },
  email_unverified: {
    status: 403,
    retry: false,
    message: () => 'The provider has not verified your e-mail address, or gives none.',
    hint: 'Verify it there. Who runs this daemon can set require_email_verified = false under [external_auth].',
  },
  wrong_domain: {
    status: 403,
    retry: false,
    message: () => 'Your e-mail address is not of a domain that may sign in here.',
    hint: 'Who runs this daemon can add the domain to allowed_domains under [external_auth].',
  },
  no_role: {
    status: 403,
    retry: false,
    message: () => 'The provider gives you no role on this daemon.',
    hint: 'Who runs this daemon can add a line to [external_auth.role_map], or set default_role.',
  },
  person_disabled: { status: 403, retry: false, message: () => 'You are disabled on this daemon.', hint: 'Ask an owner or admin of this daemon.' },
  needs_https: {
    status: 409,
    retry: false,
    message: () => 'This provider answers with a form, which works only over https.',
    hint: 'Put a proxy with https in front of the daemon, or set response_mode = "query" for the provider. The origin of the provider must stand in cors_origins of [api].',
  },
  too_many_attempts: { status: 429, retry: true, message: () => 'Too many sign-ins were begun and not finished.', hint: 'Try again in some minutes.' },
  no_profile: { status: 404, retry: false, message: () => 'There is no profile of your sign-in any more.', hint: 'Sign in again.' },
});
