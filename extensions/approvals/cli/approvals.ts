import type { Action, Command } from '@svc/cli/area';

export const define = (program: Command, _action: Action): void => {
  program.command('approvals').description('Tool calls that wait for you').helpCommand(false);
};
