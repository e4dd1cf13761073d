/** What the trail answers. */
import { bytes, defineList, type ExtensionContext, Nullable, OneOf, reply, type RouteDecl, routeGroup, stream, Type } from '@svc/api';
import { auditErrors } from './errors.js';
import { exportLines } from './format/export-file.js';
import { consistencyProof, inclusionProof, TILE, tilesFor } from './format/merkle.js';
import { treePart } from './tree.js';
import type { AuditStore } from './store.js';
import { recent } from './trail.js';
import type { Verdict } from './verify.js';
import { tileBytes } from './tiles.js';
import { Broken } from './workers/verify-worker.js';

export interface AuditRouteDeps {
  readonly store: AuditStore;
  readonly verify: () => Promise<Verdict>;
  readonly clock: Pick<ExtensionContext['clock'], 'mono'>;
}

const route = routeGroup({ area: 'audit' });
const Hash = Type.String({ description: '64 hex digits' });

const AuditEntry = Type.Object(
  {
    id: Type.Integer({ description: 'From 1, without gaps' }),
    timestamp: Type.String(),
    event_type: Type.String({ description: 'What it was done to, then what was done: `agent_spawned`' }),
    summary: Type.String({ description: 'The entry as a sentence, such as `alice created a schedule`' }),
    agent_id: Type.String({ description: '`system` where no agent is concerned' }),
    details: Type.String({ description: 'JSON, as it was hashed; `personal` in it is the salted hash of the personal details' }),
    hash: Hash,
    prev_hash: Hash,
    outcome: Type.String({ description: '`requested` before an act, then `ok`, `refused` or `failed`' }),
    actor: Nullable(Type.String(), { description: 'Who acted; null once it was erased' }),
    personal: Nullable(Type.Record(Type.String(), Type.Unknown()), { description: 'What may be erased: actor, address, arguments; null once it was' }),
    state: OneOf(['whole', 'erased', 'altered'], { description: '`altered`: the personal details are not those that were hashed' }),
  },
  { 'x-name': 'AuditEntry' },
);

const LIMIT = { default: 50, max: 500 };
const Recent = defineList({
  item: AuditEntry,
  as: ['entries', 'items'],
  name: 'AuditEntryList',
  limit: LIMIT,
  searches: 'the type and the personal details',
  filters: { event_type: Type.String({ maxLength: 64 }), agent_id: Type.String({ maxLength: 64 }), n: Type.Integer({ minimum: 1, description: 'The same as `limit`' }) },
});

const Verification = Type.Object(
  {
    status: OneOf(['valid', 'invalid']),
    chain_length: Type.Integer(),
    first_entry: Nullable(Type.String(), { description: 'Time of the oldest entry that is stored' }),
    last_entry: Nullable(Type.String(), { description: 'Time of the newest entry' }),
    broken: Type.Array(Broken, { description: 'The first 100 entries that are not what was written' }),
    problems: Type.Array(Type.String(), { description: 'What is wrong with the log as a whole' }),
    checkpoints: Type.Integer({ description: 'Signed checkpoints that were compared' }),
    covered: Type.Integer({ description: 'Entries that the newest signed checkpoint covers' }),
    trimmed: Type.Integer({ description: 'Old entries of which only the hashes are stored' }),
    took_ms: Type.Integer(),
  },
  { 'x-name': 'AuditVerification' },
);

const Proof = Type.Object({ size: Type.Integer(), proof: Type.Array(Type.String({ description: 'Base64' })) }, { 'x-name': 'AuditProof' });
const Size = Type.Integer({ minimum: 1, maximum: 1e15, examples: [42] });
const OCTETS = 'application/octet-stream';

export const auditRoutes = ({ store, verify, clock }: AuditRouteDeps): RouteDecl[] => [
  route({
    id: 'listAuditEntries',
    method: 'GET',
    path: '/api/audit/recent',
    summary: 'List audit entries',
    description:
      'Newest first. Owners and admins see all entries; others see those about themselves and their agents. Without filters, `total` is the length of the list; trimmed entries are not listed.',
    cost: 5,
    query: Recent.query,
    responses: { 200: Recent.answer },
    handler: async ({ actor, query }) => {
      const { event_type, agent_id, q, offset = 0, after } = query;
      const limit = Recent.limitOf({ limit: query.limit ?? query.n ?? LIMIT.default });
      return Recent.reply({ ...query, limit }, await recent(store, actor, { event_type, agent_id, q }, { limit, offset, after }));
    },
  }),
  route({
    id: 'verifyAudit',
    method: 'GET',
    path: '/api/audit/verify',
    summary: 'Verify the audit trail',
    description:
      'Hashes every entry and its personal details again, and compares the log with all signed checkpoints, those in the data folder included. Details that are missing must be explained by an entry about their erasure. A trail that is not what was written is answered with 200 and `invalid`.',
    permission: 'audit.admin',
    cost: 50,
    responses: { 200: Verification },
    handler: async ({ log }) => {
      const since = clock.mono();
      const verdict = await verify();
      const isValid = verdict.broken.length === 0 && verdict.problems.length === 0;
      if (!isValid) log.error('the audit trail is not what was written', { broken: verdict.broken.length, problems: verdict.problems });
      return reply(200, {
        status: isValid ? ('valid' as const) : ('invalid' as const),
        ...verdict,
        broken: [...verdict.broken],
        problems: [...verdict.problems],
        took_ms: Math.round(clock.mono() - since),
      });
    },
  }),
  route({
    id: 'exportAudit',
    method: 'GET',
    path: '/api/audit/export',
    summary: 'Export the audit trail',
    description: 'Everything as JSON lines: entries with the text that was hashed, and the signed checkpoints. `svc audit verify --file` verifies it on any machine.',
    permission: 'audit.admin',
    cost: 50,
    responses: { 200: { description: 'One JSON value a line', contentType: 'application/x-ndjson' } },
    handler: async () => stream(200, 'application/x-ndjson', inPieces(exportLines(store.reader)), { 'content-disposition': 'attachment; filename="svc-audit.jsonl"' }),
  }),
  ...logRoutes(store),
];

