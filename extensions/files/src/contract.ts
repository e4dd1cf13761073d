/** What files declares to other areas. Uploads, as messages carry them to a model, are a service that runs declares. */
import { Nullable, type Plain, Type, defineEvent } from '@svc/api';
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
