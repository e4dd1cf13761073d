/** Names of agents for the shell, soon or not at all. */
import type { Cli } from '../cli.js';
import { createDaemonClient } from '../daemon/daemon-client.js';

const WAIT_MS = 500;

export const agentNames = async ({ settings }: Cli): Promise<string[]> => {
  try {
    const daemon = createDaemonClient({ url: await settings.url(), apiKey: settings.apiKey });
    const { agents } = await daemon.call('listAgents', {}, { timeoutMs: WAIT_MS });
    // A name with a blank would be two words of a completion.
    return agents.map(({ name }) => name).filter((name) => /^[\w.-]+$/.test(name));
  } catch {
    return []; // whoever presses Tab asked for no error
  }
};
