/** `svc dev`: links a folder into the running daemon, builds and reloads it, and does so again with each change until Ctrl-C. */
import { once } from 'node:events';
import { type Bundler, buildExtension, watchSources } from '@svc/installer/author';
import type { Cli, Outcome } from '../cli.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { authored, builtLine, bundlerOf, folderOf } from './authored.js';

/** A reload waits for what the extension is doing. */
const CHANGE_WAIT_MS = 120_000;

export const dev = async (cli: Cli, folder: string, isOnce: boolean): Outcome => {
  const dir = folderOf(folder);
  const daemon = await cli.daemon();
  const bundler = await authored(() => bundlerOf(dir));
  const { manifest } = await authored(() => buildExtension(dir, bundler));
  if (!(await isKnown(daemon, manifest.id))) {
    await daemon.call('installExtension', { body: { path: dir, link: true, grants: 'all', enable: true } }, { timeoutMs: CHANGE_WAIT_MS });
    const granted = (manifest.grants ?? []).map(({ grant }) => grant).join(', ');
    if (!cli.json) cli.out.line(`${cli.out.green('✓')} ${manifest.id} is linked${granted === '' ? '' : `, with these permissions: ${granted}`}`);
  }
  if (isOnce) return (await round(cli, daemon, dir, bundler)) ? EXIT.ok : EXIT.failed;
  const sources = watchSources(dir, async () => void (await round(cli, daemon, dir, bundler)));
  await round(cli, daemon, dir, bundler);
  cli.out.note(cli.out.dim(`Watching ${folder}; Ctrl-C to stop.`));
  await once(process, 'SIGINT');
  sources.close();
  return EXIT.ok;
};

const isKnown = async (daemon: DaemonClient, id: string): Promise<boolean> => {
  try {
    await daemon.call('getExtension', { name: id });
    return true;
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return false;
    throw error;
  }
};

/** What fails is told, and the next change is waited for: the daemon serves on with what it had. */
const round = async (cli: Cli, daemon: DaemonClient, dir: string, bundler: Bundler): Promise<boolean> => {
  const startedAt = performance.now();
  try {
    const built = await authored(() => buildExtension(dir, bundler));
    const { extension } = await daemon.call('reloadExtension', { name: built.manifest.id }, { timeoutMs: CHANGE_WAIT_MS });
    const ms = Math.round(performance.now() - startedAt);
    if (cli.json) cli.out.json({ id: extension.id, state: extension.state, reason: extension.reason, ms });
    else cli.out.line(`${builtLine(cli, built)}; ${extension.state} after ${ms} ms${extension.reason ? `: ${extension.reason}` : ''}`);
    return extension.state === 'active';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (cli.json) cli.out.json({ error: error.message, code: error.code });
    else cli.out.note(`${cli.out.red('✗')} ${error.message}${error.fix === undefined ? '' : `\n  ${error.fix}`}`);
    return false;
  }
};
