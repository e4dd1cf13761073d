/** What every member of a context is built from. */
import type { Contributor } from '@svc/core';
import type { PlatformParts } from '../platform-parts.js';
import type { Grants } from './grants-policy.js';

export interface Member {
  readonly parts: PlatformParts;
  readonly owner: Contributor;
  readonly grants: Grants;
  /** Throws `daemon_extension_stopped` when the generation is gone. */
  readonly alive: () => void;
  /** Something threw where nobody waits. */
  readonly reportUnhandled: (place: string, error: unknown) => void;
}
