/** `svc sso`: at which providers people sign in, who the caller is there, and what a token is worth. */
import { type Action, type Cli, type Command, EXIT, type Outcome, printable } from '@svc/cli/area';

export const define = (program: Command, action: Action): void => {
  const sso = program.command('sso').description('Sign-in at a provider of your company').helpCommand(false);
  sso
    .command('providers')
    .description('List the providers, and the address to sign in at')
    .action(action((cli) => providers(cli)));
  sso
    .command('whoami')
    .description('Show what the provider says of you')
    .action(action((cli) => whoami(cli)));
  sso
    .command('check')
    .description('Check a token: of svc, or of a provider')
    .argument('<token>', 'the token')
    .option('--provider <id>', 'whose token it is, where it does not say so')
    .action(action((cli, token: string, flags: { provider?: string }) => check(cli, token, flags.provider)));
};

const providers = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const answer = await daemon.call('listAuthProviders');
  if (cli.json) {
    cli.out.json(answer);
    return EXIT.ok;
  }
  if (!answer.enabled) cli.out.line('Sign-in at a provider is off. Set [external_auth] in config.toml.');
  for (const { display_name, id, login_url } of answer.providers) cli.out.line(`${id}  ${printable(display_name)}  ${new URL(login_url, daemon.url).href}`);
  return EXIT.ok;
};

const whoami = async (cli: Cli): Outcome => {
  const profile = await (await cli.daemon()).call('getAuthProfile');
  if (cli.json) cli.out.json(profile);
  else if (profile.auth_method === 'api_key') cli.out.line('You call with a key, and not by a sign-in at a provider.');
  else for (const [name, value] of Object.entries(profile)) cli.out.line(`${name}: ${printable(Array.isArray(value) ? value.join(', ') : String(value))}`);
  return EXIT.ok;
};

const check = async (cli: Cli, token: string, provider: string | undefined): Outcome => {
  const answer = await (await cli.daemon()).call('checkToken', { body: { token, ...(provider === undefined ? {} : { provider }) } });
  if (cli.json) {
    cli.out.json(answer);
    return EXIT.ok;
  }
  if (answer.active)
    cli.out.line(
      `${cli.out.green('✓')} Valid: ${printable(answer.name ?? answer.sub ?? '')} at ${answer.provider ?? ''}${answer.exp === undefined ? '' : `, until ${new Date(answer.exp * 1_000).toISOString()}`}.`,
    );
  else cli.out.line(`Not valid. ${printable(answer.error ?? '')}`);
  return EXIT.ok;
};
