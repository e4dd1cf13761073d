/** `svc dev`: builds, reloads in the running daemon, and does so again with each change until Ctrl-C. */
import { once } from 'node:events';
import { type Bundler, buildExtension, watchSources } from '@svc/installer/author';
import type { Cli, Outcome } from '../cli.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { authored, builtLine, bundlerOf, folderOf } from './authored.js';

export const dev = async (cli: Cli, folder: string): Outcome => {
  const dir = folderOf(folder);
  const daemon = await cli.daemon();
  const bundler = await authored(() => bundlerOf(dir));
  const built = await authored(() => buildExtension(dir, bundler));
  await mustBeLinked(daemon, built.manifest.id, folder);
  const sources = watchSources(dir, () => round(cli, daemon, dir, bundler));
  await round(cli, daemon, dir, bundler);
  cli.out.line(cli.out.dim(`Watching ${folder}; Ctrl-C ends it.`));
  await once(process, 'SIGINT');
  sources.close();
  return EXIT.ok;
};

const mustBeLinked = async (daemon: DaemonClient, id: string, folder: string): Promise<void> => {
  try {
    await daemon.call('getExtension', { name: id });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    throw new Failure(`The daemon does not know ${id}.`, { code: 'cli_not_linked', why: 'it loads a folder that was linked', mend: `svc ext install --link ${folder}` });
  }
};

/** What fails is told, and the next change is waited for: the daemon serves on with what it had. */
const round = async (cli: Cli, daemon: DaemonClient, dir: string, bundler: Bundler): Promise<void> => {
  const startedAt = performance.now();
  try {
    const built = await authored(() => buildExtension(dir, bundler));
    const { extension } = await daemon.call('reloadExtension', { name: built.manifest.id });
    const ms = Math.round(performance.now() - startedAt);
    if (cli.json) cli.out.json({ id: extension.id, state: extension.state, reason: extension.reason, ms });
    else cli.out.line(`${builtLine(cli, built)}; ${extension.state} after ${ms} ms${extension.reason ? `: ${extension.reason}` : ''}`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (cli.json) cli.out.json({ error: error.message, code: error.code });
    else cli.out.note(`${cli.out.red('✗')} ${error.message}${error.mend === undefined ? '' : `\n  ${error.mend}`}`);
  }
};
