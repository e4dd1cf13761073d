/** Files that are put with a message: how clients name them, and what of them the message carries. */
import { type Actor, type OptionalHandle, Type } from '@svc/api';
import type { Part } from '@svc/ext-sessions/contract';
import type { Attachment, RunDraft, UploadsService } from './contract.js';
import { runErrors } from './errors.js';

export const MAX_ATTACHMENTS = 20;

/** As bodies and frames write it. What the client believes of the type is not asked: the upload's own is known. */
export const AttachmentBody = Type.Object(
  {
    file_id: Type.String({ minLength: 1, maxLength: 64, description: 'From the response to the upload' }),
    filename: Type.Optional(Type.String({ maxLength: 1_000, description: 'Its name in this message; by default, the name of the upload' })),
    content_type: Type.Optional(Type.String({ maxLength: 200, description: 'Ignored: the type is detected from the content' })),
  },
  { 'x-name': 'Attachment' },
);

export const attachmentsOf = (body: ReadonlyArray<{ file_id: string; filename?: string | undefined }> | undefined): Pick<RunDraft, 'attachments'> =>
  body === undefined || body.length === 0 ? {} : { attachments: body.map(({ file_id: fileId, filename }) => ({ fileId, ...(filename === undefined ? {} : { filename }) })) };

/** The attachments of a frame, or what is wrong with them. */
export function framedAttachments(value: unknown): RunDraft['attachments'] | string {
  if (!Array.isArray(value)) return 'The "attachments" of a message frame are a list of {"file_id": "…"}.';
  if (value.length > MAX_ATTACHMENTS) return `A message takes ${MAX_ATTACHMENTS} "attachments" at most.`;
  const found: Attachment[] = [];
  for (const one of value as readonly unknown[]) {
    const { file_id: fileId, filename } = typeof one === 'object' && one !== null ? (one as Record<string, unknown>) : {};
    if (typeof fileId !== 'string' || fileId === '') return 'Each of the "attachments" of a message frame needs "file_id", as the upload was answered with.';
    if (filename !== undefined && typeof filename !== 'string') return 'Each "filename" in "attachments" must be a string.';
    found.push({ fileId, ...(filename === undefined ? {} : { filename }) });
  }
  return found;
}

const usable = ({ value }: OptionalHandle<UploadsService>): UploadsService => {
  if (!value) throw runErrors.attachments_unsupported();
  return value;
};

/** Throws `upload_not_found` for one that the actor may not see. */
export async function bringPictures(uploads: OptionalHandle<UploadsService>, actor: Actor, { attachments = [] }: RunDraft): Promise<boolean> {
  const found = await usable(uploads).describe(
    actor,
    attachments.map(({ fileId }) => fileId),
  );
  return found.some(({ contentType }) => contentType.startsWith('image/'));
}

/** Where a message beside the conversation leaves nothing behind: no copy in the workspace either. */
export async function attachedParts(uploads: OptionalHandle<UploadsService>, actor: Actor, agentId: string, { attachments = [], ephemeral, incognito }: RunDraft): Promise<readonly Part[]> {
  return usable(uploads).attach(actor, attachments, ephemeral || incognito ? undefined : { agentId });
}
