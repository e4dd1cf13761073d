/** What auth declares to other areas: who somebody is, when no request of theirs is at hand. */
import { Role, Type, defineService, method } from '@svc/api';

export const Auth = defineService('auth', '1.1.0', {
  /** The role of whoever owns these rows, by the keys of now; nothing for nobody we know (any more). */
  roleOf: method([Type.String({ description: 'Owner id' })], Type.Union([Role, Type.Undefined()])),
  /** Whether the daemon has no key at all: whoever reaches it is the owner. */
  isOpen: method([], Type.Boolean()),
});
