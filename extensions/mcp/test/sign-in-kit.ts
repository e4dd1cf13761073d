/** A company with an MCP server of the official SDK, and oidc-provider in front of it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import Provider, { type Configuration } from 'oidc-provider';
import { z } from 'zod';
import { type Browser, createBrowser } from '../../oidc/test/provider-kit.js';

type RefreshToken = InstanceType<Provider['RefreshToken']>;

export interface Company {
  /** Of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  readonly provider: Provider;
  readonly counts: { refreshes: number; registrations: number };
  /** Seconds that new access tokens are valid. */
  tokenSecs: number;
  /** Access tokens that the server refuses from now on, whatever the provider says. */
  readonly refused: Set<string>;
  /** All tokens that were given. */
  readonly tokens: Set<string>;
  /** The resource that tokens were asked for. */
  readonly resources: Set<string>;
  lastRefresh: RefreshToken | undefined;
  /** The provider answers nothing. */
  isProviderDown: boolean;
  /** How long an answer to a refresh takes. */
  refreshDelayMs: number;
  stop(): Promise<void>;
}

const listening = async (handle: (req: IncomingMessage, res: ServerResponse) => unknown) => {
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

const configurationOf = (company: () => Company, more: Partial<Configuration>): Configuration => ({
  clients: [],
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => {
        company().resources.add(resource);
        return { scope: 'tools', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: company().tokenSecs };
      },
      useGrantedResource: () => true,
    },
  },
  scopes: ['openid', 'offline_access', 'tools'],
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  cookies: { keys: ['a key of the tests'] },
  ttl: { AuthorizationCode: 60, Grant: 86_400, IdToken: 300, Interaction: 600, RefreshToken: 86_400, Session: 86_400 },
  ...more,
});

export const startCompany = async (more: Partial<Configuration> = {}): Promise<Company> => {
  let answer: (req: IncomingMessage, res: ServerResponse) => unknown = (_req, res) => res.end();
  const authority = await listening(async (req, res) => {
    if (company.isProviderDown) return req.socket.destroy();
    if (req.url === '/token') await new Promise((resolve) => setTimeout(resolve, company.refreshDelayMs));
    return answer(req, res);
  });
  const server = await listening((req, res) => serveMcp(company, req, res));
  const provider = new Provider(
    authority.origin,
    configurationOf(() => company, more),
  );
  provider.on('server_error', (_context: unknown, error: unknown) => console.error('the provider of the test failed', error));
  provider.on('refresh_token.saved', (token: RefreshToken) => {
    company.lastRefresh = token;
    if (token.jti) company.tokens.add(token.jti);
  });
  const handle = provider.callback();
  const company: Company = {
    ...{ url: `${server.origin}/mcp`, issuer: authority.origin, provider, counts: { refreshes: 0, registrations: 0 }, tokenSecs: 300, refused: new Set(), tokens: new Set(), resources: new Set() },
    ...{ lastRefresh: undefined, isProviderDown: false, refreshDelayMs: 0 },
    stop: async () => {
      await Promise.all([authority.stop(), server.stop()]);
    },
  };
  provider.on('registration_create.success', () => {
    company.counts.registrations += 1;
  });
  provider.on('grant.success', (context) => {
    if (context.oidc.params?.grant_type === 'refresh_token') company.counts.refreshes += 1;
  });
  answer = handle;
  return company;
};

const serveMcp = async (company: Company, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const metadata = `${new URL(company.url).origin}/.well-known/oauth-protected-resource/mcp`;
  if (req.url === '/.well-known/oauth-protected-resource/mcp') {
    res.setHeader('content-type', 'application/json');
    return void res.end(JSON.stringify({ resource: company.url, authorization_servers: [company.issuer], scopes_supported: ['tools'] }));
  }
  if (req.url !== '/mcp') return void res.writeHead(404).end();
  const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
  const found = token !== undefined && !company.refused.has(token) ? await company.provider.AccessToken.find(token) : undefined;
  if (token !== undefined) company.tokens.add(token);
  if (!found || found.isExpired || found.aud !== company.url) return void res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="tools"` }).end();
  const mcp = new McpServer({ name: 'company', version: '1.0.0' });
  mcp.registerTool('whoami', { description: 'Says who signed in.', inputSchema: { text: z.string().optional() } }, () => ({ content: [{ type: 'text', text: `you are ${found.accountId}` }] }));
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  // Its own declarations differ under exact optional types.
  await mcp.connect(transport as Transport);
  await transport.handleRequest(req, res);
};

/** A person: from where svc sends the browser, through the forms of the provider, to the callback. */
export const walked = async (start: string, login: string, browser: Browser = createBrowser()): Promise<string> => {
  let next: string | undefined = start;
  let hop: Awaited<ReturnType<Browser['request']>> | undefined;
  for (let steps = 0; steps < 20; steps += 1) {
    if (next !== undefined && new URL(next).pathname.endsWith('/auth/callback')) return next;
    if (next !== undefined) hop = await browser.request(next);
    else {
      const action = /<form[^>]+action="([^"]+)"/.exec(hop?.text ?? '')?.[1];
      const prompt = /name="prompt" value="([^"]+)"/.exec(hop?.text ?? '')?.[1];
      if (!hop || !action || !prompt) throw new Error(`no form in the answer ${hop?.status} of ${hop?.url}: ${hop?.text.slice(0, 500)}`);
      hop = await browser.form(new URL(action, hop.url).href, prompt === 'login' ? { prompt, login, password: 'x' } : { prompt });
    }
    next = hop.location;
  }
  throw new Error('the provider goes round in circles');
};
