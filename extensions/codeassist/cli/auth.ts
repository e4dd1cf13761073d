/** `svc auth codeassist`: a code for the page of the provider, and a wait until it was typed there. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, printable, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';

const POLL_MS = 1_000;

type Started = OutputOf<'startCodeassistLogin'>;
type Standing = OutputOf<'pollCodeassistLogin'>;

export const define = (program: Command, action: Action): void => {
  const auth = program.command('auth').description('Log in at a provider by a code').helpCommand(false);
  auth
    .command('codeassist')
    .description('Log in at GitHub Copilot: shows a code, and waits until you typed it there')
    .option('--no-wait', 'show the code and end')
    .action(action((cli, flags: { wait: boolean }) => login(cli, flags.wait)));
};

const login = async (cli: Cli, wait: boolean): Outcome => {
  const daemon = await cli.daemon();
  const started = await daemon.call('startCodeassistLogin', {}, { retries: 0 });
  if (cli.json && !wait) {
    cli.out.json(started);
    return EXIT.ok;
  }
  // With --json, standard output has the result alone.
  const say = (text: string): void => (cli.json ? cli.out.note(text) : cli.out.line(text));
  say(`Open ${printable(started.verification_uri)} and type this code:`);
  say(`  ${printable(started.user_code)}`);
  if (!wait) {
    say(`svc finishes the login while somebody asks: GET /api/providers/codeassist/oauth/poll/${started.poll_id}`);
    return EXIT.ok;
  }
  const ended = await watched(cli.out, 'Waiting for you to agree there', untilEnded(daemon, started));
  if (ended.status !== 'authorized') throw failureOf(ended);
  if (cli.json) cli.out.json(ended);
  else cli.out.line(`${cli.out.green('✓')} Logged in. The token is in the vault, as the key of github-copilot.`);
  return EXIT.ok;
};

const untilEnded = async (daemon: DaemonClient, { poll_id }: Started): Promise<Standing> => {
  for (;;) {
    const standing = await daemon.call('pollCodeassistLogin', { poll_id });
    if (standing.status !== 'pending') return standing;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const failureOf = ({ error }: Standing): Failure =>
  error === 'access_denied'
    ? new Failure('The login was refused on the page of the provider.', { code: 'cli_login_refused', fix: 'start again and agree there: svc auth codeassist' })
    : new Failure(`The login ended without a token: ${error === 'expired_token' || error === null ? 'the code expired' : printable(error)}.`, {
        code: 'cli_login_over',
        fix: 'get another code: svc auth codeassist',
      });
