/** `svc sessions share`, `shares` and `unshare`: links to conversations. */
import { type Action, type Cli, type Command, EXIT, type Outcome, agoText, printable, table, usageFailure } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { findSessions } from './session-lookup.js';

type Share = OutputOf<'listShares'>['shares'][number];

export const defineSharing = (sessions: Command, action: Action): void => {
  sessions
    .command('share')
    .description('Make a link to a conversation as it is now, which anyone can read')
    .argument('<session>', 'its id, the start of its id, or its label')
    .option('--days <n>', 'how many days it is valid; "never" for no expiry')
    .action(action((cli, wanted: string, flags: { days?: string }) => share(cli, wanted, flags.days)));
  sessions
    .command('shares')
    .description('List links to conversations')
    .action(action((cli) => list(cli)));
  sessions
    .command('unshare')
    .description('Revoke links to conversations')
    .argument('<links...>', 'ids of links, as "svc sessions shares" lists them')
    .action(action((cli, ids: string[]) => revoke(cli, ids)));
};

const daysOf = (text: string | undefined): { readonly expires_in_days?: number | null } => {
  if (text === undefined) return {};
  if (text === 'never') return { expires_in_days: null };
  if (!/^[1-9]\d{0,4}$/.test(text)) throw usageFailure(`--days is "${text}"; a whole number of days or "never" was expected.`);
  return { expires_in_days: Number(text) };
};

const share = async (cli: Cli, wanted: string, days: string | undefined): Outcome => {
  const body = daysOf(days);
  const daemon = await cli.daemon();
  const [id = ''] = await findSessions(daemon, [wanted]);
  const { path, share: made } = await daemon.call('shareSession', { id, body });
  const url = new URL(path, daemon.url).href;
  if (cli.json) cli.out.json({ ...made, url });
  else {
    cli.out.line(url);
    cli.out.note(cli.out.dim(`${expiryText(made)} The link is shown only this once. svc sessions unshare ${made.id} revokes it.`));
  }
  return EXIT.ok;
};

const expiryText = ({ expires_at: at, is_over: isOver }: Share): string => (at === null ? 'No expiry.' : `${isOver ? 'Expired' : 'Expires'} ${at.slice(0, 10)}.`);

const list = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const { is_on: isOn, shares } = await daemon.call('listShares', {});
  if (cli.json) cli.out.json({ shares, is_on: isOn });
  else if (shares.length === 0) cli.out.line('No links.');
  else {
    const now = Date.now();
    const rows = shares.map((one) => [printable(one.title), expiryText(one), agoText(one.as_of, now), one.id]);
    for (const line of table([{ title: 'TITLE', shrinks: true }, { title: 'EXPIRY' }, { title: 'AS OF', givesWay: true }, { title: 'ID' }], rows, cli.out.width)) cli.out.line(line);
  }
  if (!isOn && !cli.json) cli.out.note('Links are switched off: [session] share_links is false. None of them works.');
  return EXIT.ok;
};

const revoke = async (cli: Cli, ids: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  for (const id of ids) await daemon.call('revokeShare', { id });
  if (cli.json) cli.out.json({ status: 'revoked', share_ids: ids });
  else cli.out.line(`${cli.out.green('✓')} ${ids.length === 1 ? 'The link is' : `${ids.length} links are`} revoked`);
  return EXIT.ok;
};
