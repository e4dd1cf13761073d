/** Whether agents wait for the owner: asked once, and left as it is where calls wait already. */
import { type Cli, type DaemonClient, Failure } from '@svc/cli/area';
import { turnApprovalsOn } from '@svc/ext-approvals/cli';

/** Whether tool calls wait afterwards; undefined where approvals are switched off as a whole. */
export const firstApprovals = async (cli: Cli, daemon: DaemonClient, { isWanted, isAsking }: { readonly isWanted: boolean; readonly isAsking: boolean }): Promise<boolean | undefined> => {
  const isOn = await asksAlready(daemon);
  if (isOn !== false || (!isWanted && !isAsking)) return isOn;
  return turnApprovalsOn(cli, daemon, isWanted);
};

const asksAlready = async (daemon: DaemonClient): Promise<boolean | undefined> => {
  try {
    return (await daemon.call('listApprovals', { limit: 1 })).asking;
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return undefined;
    throw error;
  }
};
