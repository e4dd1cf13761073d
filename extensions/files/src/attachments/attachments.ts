/**
 * What a message says of the files that were put with it.
 *
 * T1  A picture is named and not copied: the conversation keeps a reference, and whoever asks a model reads it then.
 * T2  Text stands in the message as it was when it was sent, bounded; the rest is where the message says.
 * T3  The copy in the workspace has a name that is always the same, and its own: a message that is sent again makes no second one, and two files of one name are two.
 */
import { type Actor, type Dir, type DirEntry, isSvcError } from '@svc/api';
import type { Attachment, UploadsService } from '@svc/ext-runs/contract';
import type { Part } from '@svc/ext-sessions/contract';
import { isPicture, isText } from '../uploads/content-type.js';
import type { UploadRow } from '../tables.js';
import type { UploadStore } from '../uploads/service.js';
import { displayName } from '../workspace/names.js';
import { MAX_TEXT_CHARS, type Place, pdfText, plainText, type TextDeps } from './document-text.js';

/** Of all documents of one message. */
const MAX_MESSAGE_CHARS = 400_000;
/** No provider takes larger pictures. */
const MAX_PICTURE_BYTES = 20_971_520;
/** Below each workspace. */
const FOLDER = 'uploads';
/** Earlier builds took the first eight digits. */
const PLACED = /^(?:[0-9a-f]{8}|[0-9a-f]{12})-./;
const MAX_PLACED = 10_000;

export interface AttachmentDeps extends TextDeps {
  readonly uploads: Pick<UploadStore, 'get' | 'find' | 'bytesOf' | 'assertRoom' | 'receive' | 'keep'>;
  readonly workspaces: Dir;
}

export const createAttachments = (deps: AttachmentDeps): UploadsService => ({
  describe: async (actor, ids) => {
    const rows = [];
    for (const id of ids) rows.push(await deps.uploads.get(actor, id));
    return rows.map(described);
  },
  create: (actor, file) => create(deps, actor, file),
  attach: (actor, attachments, workspace) => attach(deps, actor, attachments, workspace?.agentId),
  picture: (actor, id) => picture(deps, actor, id),
  read: (actor, id, maxBytes) => read(deps, actor, id, maxBytes),
});

/** Copies that messages left in an agent's workspace. What the agent itself put beside them stays. */
export const removePlaced = async (workspaces: Dir, agentId: string): Promise<void> => {
  const folder = `${agentId}/${FOLDER}`;
  if ((await kindOf(workspaces, folder)) !== 'dir') return;
  const placed = await workspaces.list(folder, { limit: MAX_PLACED });
  for (const { name, kind } of placed) if (kind === 'file' && PLACED.test(name)) await workspaces.remove(`${folder}/${name}`);
};

/** Where the agent put a link in the folder's place, nothing of messages is there. */
const kindOf = async (workspaces: Dir, path: string): Promise<DirEntry['kind'] | undefined> => {
  try {
    return (await workspaces.stat(path))?.kind;
  } catch (error) {
    if (isSvcError(error) && error.status < 500) return undefined;
    throw error;
  }
};

interface Attached {
  readonly upload: UploadRow;
  readonly name: string;
  readonly place: Place;
}

const attach = async (deps: AttachmentDeps, actor: Actor, attachments: readonly Attachment[], agentId: string | undefined): Promise<Part[]> => {
  // All are looked for before anything is done with the first.
  const found: Attached[] = [];
  for (const { fileId, filename } of attachments) {
    const upload = await deps.uploads.get(actor, fileId);
    found.push({ upload, name: displayName(filename ?? '', upload.filename), place: await deps.uploads.bytesOf(upload) });
  }
  const parts: Part[] = [];
  let room = MAX_MESSAGE_CHARS;
  for (const one of found) {
    const where = agentId === undefined ? '' : `\n[${await placed(deps, agentId, one)}]`;
    const said = await partsOf(deps, one, where, Math.min(room, MAX_TEXT_CHARS));
    for (const part of said) if (part.type === 'text') room = Math.max(0, room - part.text.length);
    parts.push(...said);
  }
  return parts;
};

