/** What files declares to other areas. Uploads, as messages carry them to a model, are a service that runs declares. */
import { Actor, Nullable, OneOf, type Plain, type Service, Type, defineEvent, defineService, method } from '@svc/api';
export { BlobRows, OrphanRows, UploadRows } from './tables.js';
export { MaxUploadSetting, UploadsSection } from './config.js';

/** A person changed a workspace, or the uploads of an owner. What agents write with their tools is told by the events of their runs. */
export const FilesChanged = defineEvent('files.changed', '1.0.0', Type.Object({ agentId: Nullable(Type.String()), ownerId: Type.String() }), {
  what: 'files',
  permission: 'files.read',
  owner: 'ownerId',
  agent: 'agentId',
});
export type FilesChanged = Plain<(typeof FilesChanged)['data']>;

const WorkspaceEntry = Type.Object({
  name: Type.String({ description: 'Path from the workspace, with slashes' }),
  sizeBytes: Type.Integer(),
  contentType: Type.String({ description: 'By its name' }),
  modifiedAt: Type.String(),
});

/** Files of agents, for areas that show them to people. Both throw `agent_not_found` for an agent that the actor may not see. */
export const Workspaces = defineService('workspaces', '1.0.0', {
  /** By name; at most 1,000. */
  list: method([Actor, Type.String()], Type.Object({ files: Type.Array(WorkspaceEntry), truncated: Type.Boolean({ description: 'There are more' }) }), { what: 'sees which files your agents have' }),
  /** Up to 4 MiB. Throws `files_outside_workspace`, `files_not_found`, `files_not_a_file`, `files_too_large`. */
  read: method([Actor, Type.String(), Type.String()], Type.Object({ name: Type.String(), contentType: Type.String(), encoding: OneOf(['text', 'base64']), content: Type.String() }), {
    what: 'reads the files of your agents',
  }),
});
export type WorkspacesService = Service<typeof Workspaces>;
