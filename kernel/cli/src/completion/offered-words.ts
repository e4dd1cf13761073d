/** What an area offers to the shell, soon or not at all. */
import { isTable } from '@svc/api';
import type { Completion } from '@svc/installer/commands';
import type { Cli } from '../cli.js';
import { createDaemonClient } from '../daemon/daemon-client.js';

const WAIT_MS = 500;

export const offeredWords = async ({ settings }: Cli, { operation, path, rows, value }: Completion): Promise<string[]> => {
  try {
    const daemon = createDaemonClient({ url: await settings.url(), apiKey: settings.apiKey, timeoutMs: WAIT_MS });
    const answer = await daemon.callOperation({ id: operation, method: 'GET', path, takesKey: false }, {});
    const list = rows === undefined ? answer : isTable(answer) ? answer[rows] : undefined;
    const words = Array.isArray(list) ? list.map((row: unknown) => (isTable(row) ? row[value] : row)) : [];
    // A name with a blank would be two words of a completion.
    return words.filter((word) => typeof word === 'string').filter((word) => /^[\w.-]+$/.test(word));
  } catch {
    return []; // whoever presses Tab asked for no error
  }
};
