/** What every member of a context is built from. */
import type { Owner } from '@svc/core';
import type { PlatformParts } from '../platform-parts.js';
import type { Grants } from './grants-judge.js';

export interface Member {
  readonly parts: PlatformParts;
  readonly owner: Owner;
  readonly grants: Grants;
  /** Throws `daemon_extension_stopped` when the generation is gone. */
  readonly alive: () => void;
  /** Something threw where nobody waits. */
  readonly stray: (place: string, error: unknown) => void;
}
