/** A provider that answers with whatever a test says, in place of one that does it right. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { CLIENT } from './provider-kit.js';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

export interface Forgery {
  /** Changes the claims of the next id token; undefined takes one away. */
  claims?: Record<string, unknown>;
  sign?: 'none' | 'HS256' | 'unknown-key';
  /** Instead of tokens. */
  error?: { status: number; body: unknown };
  hasIdToken?: boolean;
  /** Of the access token that is asked with. */
  userInfo?: Record<string, unknown>;
  refreshToken?: string;
}

export const startForger = async () => {
  let forgery: Forgery = {};
  let isDown = false;
  let named: string | undefined;
  let pair: Pair = await generateKeyPair('RS256', { extractable: true });
  let kid = 'one';
  const asked: Array<{ path: string; form: URLSearchParams }> = [];
  const server: Server = createServer((req, res) => {
    if (isDown) return void req.socket.destroy();
    let body = '';
    req.on('data', (piece) => {
      body += piece;
    });
    req.on('end', () => void answer(req.url ?? '', body).then(({ json, status = 200 }) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const now = (): number => Math.floor(Date.now() / 1_000);
  const token = async (claims: Record<string, unknown>, sign = forgery.sign): Promise<string> => {
    const whole = { iss: issuer, iat: now(), exp: now() + 300, sub: 'mallory', email: 'mallory@example.com', email_verified: true, ...claims };
    const payload = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as JWTPayload;
    if (sign === 'none') return new UnsecuredJWT(payload).encode();
    if (sign === 'HS256') return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret));
    const key = sign === 'unknown-key' ? (await generateKeyPair('RS256')).privateKey : pair.privateKey;
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: sign === 'unknown-key' ? 'nobodys' : kid }).sign(key);
  };
  const nonces = new Map<string, string>();
  const answer = async (path: string, body: string): Promise<{ json: unknown; status?: number }> => {
    const form = new URLSearchParams(body);
    asked.push({ path, form });
    if (path.startsWith('/.well-known')) {
      const at = (to: string): string => `${issuer}${to}`;
      return {
        json: {
          ...{ issuer: named ?? issuer, authorization_endpoint: at('/auth'), token_endpoint: at('/token'), jwks_uri: at('/keys'), userinfo_endpoint: at('/me') },
          ...{ response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] },
        },
      };
    }
    if (path === '/keys') return { json: { keys: [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }] } };
    if (path === '/me') return forgery.userInfo ? { json: forgery.userInfo } : { status: 401, json: { error: 'invalid_token' } };
    if (forgery.error) return { status: forgery.error.status, json: forgery.error.body };
    const nonce = nonces.get(form.get('code') ?? '');
    const idToken = forgery.hasIdToken === false ? {} : { id_token: await token({ aud: CLIENT.id, nonce, ...forgery.claims }) };
    return { json: { access_token: 'access', token_type: 'Bearer', expires_in: 300, ...idToken, ...(forgery.refreshToken ? { refresh_token: forgery.refreshToken } : {}) } };
  };
  return {
    issuer,
    asked,
    token,
    /** What the provider gives back for the address where the daemon sent a browser. */
    codeFor: (location: string): string => {
      const nonce = new URL(location).searchParams.get('nonce') ?? '';
      const code = `code-${nonces.size}`;
      nonces.set(code, nonce);
      return code;
    },
    answer: (next: Forgery) => {
      forgery = { userInfo: { sub: 'mallory' }, ...next };
    },
    setDown: (next: boolean) => {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    nameItself: (other: string | undefined) => {
      named = other;
    },
    rotate: async () => {
      pair = await generateKeyPair('RS256', { extractable: true });
      kid = `${kid}+`;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
export type Forger = Awaited<ReturnType<typeof startForger>>;
