/** Workspaces for other areas: only those of agents that the actor may see. */
import type { AgentsService } from '@svc/ext-agents/contract';
import type { WorkspacesService } from '../contract.js';
import { typeOfName } from '../uploads/content-type.js';
import type { FilesService } from './service.js';

export const servedWorkspaces = (agents: Pick<AgentsService, 'get'>, files: Pick<FilesService, 'list' | 'read'>): WorkspacesService => ({
  list: async (actor, agentId) => {
    const { id } = await agents.get(actor, agentId);
    const { files: found, truncated } = await files.list(id);
    return { files: found.map(({ name, size_bytes, modified_at }) => ({ name, sizeBytes: size_bytes, contentType: typeOfName(name), modifiedAt: modified_at })), truncated };
  },
  read: async (actor, agentId, wanted) => {
    const { id } = await agents.get(actor, agentId);
    const { name, content, encoding } = await files.read(id, wanted);
    return encoding === 'base64' ? { name, contentType: typeOfName(name), encoding, content } : { name, contentType: 'text/plain', encoding: 'text', content };
  },
});
