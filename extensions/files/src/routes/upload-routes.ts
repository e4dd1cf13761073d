/** Uploads over HTTP: send a file, get it back, see what there is, delete it. */
import { defineList, OneOf, type Req, reply, type RouteDecl, routeGroup, sendFile, Type, Uuid, UuidText, isUuid } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { LARGEST_UPLOAD_BYTES } from '../config.js';
import type { FilesChanged } from '../contract.js';
import { uploadErrors } from '../errors.js';
import type { Received } from '../uploads/blobs.js';
import { FORM_BYTES, isForm, readForm } from '../uploads/form.js';
import type { UploadRow } from '../tables.js';
import { incomingOf, type UploadStore } from '../uploads/service.js';
import { headersOfBytes, typeHeader } from './shown-bytes.js';

const route = routeGroup({ area: 'files', errors: [400, 404] });

const FileId = Type.Object({ file_id: UuidText('Upload id') });

const Upload = Type.Object(
  {
    file_id: Uuid,
    filename: Type.String({ description: 'As sent, without folders and what no name should hold' }),
    content_type: Type.String({ description: 'What its bytes are' }),
    size: Type.Integer({ description: 'Bytes' }),
    agent_id: Type.Union([Uuid, Type.Null()], { description: 'The agent it was sent to. It is deleted with the agent' }),
    created_at: Type.String(),
    path: Type.Optional(Type.String({ description: 'Set for deleted files: its path in the workspace' })),
    deleted_at: Type.Optional(Type.String({ description: 'Set for deleted files' })),
    restorable_until: Type.Optional(Type.String({ description: 'Set for deleted files: when it is erased' })),
  },
  { 'x-name': 'Upload' },
);

const UploadList = defineList({
  item: Upload,
  as: ['rows'],
  sort: ['created_at', 'filename', 'size'],
  filters: {
    agent_id: { ...Uuid, description: 'Only those that were sent to this agent' },
    deleted: OneOf(['no', 'only'], { description: '`only`: files that were deleted from workspaces and can be restored, instead of uploads. Default no' }),
  },
  searches: 'file names',
});

const Bytes = Type.String({ format: 'binary' });
const UploadForm = Type.Object({ file: Type.String({ format: 'binary', description: 'The file' }) }, { 'x-name': 'UploadForm' });

const viewOf = ({ id, filename, content_type, size_bytes, agent_id, created_at, path, keep_until }: UploadRow) => ({
  file_id: id,
  filename,
  content_type,
  size: size_bytes,
  agent_id,
  created_at,
  ...(path === null || keep_until === null ? {} : { path, deleted_at: created_at, restorable_until: keep_until }),
});

export const uploadRoutes = (agents: AgentsService, uploads: UploadStore, notify: (change: FilesChanged) => void): RouteDecl[] => [
  uploadFile(agents, uploads, notify),
  listUploads(uploads),
  getUpload(uploads),
  deleteUpload(uploads, notify),
];

const uploadFile = (agents: AgentsService, uploads: UploadStore, notify: (change: FilesChanged) => void): RouteDecl =>
  route({
    id: 'uploadFile',
    method: 'POST',
    path: '/api/agents/{id}/upload',
    summary: 'Upload a file',
    description: [
      'Send one file, as a form (`multipart/form-data`, field `file`: `curl -F file=@picture.png …`) or as the raw body with its `Content-Type` and its name in `X-Filename` (percent-encoded if it is not ASCII).',
      'The answer’s `file_id` goes into `attachments` of a message to any agent that you may talk to; the bytes are at `GET /api/uploads/{file_id}`.',
      'Supported are images (png, jpeg, gif, webp), audio (mpeg, wav, ogg, mp4, webm, flac), video (mp4, webm), PDF, and text in UTF-8, or in UTF-16 with a byte order mark (`text/*` but HTML and XML; JSON, notebooks, XML, YAML, TOML, SQL, GraphQL, JavaScript, TypeScript as `application/*`). The content is checked: a file that does not match its type is refused, and so is an empty one. At most `max_upload_size_bytes` (10 MiB by default), and `[uploads] max_owner_bytes` for all uploads of one owner. Identical files are stored once. Uploads are deleted with their agent.',
    ].join('\n\n'),
    cost: 10,
    audit: 'file_uploaded',
    params: Type.Object({ id: UuidText('Agent id') }),
    streamBody: true,
    takes: { 'multipart/form-data': UploadForm, '*/*': Bytes },
    maxBodyBytes: LARGEST_UPLOAD_BYTES + FORM_BYTES,
    errors: [408, 413, 503],
    responses: { 200: Upload },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      assertAnnounced(req, uploads.maxBytes());
      await uploads.assertRoom(agent.ownerId);
      const { name, received } = await receive(req, uploads);
      // It may have been killed while the bytes came: what is kept for it now would stay for ever.
      await agents.get(req.actor, agent.id).catch(async (gone: unknown) => {
        await uploads.drop(received);
        throw gone;
      });
      const kept = await uploads.keep({ ownerId: agent.ownerId, agentId: agent.id }, name, received);
      notify({ agentId: agent.id, ownerId: agent.ownerId });
      return reply(200, viewOf(kept));
    },
  });

