/** Access to config.toml with the grant `kernel:settings`. It never includes the values of secrets. */

export interface SettingShown {
  /** Dotted, as `/api/config/set` takes it. */
  readonly path: string;
  /** Its names one by one; those of tables with free names may have dots in them. */
  readonly keys: readonly string[];
  /** Null where it has none; `***` or `not set` of a secret; `{count, names}` of a list that holds secrets. */
  readonly value: unknown;
  /** `kept`: an earlier value, because what the file says now does not hold. */
  readonly source: 'default' | 'file' | 'environment' | 'kept';
  /** The variable that holds it. */
  readonly variable: string | null;
  /** Of the file; one-based. */
  readonly line: number | null;
  /** Why a person changes it in the file and no program does; null where programs may. */
  readonly by_hand: string | null;
  /** Whether a changed value applies after a restart. */
  readonly restart: boolean;
  /** The extension that reads it, or `kernel`. */
  readonly owner: string;
}

export interface SettingsShown {
  readonly settings: readonly SettingShown[];
  /** The same as one tree, section by section; older names are at its top level. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** Changes with every change of the file and after a restart. Reveals nothing about the content. */
  readonly revision: string;
}

export interface SettingsFile {
  readonly file: string;
  readonly exists: boolean;
  /** False where nobody may write it: its mode says so. */
  readonly writable: boolean;
  readonly modifiedAt: string | null;
  readonly revision: string;
}

/** What became of a change. */
export interface SettingsApplied {
  /** Settings whose value is another one now. */
  readonly changed: readonly string[];
  /** Of these, those of areas that are off: nobody reads them until then. */
  readonly unread: readonly string[];
  /** Settings of which another value waits for the next start. */
  readonly restart: readonly string[];
  /** What in the file does not hold, one sentence each. */
  readonly problems: readonly string[];
  /** Why the file could not be read at all: then nothing of it holds, and the former values stay. */
  readonly unreadable: string | null;
}

export interface SettingChanged {
  readonly path: string;
  readonly applied: SettingsApplied | undefined;
  readonly failed: string | undefined;
}

export interface SettingsView {
  read(): Promise<SettingsShown>;
  file(): Promise<SettingsFile>;
  /** One JSON Schema of the whole file, with `x-sections`, `x-ui-options` and `x-non-writable`; `isPlain` without any key of ours. */
  schema(options?: { readonly isPlain?: boolean }): Readonly<Record<string, unknown>>;
  /** All effective settings as a file. Secrets are left out. */
  exported(): Promise<string>;
  /**
   * Changes one setting in the file, in place, and applies it; null takes it out. `revision`: of what the caller had read.
   * Rejects before anything is written with the errors `config_*`. What fails after that is in `failed`.
   * `isConfirmed`: the owner has just agreed to it, so a switch that is `x-owner-turns-on` may be turned on.
   * Answers with the setting's own path, where an older spelling was given.
   */
  set(path: string, value: unknown, options?: { readonly revision?: string | undefined; readonly isConfirmed?: boolean }): Promise<SettingChanged>;
  reload(): Promise<SettingsApplied>;
  /** Writes the first config.toml, with these settings by path. False, and nothing written, where there is one. */
  begin(settings: Readonly<Record<string, unknown>>): Promise<boolean>;
}
