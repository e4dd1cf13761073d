/** What auth offers to other areas: who somebody is, when no request of theirs is at hand. */
import type { Role } from '@svc/api';

export interface AuthService {
  /** The role of whoever owns these rows, by the keys of now; undefined for nobody we know (any more). */
  roleOf(ownerId: string): Promise<Role | undefined>;
}

declare module '@svc/api' {
  interface ServiceMap {
    auth: AuthService;
  }
}
