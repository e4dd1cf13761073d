/**
 * Tools whose calls cannot be taken back by reading: they destroy, pay, or change who has access.
 *
 * A tool's name says so by one of its words, as `delete_email`, `mcp_bank_sendMoney` and `add_user_to_channel` do. Descriptions are
 * not asked: a server writes them as it likes, and most mention what a tool does not do, too.
 */
const DESTROYS = [
  'ban',
  'cancel',
  'clear',
  'deactivate',
  'delete',
  'destroy',
  'disable',
  'discard',
  'drop',
  'erase',
  'kick',
  'kill',
  'overwrite',
  'purge',
  'remove',
  'reset',
  'revoke',
  'rm',
  'shutdown',
  'terminate',
  'trash',
  'truncate',
  'uninstall',
  'unsubscribe',
  'wipe',
];
const PAYS = [
  'bid',
  'book',
  'buy',
  'charge',
  'checkout',
  'donate',
  'invest',
  'invoice',
  'money',
  'order',
  'pay',
  'payment',
  'purchase',
  'refund',
  'rent',
  'reserve',
  'sell',
  'spend',
  'subscribe',
  'trade',
  'transaction',
  'transfer',
  'withdraw',
];
const ACCESS = [
  'access',
  'admin',
  'authorize',
  'collaborator',
  'credential',
  'credentials',
  'grant',
  'invite',
  'key',
  'member',
  'owner',
  'passcode',
  'password',
  'permission',
  'permissions',
  'pin',
  'privilege',
  'privileges',
  'role',
  'share',
  'token',
  'unblock',
];
const GRAVE: ReadonlySet<string> = new Set([...DESTROYS, ...PAYS, ...ACCESS]);

/** Who is added somewhere has access there. */
const PEOPLE: ReadonlySet<string> = new Set(['user', 'users', 'people', 'person', 'contact', 'guest']);

export const isGrave = (tool: string): boolean => {
  const words = wordsOf(tool);
  return words.some((word) => GRAVE.has(word)) || (words.includes('add') && words.some((word) => PEOPLE.has(word)));
};

/** `add_user-toChannel` as add, user, to, channel. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u);
