/** An extension as it lies in the store: validated from data, loaded on demand. */
import type { ExtensionDefinition } from '@svc/api';
import type { Contributions, ExtensionOrigin, Manifest } from '@svc/api/internal';

export interface Installed {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly bundled: boolean;
  /** Names the build that made it, together with what it was compiled against; undefined for what came from elsewhere. */
  readonly build?: string;
  /** Its code runs in another process; what `load` gives speaks with it. */
  readonly isRemote?: boolean;
  /** Where it came from, and how far it is believed; undefined for what came with the daemon. */
  readonly origin?: ExtensionOrigin;
  readonly manifest: Manifest;
  readonly contributions: Contributions;
  /** Evaluates the code anew, so that two generations share nothing. */
  load(): Promise<ExtensionDefinition>;
}
