/** Whether people could sign in now. */
import { type DoctorFinding, isSvcError } from '@svc/api';
import type { RouteDeps } from './routes.js';

const CHECK = 'SignInCheck';

export const findingsOf = async ({ auth, providers }: Pick<RouteDeps, 'auth' | 'providers'>): Promise<readonly DoctorFinding[]> => {
  const { enabled } = await auth.externalAuth();
  const all = await auth.providers();
  if (!enabled && all.length > 0)
    return [
      {
        check: CHECK,
        result: 'warn',
        message: 'Providers are set, and [external_auth] enabled is false: nobody can sign in there.',
        fix: 'Set enabled = true under [external_auth], or remove the providers.',
      },
    ];
  if (enabled && all.length === 0) return [{ check: CHECK, result: 'warn', message: '[external_auth] is on and names no provider.', fix: 'Set issuer_url and client_id under [external_auth].' }];
  if (!enabled) return [];
  return Promise.all(
    all.map(async (provider): Promise<DoctorFinding> => {
      try {
        const { issuer } = await providers.open(provider);
        return { check: CHECK, result: 'pass', message: `People can sign in at ${provider.display_name} (${issuer}).` };
      } catch (error) {
        return {
          check: CHECK,
          result: 'fail',
          message: error instanceof Error ? error.message : String(error),
          fix: isSvcError(error) && error.hint ? error.hint : 'Compare [external_auth] with what the provider shows.',
        };
      }
    }),
  );
};
