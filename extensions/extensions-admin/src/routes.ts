/** GET /api/extensions* of the interface, and what `svc ext` needs beside them. */
import {
  ErrorBody,
  GRANT_KINDS,
  type ExtensionPlan,
  type ExtensionStatus,
  type KernelView,
  Nullable,
  OneOf,
  type Plain,
  type RouteDecl,
  type Static,
  Type,
  defineRoute,
  nearest,
  parseGrant,
  reply,
} from '@svc/api';
import { doctorRoute } from './doctor-route.js';
import { extensionErrors } from './errors.js';
import { installRoutes } from './install-routes.js';

const ByName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100, description: 'Id of the extension', examples: ['webchat'] }) });
const Names = Type.Array(Type.String());
const STATES = ['inactive', 'starting', 'active', 'stopping', 'pending', 'failed', 'quarantined'] as const;
const ACTIONS = ['enable', 'disable', 'reset', 'reload'] as const;
const Extension = Type.Object(
  {
    name: Type.String(),
    display_name: Type.String(),
    category: OneOf(['first-party', 'third-party']),
    status: OneOf(['ready', 'installed', 'error']),
    installed: Type.Boolean(),
    tool_count: Type.Integer(),
    tags: Names,
    id: Type.String({ description: 'The name by its other name' }),
    version: Type.String(),
    description: Type.String(),
    bundled: Type.Boolean({ description: 'Whether it came with the daemon' }),
    origin: Nullable(
      Type.Object({
        source: Type.String({ description: 'As the person named it who installed it' }),
        publisher: Nullable(Type.Object({ keyId: Type.String({ description: 'The first 16 hex digits of the SHA-256 of the key that signed it' }), name: Nullable(Type.String()) })),
        trust: OneOf(['signed', 'unsigned', 'linked']),
        isolation: OneOf(['isolated', 'walled']),
        isolationWhy: Type.Optional(Type.String({ description: 'Who or what decided that' })),
        installedAt: Type.String(),
      }),
      { description: 'Only for installed extensions' },
    ),
    process: Nullable(Type.Object({ pid: Nullable(Type.Integer()), memoryBytes: Nullable(Type.Number()), crashes: Type.Integer({ description: 'Crashes within ten minutes' }) }), {
      description: 'Process of an isolated extension; no pid while it is idle',
    }),
    stored: Nullable(
      Type.Object({
        filesBytes: Nullable(Type.Integer(), { description: 'In its data and cache folders, by blocks of 4 KiB' }),
        filesLimit: Type.Integer(),
        rowsBytes: Nullable(Type.Integer(), { description: 'In its tables and their indexes' }),
        rowsLimit: Type.Integer(),
      }),
      {
        description: 'Storage used by an installed extension, and its limits; null for built-in extensions and those that have not run since the start. A number is null until it is measured.',
      },
    ),
    state: OneOf(STATES),
    degraded: Type.Boolean({ description: 'Whether an optional dependency is missing' }),
    phase: Nullable(Type.String(), { description: 'What failed: loading, starting, …' }),
    reason: Nullable(Type.String(), { description: 'Why it is in its state' }),
    recoverable: Type.Boolean(),
    generation: Type.Integer({ description: 'How often it was loaded' }),
    essential: Type.Boolean(),
    intent: Type.Object({ enabled: Type.Boolean(), decidedBy: OneOf(['choice', 'config', 'preset']) }, { description: 'The desired state, set by a person' }),
    provides: Type.Record(Type.String(), Type.String(), { description: 'Services with their versions' }),
    requires: Names,
    optional: Names,
    grants: Type.Array(Type.Object({ grant: Type.String(), what: Type.String({ description: 'What the grant allows, in words' }), why: Type.String({ description: 'The reason in its manifest' }) }), {
      description: 'Its permissions beyond its own rows and routes',
    }),
    contributes: Type.Record(Type.String(), Names, { description: 'What it adds, by kind: route, tool, …' }),
    holds: Type.Array(Type.String(), { description: 'Work that delays a reload' }),
    strikes: Type.Integer({ description: 'Failures since the start' }),
    leaks: Names,
    startedAt: Nullable(Type.String()),
    startMs: Nullable(Type.Number()),
  },
  { 'x-name': 'Extension' },
);
const Node = Type.Object(
  {
    id: Type.String(),
    state: OneOf(STATES),
    needs: Type.Array(Type.String(), { description: 'Required services' }),
    uses: Type.Array(Type.String(), { description: 'These it can do without' }),
    waitsFor: Type.Array(Type.String(), { description: 'Missing requirements' }),
  },
  { 'x-name': 'ExtensionNode' },
);
const Plan = Type.Object(
  {
    id: Type.String(),
    action: OneOf(ACTIONS),
    starts: Names,
    stops: Names,
    degrades: Names,
    warning: Nullable(Type.String(), { description: 'Warnings; if there are any, the change requires `confirm`' }),
    back: Nullable(Type.String(), { description: 'How to undo the change, even if the API is not available' }),
  },
  { 'x-name': 'ExtensionPlan' },
);
const Changed = Type.Object({ status: Type.String(), extension: Extension, plan: Plan }, { 'x-name': 'ExtensionChange' });
const Force = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Do not wait for running work; also confirms' })),
  confirm: Type.Optional(Type.Boolean({ description: 'Confirm the warnings of the plan' })),
});
const MEANS = {
  enable: 'Starts the extension, and those that waited for it. The choice is stored and overrides the preset and config.toml at every start.',
  disable: 'Stops the extension, and those that require it. Its operations answer 404 and its tools are no longer listed; its rows stay. The choice is stored.',
  reset: 'Clears the stored choice and recorded failures: the preset and config.toml decide again, and a quarantined extension is started again.',
  reload: 'Loads the code again and switches over when the new generation has started. If it fails, the old one keeps running.',
} as const;
const CARE = 'If its plan has a warning, the request is refused with 409, and `details.plan` says why; send `confirm=true` to continue. `force=true` does not wait for active work.';
const DONE = { enable: 'enabled', disable: 'disabled', reset: 'reset', reload: 'reloaded' } as const;

