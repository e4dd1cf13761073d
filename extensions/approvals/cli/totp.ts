/** `svc approvals totp`: the authenticator of whoever calls. */
import { type Action, askText, type Cli, type Command, EXIT, facts, type Outcome, usageFailure } from '@svc/cli/area';
import { renderUnicodeCompact } from 'uqr';

export const defineTotp = (approvals: Command, action: Action): void => {
  const totp = approvals.command('totp').description('Your authenticator: a second factor for approvals').helpCommand(false);
  totp
    .command('setup')
    .description('Set up an authenticator: shows a QR code, the secret and recovery codes, then asks for a code')
    .option('--current <code>', 'from the authenticator that it replaces')
    .action(action((cli, options: { current?: string }) => setup(cli, options)));
  totp
    .command('confirm')
    .description('Confirm the new authenticator with a code')
    .argument('<code>', 'six digits')
    .action(action((cli, code: string) => confirm(cli, code)));
  totp
    .command('status')
    .description('Show the state of your authenticator')
    .action(action((cli) => status(cli)));
  totp
    .command('revoke')
    .description('Remove your authenticator')
    .argument('<code>', 'six digits, or a recovery code')
    .action(action((cli, code: string) => revoke(cli, code)));
};

const setup = async (cli: Cli, { current }: { current?: string }): Outcome => {
  const daemon = await cli.daemon();
  const made = await daemon.call('createTotp', { body: current === undefined ? {} : { current_code: current } });
  if (cli.json) {
    cli.out.json(made);
    return EXIT.ok;
  }
  cli.out.line(renderUnicodeCompact(made.otpauth_uri, { border: 2 }));
  cli.out.line('Scan this code with your authenticator app, or type in the secret:');
  cli.out.line(`  ${made.secret}`);
  cli.out.line('Recovery codes. Store them in a safe place; each works once:');
  for (const code of made.recovery_codes) cli.out.line(`  ${code}`);
  if (!cli.out.canAsk) {
    cli.out.note(cli.out.dim('  next  svc approvals totp confirm CODE'));
    return EXIT.ok;
  }
  return confirm(cli, await askText('Code from your authenticator', '', (text) => (/^\d{6}$/.test(text) ? undefined : 'Six digits.')));
};

const confirm = async (cli: Cli, code: string): Outcome => {
  if (!/^\d{6}$/.test(code)) throw usageFailure('A code has six digits.');
  const answer = await (await cli.daemon()).call('confirmTotp', { body: { code } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.message}`);
  return EXIT.ok;
};

const status = async (cli: Cli): Outcome => {
  const found = await (await cli.daemon()).call('getTotpStatus');
  if (cli.json) cli.out.json(found);
  else {
    const state = found.confirmed ? 'set up' : found.enrolled ? 'waits for its first code: svc approvals totp confirm CODE' : 'not set up: svc approvals totp setup';
    const lines: Array<[string, string]> = [
      ['authenticator', state],
      ['asked for', found.enforced ? 'at each approval' : 'never; second_factor = "totp" in config.toml changes that'],
      ['recovery codes', String(found.remaining_recovery_codes)],
    ];
    for (const line of facts(lines, cli.out.width)) cli.out.line(line);
  }
  return EXIT.ok;
};

const revoke = async (cli: Cli, code: string): Outcome => {
  const answer = await (await cli.daemon()).call('revokeTotp', { body: { code } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.message}`);
  return EXIT.ok;
};