/** The log as C2SP tlog-tiles lays it out, for tools that know it. */
const logRoutes = (store: AuditStore): RouteDecl[] => [
  route({
    id: 'getAuditCheckpoint',
    method: 'GET',
    path: '/api/audit/log/checkpoint',
    summary: 'Get the newest signed checkpoint',
    description: 'A C2SP signed note: origin, number of entries and root of the Merkle tree. `x-audit-key` is the public key that verifies it.',
    permission: 'audit.admin',
    errors: [404],
    responses: { 200: { description: 'A signed note', contentType: 'text/plain; charset=utf-8' } },
    handler: async () => {
      const newest = await store.newestCheckpoint();
      if (!newest) throw auditErrors.no_checkpoint();
      return bytes(200, 'text/plain; charset=utf-8', newest.note, { 'x-audit-key': newest.public_key });
    },
  }),
  route({
    id: 'getAuditTile',
    method: 'GET',
    path: '/api/audit/log/tile/{*rest}',
    summary: 'Get a tile of the log',
    description: 'As C2SP tlog-tiles names them: `0/000`, `1/x001/234`, `0/001.p/44`, `entries/000`. Leaves are the hashes of entries.',
    permission: 'audit.admin',
    errors: [404],
    params: Type.Object({ rest: Type.String({ maxLength: 100, description: 'Level and number of the tile', examples: ['0/000'] }) }),
    responses: { 200: { description: 'Hashes of 32 bytes each, or entries behind their lengths', contentType: OCTETS } },
    handler: async ({ params }) => {
      const tile = await tileBytes(store, params.rest);
      if (!tile) throw auditErrors.tile_not_found(params.rest);
      return bytes(200, OCTETS, tile);
    },
  }),
  route({
    id: 'getAuditInclusionProof',
    method: 'GET',
    path: '/api/audit/log/proof/{id}',
    summary: 'Prove that an entry is in the log',
    description: 'An inclusion proof of RFC 6962 for the entry among the first `size` entries; by default those of the newest checkpoint.',
    permission: 'audit.admin',
    errors: [404],
    params: Type.Object({ id: Size }),
    query: Type.Object({ size: Type.Optional(Size) }),
    responses: { 200: Proof },
    handler: async ({ params, query }) => {
      const { id } = params;
      const size = await sizeOr(store, query.size);
      if (id > size) throw auditErrors.entry_not_found(id);
      const part = await treePart(store, size, tilesFor(size, [id - 1]));
      return reply(200, { size, proof: inclusionProof(part, id - 1).map(base64) });
    },
  }),
  route({
    id: 'getAuditConsistencyProof',
    method: 'GET',
    path: '/api/audit/log/consistency',
    summary: 'Prove that the log only grew',
    description: 'A consistency proof of RFC 6962 from the first `from` entries to the first `size`; by default those of the newest checkpoint.',
    permission: 'audit.admin',
    errors: [404],
    query: Type.Object({ from: Size, size: Type.Optional(Size) }),
    responses: { 200: Proof },
    handler: async ({ query }) => {
      const size = await sizeOr(store, query.size);
      if (query.from > size) throw auditErrors.bad_size(query.from, size);
      const part = await treePart(
        store,
        size,
        tilesFor(size, [query.from - 1, query.from]).filter((tile) => tile * TILE < size),
      );
      return reply(200, { size, proof: consistencyProof(part, query.from).map(base64) });
    },
  }),
];

const sizeOr = async (store: AuditStore, asked: number | undefined): Promise<number> => {
  const { id } = await store.tip();
  const size = asked ?? (await store.newestCheckpoint())?.size ?? id;
  if (size > id || size < 1) throw auditErrors.bad_size(asked ?? 1, id);
  return size;
};

const base64 = (value: Uint8Array): string => Buffer.from(value).toString('base64');

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}