export const extensionRoutes = (kernel: KernelView): RouteDecl[] => [
  defineRoute({
    id: 'listExtensions',
    method: 'GET',
    path: '/api/extensions',
    summary: 'List extensions',
    description: 'All extensions, built in and installed, on or off. `state` is the current state, `reason` explains it, `intent` is the desired state.',
    auth: 'bearer',
    permission: 'extensions.read',
    cost: 2,
    repairs: true,
    responses: { 200: Type.Object({ extensions: Type.Array(Extension), total: Type.Integer() }, { 'x-name': 'ExtensionList' }) },
    handler: async () => {
      const extensions = kernel.extensions().map(toPublic);
      return reply(200, { extensions, total: extensions.length });
    },
  }),
  defineRoute({
    id: 'getExtension',
    method: 'GET',
    path: '/api/extensions/{name}',
    summary: 'Get an extension',
    description: 'The same fields as in the list.',
    auth: 'bearer',
    permission: 'extensions.read',
    cost: 2,
    repairs: true,
    params: ByName,
    responses: { 200: Extension, 404: ErrorBody },
    handler: async (req) => reply(200, toPublic(find(kernel, req.params.name))),
  }),
  defineRoute({
    id: 'getExtensionGraph',
    method: 'GET',
    path: '/api/extensions-graph',
    summary: 'Get the dependency graph',
    description: 'The services extensions use of each other, as a graph: what stops with what, and why an extension does not start.',
    auth: 'bearer',
    permission: 'extensions.read',
    cost: 2,
    repairs: true,
    responses: { 200: Type.Object({ nodes: Type.Array(Node) }, { 'x-name': 'ExtensionGraph' }) },
    handler: async () => reply(200, { nodes: kernel.graph() }),
  }),
  defineRoute({
    id: 'planExtensionChange',
    method: 'POST',
    path: '/api/extensions/{name}/plan',
    summary: 'Preview a change',
    description: 'Changes nothing. Call it before a change to show what else it affects and how to undo it.',
    examples: { 'Before switching one off': { action: 'disable' }, 'Before switching one on': { action: 'enable' }, 'Before a reload': { action: 'reload' } },
    auth: 'bearer',
    permission: 'extensions.read',
    cost: 2,
    repairs: true,
    params: ByName,
    body: Type.Object({ action: OneOf(ACTIONS) }),
    responses: { 200: Plan, 400: ErrorBody, 404: ErrorBody },
    handler: async (req) => reply(200, kernel.plan(req.body.action, find(kernel, req.params.name).id)),
  }),
  ...ACTIONS.map((action) =>
    defineRoute({
      id: `${action}Extension`,
      method: 'POST',
      path: `/api/extensions/{name}/${action}`,
      summary: `${action[0]?.toUpperCase()}${action.slice(1)} an extension`,
      description: `${MEANS[action]} ${CARE}`,
      auth: 'bearer',
      permission: 'extensions.admin',
      cost: 50,
      audit: `extension_${DONE[action]}`,
      // Switching off is the way out when the database can't be written: it waits for no entry.
      ...(action === 'disable' ? {} : { auditCategory: 'installs' as const }),
      params: ByName,
      query: Force,
      responses: { 200: Changed, 404: ErrorBody, 409: ErrorBody },
      repairs: action !== 'disable',
      handler: (req) => change(kernel, action, req.params.name, req.query),
    }),
  ),
  doctorRoute(kernel),
  ...installRoutes(kernel, { ByName, Extension, find: (name) => find(kernel, name), toPublic }),
];

