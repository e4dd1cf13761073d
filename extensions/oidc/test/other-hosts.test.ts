/** Endpoints that a provider names at hosts which the settings do not. */
import { expect } from 'chai';
import type { Provider } from '@svc/ext-auth/contract';
import { createProviders, type ProviderDeps } from '../src/providers.js';

const ISSUER = 'https://login.example';
const DOCUMENT = {
  ...{ issuer: ISSUER, authorization_endpoint: `${ISSUER}/authorize`, token_endpoint: 'https://tokens.example/token', jwks_uri: 'https://keys.example/keys' },
  ...{ response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] },
};

describe('endpoints at other hosts', () => {
  it('N1 are asked as public ones each time, and never allowed on a private network', async () => {
    const allowed: string[] = [];
    const asked: string[] = [];
    const deps = {
      egress: { allow: (url: string) => allowed.push(url), refusal: async () => undefined },
      fetch: async (url: string, { purpose }: { purpose: string }) => {
        asked.push(`${purpose} ${new URL(url).host}`);
        return { status: 200, headers: { 'content-type': 'application/json' }, text: async () => JSON.stringify(url.includes('openid-configuration') ? DOCUMENT : { keys: [] }) };
      },
      secrets: { login: async () => 'secret' },
      clock: { mono: () => 0 },
    } as unknown as ProviderDeps;
    const provider = {
      id: 'company',
      issuer_url: ISSUER,
      auth_url: '',
      token_url: '',
      userinfo_url: '',
      jwks_uri: '',
      client_id: 'svc',
      client_secret_env: '',
      client_auth: 'basic',
    } as unknown as Provider;
    const opened = await createProviders(deps).open(provider);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'RS256', kid: 'x' })}.${part({ iss: ISSUER, sub: 'a' })}.${part({})}`;
    await opened.verify(token, { audience: 'svc', isFresh: false }).catch(() => undefined);
    expect([allowed, asked]).to.deep.equal([[ISSUER], ['server login.example', 'webhook keys.example']]);
  });
});
