/** oidc-provider from npm as the provider of a company, and a browser that walks through it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OPEN_RATE, type TestAnswer } from '@svc/testing';
import Provider, { type Configuration } from 'oidc-provider';

export const CLIENT = { id: 'svc', secret: 'the-secret-of-the-client-svc-1234567890' } as const;
export const KEY = 'oidc-root-key';

export interface Person {
  email: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
}

export interface Company {
  readonly issuer: string;
  /** By subject; a test may change them. */
  readonly people: Map<string, Person>;
  /** Requests to the token endpoint. */
  readonly exchanges: { count: number };
  /** Serves a daemon at this address. */
  register(daemonUrl: string, options?: Partial<Configuration>): void;
  /** No request is answered until it is started again. */
  setDown(isDown: boolean): void;
  stop(): Promise<void>;
}

export const startCompany = async (): Promise<Company> => {
  let handle: ReturnType<Provider['callback']> | undefined;
  let isDown = false;
  const exchanges = { count: 0 };
  const server: Server = createServer((req, res) => {
    if (isDown) return void req.socket.destroy();
    if (req.url?.startsWith('/token')) exchanges.count += 1;
    void handle?.(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  const register: Company['register'] = (daemonUrl, options = {}) => {
    const provider = new Provider(issuer, configurationFor(daemonUrl, people, options));
    provider.on('server_error', (_context: unknown, error: unknown) => console.error('the provider of the test failed', error));
    handle = provider.callback();
  };
  return {
    issuer,
    people,
    exchanges,
    register,
    setDown: (next) => {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const configurationFor = (daemonUrl: string, people: Company['people'], options: Partial<Configuration>): Configuration => ({
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      redirect_uris: [`${daemonUrl}/api/auth/callback`],
      post_logout_redirect_uris: [`${daemonUrl}/`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture', 'groups'] },
  scopes: ['openid', 'offline_access', 'email', 'profile'],
  findAccount: (_context, sub) => {
    const person = people.get(sub);
    return person ? { accountId: sub, claims: () => ({ sub, email_verified: true, name: sub, ...person }) } : undefined;
  },
  issueRefreshToken: () => true,
  pkce: { required: () => true },
  cookies: { keys: ['a key of the tests'] },
  ttl: { AccessToken: 300, AuthorizationCode: 60, IdToken: 300, Grant: 86_400, Interaction: 600, RefreshToken: 86_400, Session: 86_400 },
  ...options,
});

export const configFor = (issuer: string, more = '', top = `api_key = "${KEY}"\n`, users = ''): string =>
  `${top}${OPEN_RATE}[external_auth]\nenabled = true\nissuer_url = "${issuer}"\nclient_id = "${CLIENT.id}"\n${more}\n${users}`;

interface Hop {
  readonly status: number;
  readonly url: string;
  readonly location: string | undefined;
  readonly text: string;
  readonly json: TestAnswer['body'];
  readonly headers: Headers;
}

/** Keeps cookies by host and port, follows nothing by itself. */
export const createBrowser = (accept = 'text/html,application/xhtml+xml') => {
  const jar = new Map<string, Map<string, string>>();
  const request = async (url: string, init: RequestInit = {}): Promise<Hop> => {
    const { host } = new URL(url);
    const cookies = jar.get(host) ?? new Map<string, string>();
    jar.set(host, cookies);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { accept, ...(cookie === '' ? {} : { cookie }), ...init.headers } });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0\b|expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const text = await answer.text();
    const location = answer.headers.get('location');
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: answer.status, url, location: location === null ? undefined : new URL(location, url).href, text, json, headers: answer.headers };
  };
  const form = (url: string, fields: Record<string, string>): Promise<Hop> =>
    request(url, { method: 'POST', body: new URLSearchParams(fields).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  return { request, form, cookies: (url: string) => jar.get(new URL(url).host) ?? new Map<string, string>() };
};
export type Browser = ReturnType<typeof createBrowser>;

/** From an address of the daemon, through the forms of the provider, up to where it sends the browser back: the address of the callback. */
export const walk = async (browser: Browser, start: string, login: string): Promise<{ callback: string; asked: boolean }> => {
  let hop = await browser.request(start);
  if (hop.status !== 302) throw new Error(`the daemon answered ${hop.status}: ${hop.text}`);
  let asked = false;
  for (let steps = 0; steps < 20; steps += 1) {
    const next = hop.location;
    if (next !== undefined && new URL(next).pathname === '/api/auth/callback') return { callback: next, asked };
    if (next !== undefined) {
      hop = await browser.request(next);
      continue;
    }
    const action = /<form[^>]+action="([^"]+)"/.exec(hop.text)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(hop.text)?.[1];
    if (!action || !prompt) throw new Error(`no form in the answer ${hop.status} of ${hop.url}: ${hop.text.slice(0, 500)}`);
    if (prompt === 'login') asked = true;
    hop = await browser.form(new URL(action, hop.url).href, prompt === 'login' ? { prompt, login, password: 'x' } : { prompt });
  }
  throw new Error('the provider goes round in circles');
};