/** Refused before its first byte is read. */
const assertAnnounced = ({ headers }: Req, maxBytes: number): void => {
  const room = maxBytes + (isForm(headers['content-type']) ? FORM_BYTES : 0);
  if (Number(headers['content-length'] ?? 0) > room) throw uploadErrors.too_large(maxBytes);
};

const receive = async ({ headers, stream }: Req, uploads: UploadStore): Promise<{ name: string; received: Received }> => {
  const type = headers['content-type'];
  if (!isForm(type)) {
    const incoming = incomingOf(headers, stream);
    return { name: incoming.name, received: await uploads.receive(incoming) };
  }
  return readForm(stream, type, {
    take: async (file) => ({ name: file.name, received: await uploads.receive(file) }),
    drop: ({ received }) => uploads.drop(received),
  });
};

const listUploads = (uploads: UploadStore): RouteDecl =>
  route({
    id: 'listUploads',
    method: 'GET',
    path: '/api/uploads',
    summary: 'List uploads, newest first',
    description:
      "Owners and admins see everyone's uploads. With `deleted=only` it lists deleted files of workspaces: `PUT /api/agents/{id}/files/{filename}` with `restore` brings one back, and `DELETE /api/uploads/{file_id}` erases it.",
    cost: 2,
    query: UploadList.query,
    responses: { 200: UploadList.answer },
    handler: async ({ actor, query }) => {
      const found = await uploads.page(actor, UploadList, query);
      return UploadList.reply(query, { ...found, rows: found.rows.map(viewOf) });
    },
  });

const getUpload = (uploads: UploadStore): RouteDecl =>
  route({
    id: 'getUpload',
    method: 'GET',
    path: '/api/uploads/{file_id}',
    summary: 'Download an upload',
    description:
      'Returns the bytes as sent, with the detected type (scripts and styles as plain text). Supports ETag (`If-None-Match` gives 304) and `Range`. Images, audio and video can be shown inline; everything else is a download. Callers without access get 404.',
    cost: 2,
    params: FileId,
    errors: [416],
    responses: { 200: { description: 'The bytes', contentType: 'application/octet-stream' }, 206: { description: 'The requested range', contentType: 'application/octet-stream' } },
    handler: async (req) => {
      const upload = await uploads.get(req.actor, checkedId(req.params.file_id));
      const { dir, path } = await uploads.bytesOf(upload);
      return sendFile(req, dir, path, typeHeader(upload.content_type), headersOfBytes(upload.content_type, upload.filename));
    },
  });

const deleteUpload = (uploads: UploadStore, notify: (change: FilesChanged) => void): RouteDecl =>
  route({
    id: 'deleteUpload',
    method: 'DELETE',
    path: '/api/uploads/{file_id}',
    summary: 'Delete an upload',
    description:
      'Deletes the upload, and its bytes if no other upload has the same. A deleted file of a workspace is erased, so that nobody can restore it. Messages with this attachment stay, including text read from it; images are replaced by a note. Copies in workspaces stay.',
    audit: 'upload_deleted',
    params: FileId,
    responses: { 200: Type.Object({ status: Type.Literal('deleted'), file_id: Uuid }) },
    handler: async ({ actor, params }) => {
      const { id, agent_id: agentId, owner_id: ownerId } = await uploads.remove(actor, checkedId(params.file_id));
      notify({ agentId, ownerId });
      return reply(200, { status: 'deleted', file_id: id });
    },
  });

const checkedId = (id: string): string => {
  if (!isUuid(id)) throw uploadErrors.invalid_id(id);
  return id;
};