const partsOf = async (deps: AttachmentDeps, { upload, name, place }: Attached, where: string, maxChars: number): Promise<Part[]> => {
  const { id, content_type: contentType, size_bytes: sizeBytes } = upload;
  const file = { id, name, contentType, sizeBytes };
  const size = `${sizeBytes.toLocaleString('en')} bytes`;
  const text = (head: string, content: string): Part => ({ type: 'text', text: `${head}${where}${content === '' ? '' : `\n${content}`}`, file });
  if (isPicture(contentType)) return [{ type: 'image', mediaType: contentType, data: '', file }, text(`[Attached image: ${name} (${size})]`, '')];
  if (contentType === 'application/pdf') return [text(`[Attached PDF: ${name} (${size})]`, await pdfText(deps, upload, place, maxChars))];
  if (isText(contentType)) return [text(`[Attached file: ${name} (${size})]`, await plainText(upload, place, maxChars))];
  return [text(`[Attached file: ${name} (${contentType}, ${size}); its content is not shown here]`, '')];
};

/** Where the agent's tools find it. A workspace that takes no copy costs the message nothing but that line. */
const placed = async ({ workspaces, log }: AttachmentDeps, agentId: string, { upload, name, place }: Attached): Promise<string> => {
  // The digits that are random: an id begins with its time, which uploads of one minute share.
  const path = `${FOLDER}/${upload.id.slice(-12)}-${name}`;
  const dir = workspaces.dir(agentId);
  try {
    const there = (await workspaces.stat(agentId)) ? await dir.stat(path) : undefined;
    if (there?.kind !== 'file' || there.sizeBytes !== upload.size_bytes) await dir.writeStream(path, place.dir.readStream(place.path), { maxBytes: upload.size_bytes });
    return `in your workspace: ${path}`;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    log.warn('an attachment could not be copied into the workspace', { agent: agentId, upload: upload.id, cause: error });
    return 'it could not be copied into your workspace';
  }
};

const described = ({ id, filename, content_type, size_bytes }: UploadRow) => ({ id, filename, contentType: content_type, sizeBytes: size_bytes });

const create = async ({ uploads }: AttachmentDeps, { ownerId }: Actor, { agentId, filename, contentType, data }: Parameters<UploadsService['create']>[1]): ReturnType<UploadsService['create']> => {
  await uploads.assertRoom(ownerId);
  const bytes = Buffer.from(data, 'base64');
  const received = await uploads.receive({ name: filename, declared: contentType, bytes: once(bytes) });
  return described(await uploads.keep({ ownerId, agentId: agentId ?? null }, filename, received));
};

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const picture = async ({ uploads }: AttachmentDeps, actor: Actor, id: string): Promise<string | undefined> => {
  const upload = await uploads.find(actor, id);
  return upload && isPicture(upload.content_type) ? bytesIn64(uploads, upload, MAX_PICTURE_BYTES) : undefined;
};

const read = async ({ uploads }: AttachmentDeps, actor: Actor, id: string, maxBytes: number): ReturnType<UploadsService['read']> => {
  const upload = await uploads.find(actor, id);
  const data = upload && (await bytesIn64(uploads, upload, maxBytes));
  return upload && data !== undefined ? { ...described(upload), data } : undefined;
};

const bytesIn64 = async (uploads: Pick<UploadStore, 'bytesOf'>, upload: UploadRow, maxBytes: number): Promise<string | undefined> => {
  if (upload.size_bytes > maxBytes) return undefined;
  try {
    const { dir, path } = await uploads.bytesOf(upload);
    return Buffer.from(await dir.read(path, { maxBytes })).toString('base64');
  } catch (error) {
    if (isSvcError(error) && (error.code === 'upload_not_found' || error.code === 'file_missing')) return undefined;
    throw error;
  }
};
