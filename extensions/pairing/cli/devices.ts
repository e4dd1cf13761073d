/** `svc devices`: a code for a new device, as text and QR code; what it may do; and messages to all of yours. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, printable, usageFailure, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { renderUnicodeCompact } from 'uqr';

const ROLES = ['viewer', 'user', 'admin', 'owner'] as const;
type Role = (typeof ROLES)[number];
const POLL_MS = 1_000;
const LIMIT = 100;

type Device = OutputOf<'listDevices'>['devices'][number];

export const define = (program: Command, action: Action): void => {
  const devices = program.command('devices').description('Phones and browsers with keys of their own').helpCommand(false);
  devices
    .command('pair')
    .description('Show a code that pairs a device, and wait for it')
    .option('--role <role>', 'what it may do: viewer, user, admin or owner; at most your own role', 'user')
    .option('--no-wait', 'show the code and end')
    .action(action((cli, flags: { role: string; wait: boolean }) => pair(cli, flags)));
  devices
    .command('role')
    .description('Change what a device may do')
    .argument('<device>', 'its id, the beginning of it, or its name')
    .argument('<role>', 'viewer, user, admin or owner; at most your own role')
    .action(action((cli, device: string, role: string) => change(cli, device, role)));
  devices
    .command('notify')
    .description('Send a message to your devices')
    .argument('<message...>', 'what it says')
    .option('--title <title>', 'its title', 'svc')
    .action(action((cli, message: string[], flags: { title: string }) => send(cli, message.join(' '), flags.title)));
};

const roleOf = (text: string): Role => {
  const role = ROLES.find((one) => one === text);
  if (!role) throw usageFailure(`There is no role ${text}: viewer, user, admin or owner.`);
  return role;
};

const pair = async (cli: Cli, flags: { role: string; wait: boolean }): Outcome => {
  const daemon = await cli.daemon();
  const before = new Set((await daemon.call('listDevices', { limit: LIMIT })).devices.map(({ id }) => id));
  const made = await daemon.call('requestPairing', { body: { role: roleOf(flags.role) } }, { retries: 0 });
  if (cli.json) {
    cli.out.json(made);
    return EXIT.ok;
  }
  cli.out.line(renderUnicodeCompact(made.url, { border: 2 }));
  cli.out.line('Scan this with the device, or type the code where its page asks for a key:');
  cli.out.line(`  ${made.pairing_code}`);
  cli.out.note(cli.out.dim(`  ${made.url}`));
  if (!flags.wait || !cli.out.canAsk) return EXIT.ok;
  const found = await watched(cli.out, 'Waiting for the device', untilPaired(daemon, before, made.expires_at));
  if (!found) throw new Failure('No device used the code before it expired.', { code: 'cli_pairing_over', fix: 'get another code: svc devices pair' });
  cli.out.line(`${cli.out.green('✓')} Paired ${printable(found.display_name)} as ${found.role}.`);
  return EXIT.ok;
};

const untilPaired = async (daemon: DaemonClient, before: ReadonlySet<string>, expiresAt: string): Promise<Device | undefined> => {
  for (; Date.now() < Date.parse(expiresAt); await new Promise((resolve) => setTimeout(resolve, POLL_MS))) {
    const device = (await daemon.call('listDevices', { limit: LIMIT })).devices.find(({ id }) => !before.has(id));
    if (device) return device;
  }
  return undefined;
};

const change = async (cli: Cli, name: string, role: string): Outcome => {
  const daemon = await cli.daemon();
  const wanted = roleOf(role);
  const { devices } = await daemon.call('listDevices', { limit: LIMIT });
  const found = onlyOne(devices, name);
  const changed = await daemon.call('updateDevice', { id: found.id, body: { role: wanted } });
  if (cli.json) cli.out.json(changed);
  else cli.out.line(`${cli.out.green('✓')} ${printable(changed.display_name)} is ${changed.role} now.`);
  return EXIT.ok;
};

const onlyOne = (devices: readonly Device[], name: string): Device => {
  const exact = devices.filter(({ id }) => id === name);
  const fitting = exact.length > 0 ? exact : devices.filter((one) => one.display_name === name || (name.length >= 4 && one.id.startsWith(name)));
  const [only, ...others] = fitting;
  if (!only) throw new Failure(`There is no device ${name}.`, { code: 'cli_no_such_device', fix: 'svc devices list shows yours' });
  if (others.length > 0) throw new Failure(`${fitting.length} devices are called ${name}.`, { code: 'cli_no_such_device', fix: 'name the one you mean by its id: svc devices list' });
  return only;
};

const send = async (cli: Cli, message: string, title: string): Outcome => {
  const answer = await (await cli.daemon()).call('sendToDevices', { body: { message, title } }, { retries: 0 });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`Reached ${answer.notified} of ${answer.notified + answer.failed} devices.`);
  return EXIT.ok;
};
