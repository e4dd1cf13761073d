/** GET /api/status, as the commands read it. */
import { isTable } from '@svc/api';
import type { Status } from '@svc/client';
import type { Cli } from '../cli.js';
import type { DaemonClient } from './daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';

export interface DaemonStatus extends Partial<Omit<Status, 'status' | 'config_problems'>> {
  /** `running`, `starting`; `closed` while a security area or setting is missing; `refused` when no valid key was sent. */
  readonly status: string;
  /** Of `closed` and `refused`, in the daemon's words. */
  readonly why?: string;
  /** One sentence each. */
  readonly config_problems?: readonly string[];
}

/** While the daemon boots it answers 503, and while a security setting is not valid as well; neither is a failure to ask. */
export const readStatus = async (daemon: DaemonClient): Promise<DaemonStatus> => {
  try {
    const { config_problems = [], ...found } = await daemon.call('getStatus', {}, { timeoutMs: 10_000 });
    return { ...found, config_problems: config_problems.map(problemText) };
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 503) throw error;
    return error.code === 'security_unavailable' ? { status: 'closed', why: error.message } : { status: 'starting' };
  }
};

/**
 * The same for a person at this machine: what the daemon may not or cannot say (no key here, or it is closed)
 * is filled in from config.toml, so that there is always an answer to what is wrong.
 */
export const lookAtDaemon = async (cli: Cli, daemon: DaemonClient): Promise<DaemonStatus> => {
  const found = await readStatus(daemon).catch((error: unknown): DaemonStatus => {
    if (!(error instanceof Failure) || error.exit !== EXIT.refused) throw error;
    return { status: 'refused', why: error.message };
  });
  if (found.status !== 'closed' && found.status !== 'refused') return found;
  const { readLocalConfig } = await import('../local-config.js');
  const { problems } = await readLocalConfig(cli.settings, cli.distDir);
  const version = cli.settings.daemonFile()?.version;
  return { ...found, ...(version === undefined ? {} : { version }), config_problems: problems.map((problem) => problem.message) };
};

/** A problem may come as a sentence or as its parts. */
const problemText = (problem: unknown): string => {
  if (typeof problem === 'string') return problem;
  // Its message names file and line already.
  const { message } = isTable(problem) ? problem : {};
  return typeof message === 'string' ? message : JSON.stringify(problem);
};
