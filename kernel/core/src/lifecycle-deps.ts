/** What the lifecycle asks of whoever runs it. */
import type { ExtensionProcess, ExtensionStorage } from '@svc/api/internal';
import type { GenerationDeps } from './generation.js';
import type { StrikeRegistry } from './hooks/strike-registry.js';
import type { KernelNames } from './installed/claims.js';
import type { Installed } from './installed/installed.js';
import type { IntentSources } from './installed/intent.js';
import type { Trials } from './installed/trials.js';
import type { State } from './lifecycle-unit.js';

export interface LifecycleDeps extends GenerationDeps {
  readonly apiVersion: string;
  /** What the kernel keeps for itself. */
  readonly names?: KernelNames;
  readonly strikes: StrikeRegistry;
  intents(): IntentSources;
  /** Versions that take the place of others. */
  readonly trials?: Trials;
  /** A person's wish is tried; the returned function is called when it is known what came of it. A daemon that ends before leaves it off, and says so. */
  attempt?(id: string): Promise<() => Promise<void>>;
  /** Stores a person's choice; undefined drops it. */
  choose(id: string, enabled: boolean | undefined): Promise<void>;
  /** False while the config value the manifest's `when` points at is falsy. */
  wanted(installed: Installed): boolean;
  /** What lies on disk now for this extension; undefined when it is what runs. A reload asks. */
  latest?(id: string): Promise<Installed | undefined>;
  /** The store holds another one for this id: whoever derived settings from it looks again. Before its code runs. */
  adopted?(id: string): Promise<void>;
  /** The process in which its code runs; undefined for code of this one. */
  processOf?(id: string): ExtensionProcess | undefined;
  /** What a third-party extension has stored. */
  storedBy?(id: string): ExtensionStorage | undefined;
  /** A person wants it tried anew: what went wrong before counts no more. */
  forgiven?(id: string): void;
  clock: { now(): number; iso(): string };
  log: { info(message: string, fields?: Record<string, unknown>): void; warn(message: string, fields?: Record<string, unknown>): void; error(message: string, fields?: Record<string, unknown>): void };
  changed(id: string, state: State): void;
  /** Runs `fn` once after `ms`; the returned function cancels it. */
  later(ms: number, fn: () => void): () => void;
}
