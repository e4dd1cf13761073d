/** What the start reads of the kernel's own settings: where the daemon listens, and which database it uses. */
import { defineErrors } from '@svc/api';
import type { Home } from './home.js';
import { settingsOf } from './kernel-sections.js';

const startErrors = defineErrors('daemon', {
  storage_setting: {
    status: 400,
    retry: false,
    message: () => 'The section [storage] of config.toml is not valid, so the database is unknown.',
    hint: 'Fix it (svc doctor shows the line), or remove it to use the file in the data folder.',
  },
});

/** `[storage] url`. Throws rather than let another database be used than the one that was meant. */
export function databaseUrlOf(config: { get(section: string): unknown; closed(): readonly string[]; isFileRead(): boolean }): string | undefined {
  if (config.closed().includes('storage') && config.isFileRead()) throw startErrors.storage_setting();
  return settingsOf(config, 'storage').url;
}

/** Whether the settings still name the database that is used. What stands in for a file that cannot be read says nothing. */
export function isDatabaseKept(config: { get(section: string): unknown }, used: string | undefined): boolean {
  const { url } = settingsOf(config, 'storage');
  return url === used || url?.startsWith('sha256:') === true;
}

export function listenAddress(config: { get(section: string): unknown }, home: Home, port: number | undefined): { host: string; port: number } {
  const text = home.listen ?? settingsOf(config, 'api').listen_addr;
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: port ?? home.port ?? Number(text.slice(colon + 1)) };
}
