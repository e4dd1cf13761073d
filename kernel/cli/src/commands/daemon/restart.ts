/** `svc restart`: stops the daemon in order, and starts it again. */
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { start } from './start.js';
import { stopInOrder } from './stop.js';

export const define = (program: Command, action: Action): void => {
  program
    .command('restart')
    .description('Restart the daemon; active runs continue from their last completed step')
    .action(action((cli) => restart(cli)));
};

/** One that does not run is started. */
const restart = async (cli: Cli): Outcome => {
  await stopInOrder(cli);
  return start(cli, false);
};
