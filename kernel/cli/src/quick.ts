/** The commands that are typed most, bundled as one file (main.ts says why): what it imports, each of them loads. */
import { type Cli, createCli, type Outcome } from './cli.js';
import { start } from './commands/daemon/start.js';
import { status } from './commands/daemon/status.js';
import { stop } from './commands/daemon/stop.js';
import type { ExitCode } from './exit-codes.js';
import type { GlobalFlags } from './settings.js';
import { reported } from './terminal/complaint.js';
import { knowCommands } from './typed-command.js';

export interface QuickWords {
  readonly name: string;
  readonly flags: GlobalFlags;
  /** Of the command's own. */
  readonly options: ReadonlySet<string>;
}

const COMMANDS: Readonly<Record<string, (cli: Cli, options: ReadonlySet<string>) => Outcome>> = {
  start: (cli, options) => start(cli, options.has('--foreground')),
  status: (cli) => status(cli),
  stop,
};

export const runQuick = ({ name, flags, options }: QuickWords, distDir: string): Promise<ExitCode> =>
  reported(flags, async () => {
    knowCommands(distDir);
    const command = COMMANDS[name];
    if (command === undefined) throw new TypeError(`${name} is not a quick command`); // main.ts asks for no other
    return command(createCli(flags, distDir), options);
  });
