/** What a start is given, and what it gives: the daemon as its program and tests see it. */
import type * as api from '@svc/api';
import type { CodeCache, InstalledFiles, InstalledStore, Lifecycle, ServiceRegistry } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Home } from '@svc/platform/config/home';
import type { Log } from '@svc/platform/log/log';
import type { ContextParts } from '@svc/context';
import type { PartFactories } from './part-factories.js';
import type { RestorePlan } from '@svc/platform/backup/restore-swap';
import type { BackupHome } from '../backup/home-backup.js';
import type { ThirdParty } from '@svc/third-party';

export interface BootOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that runs. */
  readonly releaseFile: string;
  /** What was compiled at an earlier start; without one, all is compiled anew. */
  readonly code?: CodeCache | undefined;
  /** Lines on the terminal as well as in the file. */
  readonly foreground: boolean;
  readonly logTerminal?: boolean;
  readonly clock?: TimerClock;
  readonly ids?: api.Ids;
  /** Extensions beside the release's. */
  readonly extra?: readonly InstalledFiles[];
  /** Extensions of others, beside those that the home holds. */
  readonly thirdParties?: readonly ThirdParty[];
  readonly factories?: Partial<PartFactories>;
  /** Hold replies to their schemas. */
  readonly checkReplies?: boolean;
  /** Port 0 lets the system choose. */
  readonly port?: number;
  /** How long a stop lets extensions finish what they hold; default 10 s. */
  readonly stopDrainMs?: number;
  /** Aborted when somebody asks it to stop while it starts: what is starting is given up. */
  readonly asked?: AbortSignal;
  /** The data of the home was replaced by a backup: the start confirms that, or fails. */
  readonly isRestored?: boolean;
  /** Only shows whether the home starts: work that was interrupted stays so, requests are answered with 503, and nothing is sent. */
  readonly isTrial?: boolean;
  /** Called when a backup was unpacked: stops this daemon, and starts it with that (backup/restore-daemon.ts). */
  readonly onRestore?: (plan: RestorePlan, home: BackupHome) => void;
  /** Called once when somebody asked the daemon to stop. */
  readonly onShutdown?: (reason: string) => void;
}

export interface Daemon {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly home: Home;
  readonly kernel: api.KernelView;
  readonly lifecycle: Lifecycle;
  readonly services: ServiceRegistry;
  readonly log: Log;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly parts: ContextParts;
  /** Lines that areas have for whoever starts the daemon. */
  greeting(): Promise<api.GreetingLine[]>;
  /** Takes an unhandled error; false when no extension's code was running. */
  caught(error: unknown): boolean;
  /** The extension whose code was entered last. */
  lastEntered(): string | undefined;
  /** Reads config.toml again; `why` is for the log. */
  reloadConfig(why?: string): Promise<void>;
  stop(reason: string): Promise<void>;
}
