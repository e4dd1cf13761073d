/** The workspace over HTTP: what an agent wrote, and what a person puts there. */
import { encodeText, Nullable, OneOf, type Req, reply, type RouteDecl, routeGroup, sendFile, type Static, Type, Uuid, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { FilesChanged } from '../contract.js';
import { fileErrors } from '../errors.js';
import { typeOfName } from '../uploads/content-type.js';
import { expectationsOf } from '../workspace/preconditions.js';
import type { FileBin } from '../workspace/file-bin.js';
import { type FilesService, MAX_FILES, MAX_WRITE_BYTES } from '../workspace/service.js';
import { headersOfBytes } from './shown-bytes.js';

const route = routeGroup({ area: 'files', errors: [404] });

/** As JSON each byte may take six letters. */
const MAX_WRITE_BODY_BYTES = 6 * MAX_WRITE_BYTES + 65_536;

const Id = UuidText('Agent id');
const FilePath = Type.Object({ id: Id, filename: Type.String({ description: 'Path in the workspace, with slashes or %2F', examples: ['notes/today.md'] }) });
const Rev = Type.String({ description: 'Identifies this version. Send it back as `expected`, or in quotes as If-Match' });

const WorkspaceFile = Type.Object(
  {
    name: Type.String({ description: 'Path from the workspace' }),
    exists: Type.Boolean(),
    size_bytes: Type.Integer(),
    kind: OneOf(['workspace', 'identity'], { description: '`identity`: describes the agent (SOUL.md, USER.md, …); its model reads it' }),
    modified_at: Type.String(),
    rev: Rev,
  },
  { 'x-name': 'WorkspaceFile' },
);

const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'base64'] as const;

const WorkspaceFileContent = Type.Object(
  {
    name: Type.String(),
    content: Type.String(),
    encoding: OneOf(ENCODINGS, { description: 'utf-16le and utf-16be where a byte order mark says so; base64 where the bytes are no text' }),
    size_bytes: Type.Integer(),
    modified_at: Type.String(),
    rev: Rev,
  },
  { 'x-name': 'WorkspaceFileContent' },
);

const FileWrite = Type.Object(
  {
    content: Type.String({ description: 'The whole file' }),
    encoding: Type.Optional(OneOf(ENCODINGS, { description: 'base64: `content` is the bytes in base64. Otherwise the encoding of the file, with a byte order mark in UTF-16; default utf-8' })),
    expected: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'The `rev` you read; null if the file must not exist. Otherwise the request is refused with 409' })),
  },
  { 'x-name': 'FileWrite' },
);

const FileRestore = Type.Object({ restore: UuidText('Id of a deleted file, as `GET /api/uploads?deleted=only` lists it') }, { 'x-name': 'FileRestore', additionalProperties: false });

export interface WorkspaceRouteDeps {
  readonly agents: AgentsService;
  readonly files: FilesService;
  readonly bin: FileBin;
  readonly notify: (change: FilesChanged) => void;
}

export const workspaceRoutes = (deps: WorkspaceRouteDeps): RouteDecl[] => [listFiles(deps), getFile(deps), putFile(deps), deleteFile(deps)];

const listFiles = ({ agents, files }: WorkspaceRouteDeps): RouteDecl =>
  route({
    id: 'listAgentFiles',
    method: 'GET',
    path: '/api/agents/{id}/files',
    summary: 'List files of a workspace',
    description: `Lists the files in the agent's folder and its subfolders by name: files that the agent wrote with its tools, files that people added, and copies of attachments (\`uploads/\`). An unused workspace gives an empty list. At most ${MAX_FILES.toLocaleString('en')} files and folders are read; \`truncated\` says whether there are more.`,
    cost: 2,
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ files: Type.Array(WorkspaceFile), total: Type.Integer({ description: 'How many are listed' }), truncated: Type.Boolean() }) },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const found = await files.list(agent.id);
      return reply(200, { ...found, total: found.files.length });
    },
  });

const getFile = ({ agents, files }: WorkspaceRouteDeps): RouteDecl =>
  route({
    id: 'getAgentFile',
    method: 'GET',
    path: '/api/agents/{id}/files/{*filename}',
    summary: 'Read a workspace file',
    description:
      'Returns the text of the file, or base64 if it is not text in UTF-8 or UTF-16, up to 4 MiB. With `?raw=1` or `Accept: application/octet-stream`, it returns the raw bytes, of any size, with an ETag and support for `Range`. Pictures and sound have a type by their name; everything else is a download.',
    cost: 2,
    params: FilePath,
    query: Type.Object({ raw: Type.Optional(OneOf(['1', '0', 'true', 'false'], { description: 'The bytes instead of JSON' })) }),
    errors: [403, 413, 416],
    responses: { 200: WorkspaceFileContent },
    streamed: { description: 'the bytes, if requested', contentType: 'application/octet-stream' },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      if (wantsBytes(req)) {
        const { dir, path } = await files.locate(agent.id, req.params.filename);
        const type = typeOfName(path);
        return sendFile(req, dir, path, type, headersOfBytes(type, path.split('/').at(-1) ?? path));
      }
      const file = await files.read(agent.id, req.params.filename);
      return reply(200, file, { etag: `"${file.rev}"` });
    },
  });

