/** What auth declares to other areas: who somebody is, when no request of theirs is at hand, and keys that areas issue for people. */
import { Role, SealedWrites, type Service, Type, defineService, method } from '@svc/api';

const CredentialId = Type.String({ minLength: 3, maxLength: 100, description: 'Who acts by it: `device:<id>`' });

export const Auth = defineService('auth', '1.2.0', {
  /** The role of whoever owns these rows, by the keys of now; nothing for nobody we know (any more). */
  roleOf: method([Type.String({ description: 'Owner id' })], Type.Union([Role, Type.Undefined()])),
  /** Whether callers must show a key. */
  needsKey: method([], Type.Boolean()),
  /** Whether whoever calls is the owner: there is no key and no credential. */
  isOpen: method([], Type.Boolean()),
  /**
   * A key for something of this person that calls by itself. It acts on their rows by that name, with at most the role that they
   * have themselves at the time. Commit the writes with your own; the key is shown once.
   */
  issue: method([Type.Object({ name: CredentialId, personId: Type.String({ description: 'Owner id' }), role: Role })], Type.Object({ key: Type.String(), writes: SealedWrites })),
  /** What it holds open is validated again, on every daemon, when these writes are committed. So it is with `revoke`. */
  setRole: method([CredentialId, Role], SealedWrites),
  revoke: method([Type.Array(CredentialId)], SealedWrites),
  /** Role and last use, of those among these that are there. */
  issued: method([Type.Array(CredentialId)], Type.Record(Type.String(), Type.Object({ role: Role, seenAt: Type.Union([Type.String(), Type.Null()]) }))),
});
export type AuthService = Service<typeof Auth>;
