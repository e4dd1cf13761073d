/** Approvals turned on by the owner: the state of the settings that they saw is the confirmation. */
import { type Cli, confirm, type DaemonClient } from '@svc/cli/area';

const QUESTION = 'From now on, let agents wait for you before they run a command or change a file? Agents that work while you are away wait too.';

/** False where the owner does not want it. `isAgreed`: they said so in the command. */
export const turnApprovalsOn = async (cli: Cli, daemon: DaemonClient, isAgreed = false): Promise<boolean> => {
  const { checksum } = await daemon.call('getConfigStatus');
  if (!isAgreed && !(await confirm(cli, QUESTION))) return false;
  await daemon.call('setConfigValue', { body: { path: 'approval.require_approval', value: true, confirm: checksum } });
  return true;
};
