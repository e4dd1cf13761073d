/** What runs needs of whoever holds uploads: it declares the service, and an area that knows runs provides it. */
import { Actor, type Plain, type Service, Type, defineService, method } from '@svc/api';
import { Part } from '@svc/ext-sessions/contract';

const Id = Type.String();

/** A file that somebody puts with a message. */
export const Attachment = Type.Object({
  fileId: Type.String({ description: 'Of an upload' }),
  filename: Type.Optional(Type.String({ description: 'Its name in this message; by default, its own name' })),
});
export type Attachment = Plain<typeof Attachment>;

const Upload = Type.Object({ id: Id, filename: Type.String(), contentType: Type.String(), sizeBytes: Type.Integer() });

export const Uploads = defineService('uploads', '1.2.0', {
  /** Throws `upload_not_found` for the first that the actor may not see, or that is not there. */
  describe: method([Actor, Type.Array(Id)], Type.Array(Upload), { what: 'reads the names and pictures of your uploads' }),
  /**
   * What a message says of its attachments: the text of documents, and pictures by reference, each with `file`.
   * `agentId` names the workspace that gets copies; left out, there are none. Throws `upload_not_found`.
   */
  attach: method([Actor, Type.Array(Attachment), Type.Optional(Type.Object({ agentId: Id }))], Type.Array(Part)),
  /** Stores a file that did not come by a request: what a tool gave. Its type is found in the bytes. Throws what an upload throws. */
  create: method([Actor, Type.Object({ agentId: Type.Optional(Id), filename: Type.String(), contentType: Type.Optional(Type.String()), data: Type.String({ description: 'Base64' }) })], Upload),
  /** A picture in base64, for the request that shows it to a model; undefined when it is gone, or too large for any. */
  picture: method([Actor, Id], Type.Union([Type.String(), Type.Undefined()]), { what: 'reads the names and pictures of your uploads' }),
  /** A file with its bytes in base64; undefined when it is gone, or larger than so many bytes. */
  read: method(
    [Actor, Id, Type.Integer({ description: 'How many bytes at most' })],
    Type.Union([Type.Object({ ...Upload.properties, data: Type.String({ description: 'Base64' }) }), Type.Undefined()]),
    { what: 'reads your uploads' },
  ),
});
export type UploadsService = Service<typeof Uploads>;
