/** `svc people`: who is disabled, and which role somebody has. `list`, `show` and `sign-out` are made of the declaration. */
import { type Action, type Cli, type Command, EXIT, type Outcome, printable, usageFailure } from '@svc/cli/area';

const ROLES = ['viewer', 'user', 'admin', 'owner'] as const;
const PERSON = 'id, or the name of a user of the settings';

export const define = (program: Command, action: Action): void => {
  const people = program.command('people').description('Who may come in, and what each holds').helpCommand(false);
  for (const [verb, disabled, said] of [
    ['disable', true, 'End what a person holds open, and let them in no more'],
    ['enable', false, 'Let a person who was disabled in again'],
  ] as const)
    people
      .command(verb)
      .description(said)
      .argument('<person>', PERSON)
      .action(action((cli, id: string) => change(cli, id, { disabled })));
  people
    .command('role')
    .description('Choose a role, in place of what the provider of a person says')
    .argument('<person>', PERSON)
    .argument('<role>', 'viewer, user, admin, owner; or provider: what the provider says')
    .action(action((cli, id: string, role: string) => change(cli, id, { role: roleOf(role) })));
};

const roleOf = (text: string): (typeof ROLES)[number] | null => {
  if (text === 'provider') return null;
  const role = ROLES.find((one) => one === text);
  if (!role) throw usageFailure(`There is no role ${text}: viewer, user, admin, owner or provider.`);
  return role;
};

const change = async (cli: Cli, id: string, body: { disabled: boolean } | { role: (typeof ROLES)[number] | null }): Outcome => {
  const person = await (await cli.daemon()).call('updatePerson', { id, body });
  if (cli.json) cli.out.json(person);
  else cli.out.line(`${cli.out.green('✓')} ${printable(person.name)} is ${person.state === 'disabled' ? 'disabled' : `active, with the role ${person.role ?? 'none'}`}.`);
  return EXIT.ok;
};
