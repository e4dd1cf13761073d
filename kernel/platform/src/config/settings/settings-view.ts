/** What areas with the grant `kernel:settings` see of config.toml. The kernel reads and writes the file; secrets stay on its side. */
import { stat } from 'node:fs/promises';
import type { SettingsView } from '@svc/api';
import { allClaims } from '../claims.js';
import type { Config } from '../config.js';
import { isWritable } from '../file/replace-file.js';
import type { SectionClaims } from '../kernel-sections.js';
import { formSchema, plainConfigSchema } from './config-document.js';
import { exportedSettings } from './config-export.js';
import type { Settings } from '../apply-settings.js';

export interface SettingsViewDeps {
  readonly config: Config;
  readonly claims: () => SectionClaims;
  readonly file: string;
  readonly settings: Settings;
  /** Tells the other daemons on the database. */
  share(path: string, value: unknown): Promise<void>;
  failed(error: unknown): void;
}

export const createSettingsView = ({ config, claims, file, settings, share, failed }: SettingsViewDeps): SettingsView => {
  const view: SettingsView = {
    read: () => config.shown(),
    file: async () => {
      const found = await stat(file).catch(() => undefined);
      return { file, exists: found !== undefined, writable: await isWritable(file), modifiedAt: found?.mtime.toISOString() ?? null, revision: config.revision() };
    },
    schema: ({ isPlain = false } = {}) => (isPlain ? plainConfigSchema(allClaims(claims())) : formSchema(allClaims(claims()))),
    exported: async () => exportedSettings((await config.shown()).settings),
    set: async (path, value, options = {}) => {
      const changed = await config.edit({ path, value, revision: options.revision, isConfirmed: options.isConfirmed === true });
      try {
        const applied = await settings.apply(`${changed} was changed`);
        await share(changed, value);
        return { path: changed, applied, failed: undefined };
      } catch (error) {
        failed(error);
        return { path: changed, applied: undefined, failed: error instanceof Error ? error.message : 'unknown cause' };
      }
    },
    reload: () => settings.apply('asked for over the API'),
    begin: async (first) => {
      if (!(await config.begin(first))) return false;
      await settings.apply('config.toml was begun');
      return true;
    },
  };
  return Object.freeze(view);
};
