import { createTables, defineExtension, didYouMean, DoctorCheck, type ExtensionContext, HttpAuthorize } from '@svc/api';
import { AgentReview, Agents, Templates } from '@svc/ext-agents/contract';
import { Workspaces } from '@svc/ext-files/contract';
import { Runs, Uploads } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { Tools } from '@svc/ext-tools/contract';
import { suspicionsOf } from '@svc/ext-taint/contract';
import { createCatalog } from './catalog/catalog.js';
import { launched, type LaunchDeps, missingValues } from './client/launch.js';
import type { LiveServer } from './client/live-server.js';
import { commands, commandWords } from './commands.js';
import { McpSection, McpServersSetting } from './config.js';
import * as contract from './contract.js';
import { findingsOf } from './doctor.js';
import { promptCommand } from './prompt-command.js';
import { agentServerRoutes } from './routes/agent-routes.js';
import { catalogRoutes } from './routes/catalog-routes.js';
import { serverRoutes } from './routes/server-routes.js';
import { signInRoutes } from './routes/sign-in-routes.js';
import { mcpRoutes } from './server/mcp-routes.js';
import { createServers, type Servers } from './servers.js';
import { createSignInStore } from './sign-in/sign-in-store.js';
import { type AuthShown, createSignIns, type SignInDeps } from './sign-in/sign-ins.js';
import { createServerStore } from './store.js';
import { createToolOffer } from './tools.js';

const TICK_MS = 1_000;
/** The daemon answers first. */
const START_MS = 200;

/** The members of a context are no own properties of it. */
const pickOf = ({ secrets, fetch, egress, clock, ids, log }: ExtensionContext): Omit<SignInDeps, 'store'> => ({ secrets, fetch, egress, clock, ids, log });

const running = new WeakMap<object, Servers>();

export default defineExtension({
  contract,
  tables: [contract.ServerRows, contract.SignInRows, contract.RefreshRows],
  migrations: [createTables('0001_tables', [contract.ServerRows, contract.SignInRows, contract.RefreshRows], { replaces: ['0001_init', '0002_sign_ins'] })],
  config: [McpServersSetting, McpSection],
  commands,
  commandWords,
  completions: [{ name: 'mcp-servers', fields: ['name-or-id'], operation: 'listMcpServers', rows: 'servers', value: 'name' }],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.optional(Runs);
    const tools = ctx.services.optional(Tools);
    const uploads = ctx.services.optional(Uploads);
    const sessions = ctx.services.optional(Sessions);
    const workspaces = ctx.services.optional(Workspaces);
    const templates = ctx.services.optional(Templates);
    const authorize = ctx.hooks.use(HttpAuthorize);
    const store = createServerStore(ctx);
    const signIns = createSignIns({ ...pickOf(ctx), store: createSignInStore(ctx) });
    const launch: LaunchDeps = { ctx, given: (name) => servers.given(name), access: (spec) => signIns.access(spec) };
    const servers: Servers = createServers({
      store,
      ...{ secrets: ctx.secrets, config: ctx.config, clock: ctx.clock, log: ctx.log, home: ctx.env('HOME') ?? '' },
      live: { clock: ctx.clock, log: ctx.log, schemas: ctx.schemas, version: ctx.version, missing: (spec) => missingValues(launch, spec), transport: (spec, events) => launched(launch, spec, events) },
      ...{ signIns, offer: () => offer },
      announce: (name, state) => ctx.events.publish(contract.McpChanged, { name, state }),
    });
    const offer = createToolOffer({ add: (tool) => ctx.tools.add(tool), server: (name) => servers.find(name), uploads });
    const catalog = createCatalog({ root: ctx.files.root('mcp'), schemas: ctx.schemas });
    const near = (id: string, ids: readonly string[]): string => didYouMean(id, ids);
    const signIn = (server: LiveServer): AuthShown => signIns.shown(server.spec, server.state());
    ctx.routes.add(
      ...serverRoutes({ servers, catalog, clock: ctx.clock, near, showing: { offer, isInConfig: servers.isInConfig, signIn, suspicions: suspicionsOf } }),
      ...signInRoutes({ servers, signIns, signIn }),
      ...catalogRoutes({ catalog, servers, near }),
      ...agentServerRoutes({ agents, servers }),
      ...mcpRoutes({
        ...{ version: ctx.version, clock: ctx.clock, agents },
        runs: () => runs.value,
        uploads: () => uploads.value,
        tools: () => tools.value,
        sessions: () => sessions.value,
        workspaces: () => workspaces.value,
        templates: () => templates.value,
        may: async (actor, routeId, permission) => (await authorize.call({ actor, method: 'GET', routeId, permission })) === undefined,
        publicTools: () => ctx.config.get(McpSection).public_tools,
      }),
    );
    ctx.slashCommands.add(promptCommand({ agents, servers, runs, uploads, log: ctx.log }));
    ctx.hooks.tap(DoctorCheck, () => findingsOf(servers, catalog));
    ctx.hooks.tap(AgentReview, ({ manifest: { mcp_servers: wanted = [] } }) =>
      wanted.filter((name) => name !== '*' && !servers.find(name)).map((name) => `mcp_servers names "${name}", but there is no such MCP server now.`),
    );
    ctx.timers.after('connect', START_MS, () => servers.start());
    ctx.timers.every('look', TICK_MS, () => servers.tick());
    ctx.config.onChange(McpServersSetting, () => void servers.sync().catch((error: unknown) => ctx.log.warn('the MCP servers of config.toml could not be taken over', { cause: error })));
    ctx.onDispose('MCP servers', () => servers.stop());
    running.set(ctx, servers);
  },
  start: async (ctx) => void (await running.get(ctx)?.sync()),
});
