/** Where a browser goes to end its session at the provider too. */
import type { RouteDeps } from './routes.js';
import type { Tokens } from './sealing.js';

/** Undefined where the provider has no such place. */
export const logoutUrl = async ({ auth, providers }: Pick<RouteDeps, 'auth' | 'providers'>, id: string, tokens: Tokens | undefined, origin: string): Promise<string | undefined> => {
  const provider = (await auth.providers()).find((one) => one.id === id);
  if (!provider) return undefined;
  const { config } = await providers.open(provider);
  if (!config.serverMetadata().end_session_endpoint) return undefined;
  const client = await import('openid-client');
  const base = provider.redirect_url === '' ? origin : new URL(provider.redirect_url).origin;
  return client.buildEndSessionUrl(config, { post_logout_redirect_uri: `${base}/`, ...(tokens?.idToken === undefined ? {} : { id_token_hint: tokens.idToken }) }).href;
};
