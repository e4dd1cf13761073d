/** What every command gets: where things are, how to speak, and the daemon. Nothing in it starts before it is used. */
import { createDaemonClient, type DaemonClient } from './daemon/daemon-client.js';
import { checkHome } from './daemon/home-check.js';
import type { ExitCode } from './exit-codes.js';
import { createSettings, type GlobalFlags, type Settings } from './settings.js';
import { createTerminal, type Terminal } from './terminal/terminal.js';

export interface Cli {
  readonly settings: Settings;
  readonly out: Terminal;
  /** Print one JSON value and nothing else on stdout. */
  readonly json: boolean;
  /** Do not ask. */
  readonly yes: boolean;
  /** The folder `dist` that this CLI was built into. */
  readonly distDir: string;
  daemon(): Promise<DaemonClient>;
}

/** A command's action ends with the code of the process. */
export type Outcome = Promise<ExitCode>;

export const createCli = (flags: GlobalFlags, distDir: string): Cli => {
  const settings = createSettings(flags);
  return {
    settings,
    out: createTerminal(flags.color === false),
    json: flags.json === true,
    yes: flags.yes === true,
    distDir,
    daemon: async () => {
      const client = createDaemonClient({ url: await settings.url(), apiKey: onceThere(settings.apiKey) });
      await checkHome(settings, client);
      return client;
    },
  };
};

/** A daemon without a key may make one meanwhile: what is not there yet is looked for again. */
const onceThere = <T>(make: () => Promise<T | undefined>): (() => Promise<T | undefined>) => {
  let made: T | undefined;
  return async () => {
    made ??= await make();
    return made;
  };
};
