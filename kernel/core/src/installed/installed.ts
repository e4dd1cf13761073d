/** An extension as it lies in the store: validated from data, loaded on demand. */
import type { ExtensionDefinition, PanelView } from '@svc/api';
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

/** With the files that it was installed as. */
export interface InstalledFiles extends Installed {
  /** Absolute path of each worker function's bundle. */
  readonly workers: Readonly<Record<string, string>>;
  /** Of an extension from elsewhere: the names of its migrations, known before its code runs. */
  readonly migrations?: readonly string[];
  /** Absolute path of the folder of its static files, which need not be there. */
  readonly assets?: string;
  /** What its panels are made of: the folder, and in it the files of each by its id. */
  readonly panels?: { readonly folder: string; readonly files: PanelFiles };
}

/** By the id of a panel. */
export type PanelFiles = Readonly<Record<string, Pick<PanelView, 'script' | 'style'>>>;
