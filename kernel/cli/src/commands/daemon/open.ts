/** `svc open`: open the web page in a browser. */
import { spawn } from 'node:child_process';
import { textThatIsSet } from '@svc/api';
import type { Command } from 'commander';
import type { DaemonClient } from '../../daemon/daemon-client.js';
import { Failure } from '../../failure.js';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { EXIT } from '../../exit-codes.js';

/** An opener that is there is back, or at work, by then. */
const SETTLED_MS = 1_000;

export const define = (program: Command, action: Action): void => {
  program
    .command('open')
    .description('Open the web page in a browser, and print its address')
    .action(action((cli) => open(cli)));
};

const open = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  await daemon.call('getReadiness');
  const url = `${daemon.url}/`;
  const link = await loginLink(daemon);
  const isOpened = await opened(cli.settings.env, link ?? url);
  if (cli.json) cli.out.json({ url, opened: isOpened, ...(link === undefined || isOpened ? {} : { login_url: link }) });
  else {
    cli.out.line(isOpened ? url : (link ?? url));
    if (!isOpened && link !== undefined) cli.out.note('The address logs in one browser, once, within two minutes.');
    if (!isOpened) cli.out.note('Could not open a browser. Open the address yourself.');
  }
  return EXIT.ok;
};

/** Logged in already: the code stands behind the #, which no server and no log sees. Undefined where the daemon has no key, or this command none to show. */
const loginLink = async (daemon: DaemonClient): Promise<string | undefined> => {
  if ((await daemon.client.key()) === undefined) return undefined;
  try {
    const { code } = await daemon.call('createLoginLink');
    return `${daemon.url}/#/?login=${code}`;
  } catch (error) {
    if (error instanceof Failure && (error.code === 'auth_login_not_needed' || error.code === 'auth_key_invalid')) return undefined;
    throw error;
  }
};

/** Without a screen the opener of Linux may begin a browser in the terminal. */
const openersOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  if (process.platform === 'darwin') return ['open'];
  if (textThatIsSet(env.WSL_DISTRO_NAME) !== undefined) return ['wslview', 'xdg-open'];
  return (textThatIsSet(env.DISPLAY) ?? textThatIsSet(env.WAYLAND_DISPLAY)) === undefined ? [] : ['xdg-open'];
};

const opened = async (env: NodeJS.ProcessEnv, url: string): Promise<boolean> => {
  for (const program of openersOf(env)) if (await isOpenedBy(program, url, env)) return true;
  return false;
};

const isOpenedBy = (program: string, url: string, env: NodeJS.ProcessEnv): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true, env });
    const timer = setTimeout(() => resolve(true), SETTLED_MS); // it stays while the browser is open
    child.on('error', () => settle(false));
    child.on('exit', (code) => settle(code === 0));
    child.unref();
    const settle = (isDone: boolean): void => {
      clearTimeout(timer);
      resolve(isDone);
    };
  });
