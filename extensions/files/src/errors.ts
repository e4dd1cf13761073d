import { defineErrors } from '@svc/api';

const short = (name: string): string => name.slice(0, 200);

export const fileErrors = defineErrors('files', {
  outside_workspace: {
    status: 403,
    retry: false,
    message: (name: string) => `Path traversal denied: "${short(name)}" leads out of the workspace.`,
    hint: 'Use a name relative to the workspace, without "..".',
  },
  bad_name: {
    status: 400,
    retry: false,
    message: (name: string, why: string) => `No file can be named "${short(name)}": ${why}.`,
    hint: 'Use letters, digits, spaces, dots, hyphens and underscores, with "/" between folders.',
  },
  git_folder: {
    status: 403,
    retry: false,
    message: (name: string) => `"${short(name)}" is a git file that defines which programs git runs, so it cannot be written here.`,
    hint: 'Change it on the machine itself, or let an agent with the right capability change it with git.',
  },
  not_found: { status: 404, retry: false, message: (name: string) => `The workspace has no file "${short(name)}".`, hint: 'GET /api/agents/{id}/files lists what is there.' },
  not_a_file: { status: 400, retry: false, message: (name: string) => `"${short(name)}" is a folder, not a file.`, hint: 'Name a file in it: GET /api/agents/{id}/files lists them.' },
  too_large: {
    status: 413,
    retry: false,
    message: (bytes: number, limit: number) => `The file has ${bytes} bytes; at most ${limit} are shown as text.`,
    hint: 'Get its bytes with ?raw=1, or a part of them with Range.',
  },
  too_large_to_write: {
    status: 413,
    retry: false,
    message: (name: string, bytes: number, limit: number) => `"${short(name)}" would have ${bytes} bytes; at most ${limit} are written here.`,
    hint: 'POST /api/agents/{id}/upload takes larger files.',
  },
  bad_content: { status: 400, retry: false, message: () => 'The content is not valid base64.', hint: 'Send base64 with padding, or leave "encoding" out and send text.' },
  bin_full: {
    status: 413,
    retry: false,
    message: (name: string) => `"${short(name)}" was not deleted: with it, the uploads and deleted files of its owner would exceed their limit.`,
    hint: 'Erase it at once with erase=true, erase other deleted files (GET /api/uploads?deleted=only), or raise [uploads] max_owner_bytes in config.toml.',
  },
  already_there: {
    status: 409,
    retry: false,
    message: (name: string) => `The file cannot come back: "${short(name)}" exists now.`,
    hint: 'Restore it under another name, or delete what is there first.',
  },
  changed: {
    status: 409,
    retry: false,
    message: (name: string, now: string | undefined) => `"${short(name)}" does not match "expected": ${standing(now)}.`,
    hint: 'Read the file again, apply your change, and write with the new "rev".',
  },
  precondition_failed: {
    status: 412,
    retry: false,
    message: (name: string, now: string | undefined) => `"${short(name)}" does not match the request's condition: ${standing(now)}.`,
    hint: 'Read the file again, apply your change, and send the new ETag as If-Match.',
  },
});

const standing = (rev: string | undefined): string => (rev === undefined ? 'the file does not exist now' : `its rev is now ${rev}`);

export const uploadErrors = defineErrors('upload', {
  invalid_id: { status: 400, retry: false, message: (id: string) => `"${short(id)}" is not the id of an upload.`, hint: 'Use the file_id (a UUID) from the response to the upload.' },
  not_found: { status: 404, retry: false, message: (id: string) => `There is no upload ${short(id)}.`, hint: 'It may have been deleted. GET /api/uploads lists your uploads.' },
  too_large: {
    status: 413,
    retry: false,
    message: (limit: number) => `The file has more than ${limit} bytes, which is the limit of an upload.`,
    hint: 'Send a smaller file, or raise max_upload_size_bytes in config.toml.',
  },
  empty: { status: 400, retry: false, message: () => 'The file is empty.', hint: 'Send a file with at least one byte.' },
  type_unsupported: {
    status: 400,
    retry: false,
    message: (type: string) => `Files of the type "${type.slice(0, 100)}" are not taken.`,
    hint: 'Supported: images (png, jpeg, gif, webp), audio (mpeg, wav, ogg, mp4, webm, flac), video (mp4, webm), PDF, and text such as plain, markdown, csv, JSON, YAML, TOML, SQL and source code, in UTF-8 or UTF-16.',
  },
  type_mismatch: {
    status: 400,
    retry: false,
    message: (declared: string, found: string) => `The file was sent as ${declared}, but its bytes are ${found}.`,
    hint: 'Send the matching content type. Text must be UTF-8, or UTF-16 with a byte order mark.',
  },
  form_invalid: {
    status: 400,
    retry: false,
    message: (why: string) => `The form cannot be read: ${why}.`,
    hint: 'Send multipart/form-data with one file in the field "file", as curl -F file=@picture.png does.',
  },
  no_file: {
    status: 400,
    retry: false,
    message: () => 'The form has no file in the field "file".',
    hint: 'Send one file in the field "file", with a filename, as curl -F file=@picture.png does.',
  },
  one_file: { status: 400, retry: false, message: () => 'The form has more than one file.', hint: 'Send one file per request, in the field "file".' },
  quota_exceeded: {
    status: 413,
    retry: false,
    message: (limit: number) => `This owner's uploads would exceed ${limit} bytes in total.`,
    hint: 'Delete uploads that are not needed (GET /api/uploads, DELETE /api/uploads/{file_id}), or raise [uploads] max_owner_bytes in config.toml.',
  },
  interrupted: { status: 503, retry: true, message: () => 'The upload took too long and was cancelled.', hint: 'Send it again.' },
});
