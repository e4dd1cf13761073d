/**
 * Where people sign in for a server: what its entry says, else what the server and its authority publish.
 *
 * D1  The metadata of the server comes from its own origin, and is about its own address. An authority is the issuer that its metadata names.
 * D2  An authority without PKCE by S256 is refused.
 */
import type { OAuthServerInfo } from '@modelcontextprotocol/client';
import { parsedUrl } from '@svc/api';
import type { ServerSpec } from '../server-spec.js';
import { fetchBy, type Reach } from './reach.js';
import { CLIENT_AUTHS, type ClientAuth } from './sign-in-store.js';

export interface Found {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly resource?: string;
  readonly scope?: string;
  readonly needs_iss: boolean;
  readonly auth_methods: readonly ClientAuth[];
}

/** RFC 8414: what one without a list knows. */
const USUAL: readonly string[] = ['client_secret_basic'];
const OFFLINE = 'offline_access';

/** `challenge`: the WWW-Authenticate header of the server's refusal, where one was seen. */
export const discover = async (reach: Reach, url: string, { oauth = {} }: Pick<ServerSpec, 'oauth'>, challenge: string): Promise<Found> => {
  const sdk = await import('@modelcontextprotocol/client');
  const hint = sdk.extractWWWAuthenticateParams(new Response(null, { headers: challenge === '' ? {} : { 'www-authenticate': challenge } }));
  const { auth_url, token_url, scopes } = oauth;
  // A document of another origin could name an authority that the server knows nothing of.
  const named = hint.resourceMetadataUrl && hint.resourceMetadataUrl.origin === new URL(url).origin ? hint.resourceMetadataUrl : undefined;
  const isWhole = auth_url !== undefined && token_url !== undefined;
  const info: OAuthServerInfo = isWhole
    ? { authorizationServerUrl: new URL(auth_url).origin }
    : await sdk.discoverOAuthServerInfo(url, { fetchFn: fetchBy(reach), ...(named ? { resourceMetadataUrl: named } : {}) });
  const { authorizationServerUrl: base, authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256')) throw new Error(`${metadata.issuer} does not say that it checks PKCE by S256, so a code could be used by others`);
  if (resourceMetadata && !sdk.checkResourceAllowed({ requestedResource: sdk.resourceUrlFromServerUrl(url), configuredResource: resourceMetadata.resource }))
    throw new Error(`its metadata is about ${resourceMetadata.resource.slice(0, 200)}, which is another server`);
  const at = (path: string, own: string | undefined): string => own ?? new URL(path, base).href;
  const scope = wantedScope({ own: scopes, hint: hint.scope, published: resourceMetadata?.scopes_supported, offers: metadata?.scopes_supported });
  const registration = metadata ? text(metadata.registration_endpoint) : isWhole ? undefined : at('/register', undefined);
  const revocation = text(metadata && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined);
  const methods = metadata?.token_endpoint_auth_methods_supported;
  return {
    issuer: metadata?.issuer ?? base,
    authorization_endpoint: forBrowser(auth_url ?? at('/authorize', metadata?.authorization_endpoint)),
    token_endpoint: token_url ?? at('/token', text(metadata?.token_endpoint)),
    ...(registration === undefined ? {} : { registration_endpoint: registration }),
    ...(revocation === undefined ? {} : { revocation_endpoint: revocation }),
    ...(resourceMetadata ? { resource: resourceMetadata.resource } : isWhole ? {} : { resource: sdk.resourceUrlFromServerUrl(url).href }),
    ...(scope === undefined ? {} : { scope }),
    needs_iss: metadata?.authorization_response_iss_parameter_supported === true,
    auth_methods: CLIENT_AUTHS.filter((one) => (metadata ? (methods ?? USUAL).includes(one) : one !== 'client_secret_basic')),
  };
};

const text = (value: unknown): string | undefined => (typeof value === 'string' && parsedUrl(value) ? value : undefined);

/** A browser is sent there: what is no address of the web would run in it. */
const forBrowser = (address: string): string => {
  const url = parsedUrl(address);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`its authority names ${address.slice(0, 200)} to sign in at, which is no address of http or https`);
  return address;
};

interface Scopes {
  readonly own: readonly string[] | undefined;
  readonly hint: string | undefined;
  readonly published: readonly string[] | undefined;
  readonly offers: readonly string[] | undefined;
}

/** What the server asks for goes before all that it has. Without `offline_access` some authorities give no token to refresh with. */
const wantedScope = ({ own, hint, published, offers }: Scopes): string | undefined => {
  const words = own ?? hint?.split(' ') ?? published ?? [];
  const all = offers?.includes(OFFLINE) && (words.length > 0 || offers.includes('openid')) ? [...words, ...(words.length === 0 ? ['openid'] : []), OFFLINE] : words;
  return all.length === 0 ? undefined : [...new Set(all)].join(' ');
};
