/** `svc ext` where the API cannot do it: the daemon is stopped, or what was switched off is what the API needs. */
import path from 'node:path';
import { type ExtensionPlan, isSvcError } from '@svc/api';
import type { Cli, Outcome } from './cli.js';
import type { DaemonClient } from './daemon/daemon-client.js';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';

/** The daemon looks each second for choices that were made beside it. */
const FOLLOW_WAIT_MS = 10_000;
const POLL_MS = 100;

/** `beside`: a daemon of this home runs and cannot be asked. */
export type Place = 'stopped' | 'beside';

/** Where the change can be made instead; undefined when the failure is another, or the daemon is not the one of this home. */
export const placeOf = async (cli: Cli, error: unknown): Promise<Place | undefined> => {
  if (!(error instanceof Failure)) return undefined;
  const running = cli.settings.daemonFile();
  const { url } = await cli.daemon();
  if (error.code === 'cli_daemon_not_running') return running === undefined && !cli.settings.isElsewhere ? 'stopped' : undefined;
  // Nobody can authenticate, or the area that switches areas is off.
  const isShut = error.code === 'security_unavailable' || (error.status === 404 && error.code === 'not_found');
  return isShut && running?.url === url ? 'beside' : undefined;
};

export interface BesideChange {
  readonly action: 'enable' | 'disable' | 'reset';
  readonly id: string;
  readonly place: Place;
  agrees(plan: ExtensionPlan): Promise<boolean>;
}

export const changeBeside = async (cli: Cli, { action, agrees, id, place }: BesideChange): Outcome => {
  // The database is loaded only here.
  const { changeLocally } = await import('@svc/daemon/offline/local-choices');
  const isBeside = place === 'beside';
  const outcome = await changeLocally({ env: cli.settings.env, releaseFile: path.join(cli.distDir, 'release.json'), action, id, isBeside, agrees }).catch((error: unknown) => {
    throw isSvcError(error) ? new Failure(error.message, { code: error.code, fix: error.hint }) : error;
  });
  if (!outcome.isWritten) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const state = isBeside ? await followed(cli, id) : undefined;
  if (cli.json) cli.out.json({ plan: outcome.plan, extension: null, wanted: outcome.isWanted, state: state ?? null, from: isBeside ? 'now' : 'next_start' });
  else cli.out.line(`${cli.out.green('✓')} ${sentence(id, outcome.isWanted, isBeside, state)}`);
  return EXIT.ok;
};

const sentence = (id: string, isWanted: boolean, isBeside: boolean, state: string | undefined): string => {
  const chosen = `${id} is switched ${isWanted ? 'on' : 'off'}`;
  if (!isBeside) return `${chosen} from the next start on; the daemon is not running`;
  return state === undefined ? `${chosen}; the running daemon follows within seconds, but cannot be asked` : `${id} is ${state}`;
};

/** The area's state as the daemon says it; undefined when it does not answer such questions, as it may still not. */
const followed = async (cli: Cli, id: string): Promise<string | undefined> => {
  const daemon = await cli.daemon();
  for (const deadline = Date.now() + FOLLOW_WAIT_MS; Date.now() < deadline; ) {
    const state = await stateNow(daemon, id);
    if (state !== undefined && state !== 'starting' && state !== 'stopping') return state;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
};

const stateNow = async (daemon: DaemonClient, id: string): Promise<string | undefined> => {
  try {
    return (await daemon.call('getExtension', { name: id })).state;
  } catch (error) {
    if (!(error instanceof Failure) || error.status === undefined) throw error;
    // A key is asked for again: auth is back, and whoever has none learns no more.
    return error.exit === EXIT.refused ? 'active' : undefined;
  }
};
