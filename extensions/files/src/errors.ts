import { defineErrors } from '@svc/api';

export const fileErrors = defineErrors('files', {
  outside_workspace: {
    status: 403,
    retry: false,
    message: (name: string) => `Path traversal denied: "${name.slice(0, 200)}" leads out of the workspace.`,
    hint: 'Names are relative to the workspace and hold no "..".',
  },
  not_found: { status: 404, retry: false, message: (name: string) => `The workspace has no file "${name.slice(0, 200)}".`, hint: 'GET /api/agents/{id}/files lists what is there.' },
  too_large: { status: 413, retry: false, message: (bytes: number, limit: number) => `The file has ${bytes} bytes; at most ${limit} are shown.`, hint: 'Read it where the daemon runs.' },
});