async function change(kernel: KernelView, action: ExtensionPlan['action'], name: string, { force = false, confirm = false }: Static<typeof Force>) {
  const { id } = find(kernel, name);
  const plan = kernel.plan(action, id);
  if (plan.warning !== null && !force && !confirm) throw extensionErrors.needs_confirmation(plan.warning, plan.back ?? `svc ext enable ${id}`).with({ details: { plan } });
  const work = { enable: () => kernel.enable(id), disable: () => kernel.disable(id, { force }), reset: () => kernel.reset(id), reload: () => kernel.reload(id) };
  const status = await work[action]().catch((cause: unknown) => {
    throw extensionErrors.change_failed(id, DONE[action], cause instanceof Error ? cause.message : 'unknown cause').with({ cause });
  });
  return reply(200, { status: DONE[action], extension: toPublic(status), plan });
}

function find(kernel: KernelView, name: string): ExtensionStatus {
  const all = kernel.extensions();
  const found = all.find((one) => one.id === name);
  if (found) return found;
  const [near] = nearest(
    name,
    all.map((one) => one.id),
  );
  throw extensionErrors.not_found(name, near);
}

/** Grants of a manifest that is not valid are shown as they are written. */
const inWords = ({ grant, why }: ExtensionStatus['grants'][number]): Plain<typeof Extension>['grants'][number] => {
  const parsed = parseGrant(grant);
  return { grant, what: typeof parsed === 'string' ? parsed : GRANT_KINDS[parsed.kind].what, why };
};

const toPublic = (status: ExtensionStatus): Plain<typeof Extension> => ({
  ...status,
  grants: status.grants.map(inWords),
  name: status.id,
  display_name: status.id,
  category: status.bundled ? 'first-party' : 'third-party',
  status: status.state === 'active' ? 'ready' : status.state === 'failed' || status.state === 'quarantined' ? 'error' : 'installed',
  installed: true,
  tool_count: status.contributes.tool?.length ?? 0,
  tags: [],
});