const wantsBytes = ({ query, headers }: Req<unknown, { raw?: string }>): boolean => {
  if (query.raw !== undefined) return query.raw === '1' || query.raw === 'true';
  const accept = headers.accept ?? '';
  return accept.includes('application/octet-stream') && !accept.includes('application/json');
};

const putFile = ({ agents, files, bin, notify }: WorkspaceRouteDeps): RouteDecl =>
  route({
    id: 'putAgentFile',
    method: 'PUT',
    path: '/api/agents/{id}/files/{*filename}',
    summary: 'Write a workspace file',
    description:
      "Replaces the whole file, or creates it with missing folders. Readers see the old text or the new one, never a part. At most 1 MiB, and 32,768 bytes for identity files: `SOUL.md`, `IDENTITY.md`, `USER.md`, `TOOLS.md`, `MEMORY.md`, `AGENTS.md` and `BOOTSTRAP.md`, at the top or in `.identity/`. The model reads these after the system prompt, from the next message on; the agent's tools cannot write them. So that two people do not overwrite each other, send what you read: `expected` in the body (409 if it changed), or the headers `If-Match` and `If-None-Match: *` (412). The agent does not wait for this: a write between your read and your write is detected, one at the same instant is not. Use uploads for larger files. `restore` brings a deleted file back, at this path, if no file is there.",
    audit: 'agent_file_written',
    params: FilePath,
    body: Type.Union([FileWrite, FileRestore]),
    examples: {
      'a text file': { content: '# Notes\n\nThe spare key is under the blue pot.\n' },
      'a change of the version that was read': { content: '# Notes\n\nThe spare key is gone.\n', expected: '15-mb3k9x2a' },
      'a small picture that is not there yet': { content: 'R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', encoding: 'base64', expected: null },
      'a deleted file': { restore: '0190a5c2-7c1e-4b7a-9d5e-3f1c2b4a6d80' },
    },
    maxBodyBytes: MAX_WRITE_BODY_BYTES,
    errors: [403, 409, 412, 413],
    responses: {
      200: Type.Object(
        { status: Type.Literal('ok'), name: Type.String(), size_bytes: Type.Integer(), rev: Rev, created: Type.Boolean({ description: 'False if it replaced a file' }) },
        { 'x-name': 'FileWritten' },
      ),
    },
    handler: async (req) => {
      const { actor, body, headers, params } = req;
      const agent = await agents.get(actor, params.id);
      const written =
        'content' in body
          ? await files.write(agent.id, params.filename, bytesOf(body), expectationsOf({ headers, expected: body.expected }))
          : await bin.restore(actor, agent.id, params.filename, body.restore);
      notify({ agentId: agent.id, ownerId: agent.ownerId });
      return reply(200, written, { etag: `"${written.rev}"` });
    },
  });

const bytesOf = ({ content, encoding = 'utf-8' }: Static<typeof FileWrite>): Uint8Array => {
  if (encoding !== 'base64') return encodeText(content, encoding);
  const bytes = Buffer.from(content, 'base64');
  // What is no base64 is skipped when it is decoded.
  if (bytes.toString('base64') !== content.replaceAll(/\s/g, '')) throw fileErrors.bad_content();
  return bytes;
};

const deleteFile = ({ agents, files, bin, notify }: WorkspaceRouteDeps): RouteDecl =>
  route({
    id: 'deleteAgentFile',
    method: 'DELETE',
    path: '/api/agents/{id}/files/{*filename}',
    summary: 'Delete a workspace file',
    description:
      'Deletes one file; folders stay. For `[trash] days` it can be restored: `GET /api/uploads?deleted=only` lists it, and `PUT` of this path with `restore` brings it back. Until then it counts as an upload of its owner; one that has no room is not deleted (413). With `erase=true` it is erased at once, and what was deleted before under this name stays in the bin. With `If-Match`, only if it is still the version you read (412 otherwise).',
    audit: 'agent_file_deleted',
    params: FilePath,
    query: Type.Object({ erase: Type.Optional(Type.Boolean({ default: false, description: 'So that nobody can restore it' })) }),
    errors: [403, 409, 412, 413],
    responses: {
      200: Type.Object(
        {
          status: Type.Literal('ok'),
          name: Type.String(),
          file_id: Nullable(Uuid, { description: 'Names it in the bin' }),
          restorable_until: Nullable(Type.String(), { description: 'null if it is erased' }),
        },
        { 'x-name': 'FileDeleted' },
      ),
    },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const copies = req.query.erase ? undefined : await bin.copies(req.actor, { ownerId: agent.ownerId, agentId: agent.id });
      const { copy, ...removed } = await files.remove(agent.id, req.params.filename, expectationsOf({ headers: req.headers }), copies);
      notify({ agentId: agent.id, ownerId: agent.ownerId });
      return reply(200, { ...removed, file_id: copy?.id ?? null, restorable_until: copy?.keep_until ?? null });
    },
  });
