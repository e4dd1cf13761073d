/** An entry as a sentence: who did what. Made from its type, so that an entry of any area reads as one. */

interface Recorded {
  readonly type: string;
  readonly actor: string | null;
  readonly outcome: string;
}

/** `owner changed the budget of an agent`, with what came of it where that is not plain success. */
export const sentenceOf = ({ type, actor, outcome }: Recorded): string => {
  const done = `${nameOf(actor)} ${deedOf(type)}`;
  return outcome === 'ok' || outcome === '' ? done : `${done} (${outcome})`;
};

const nameOf = (actor: string | null): string => {
  if (actor === null) return 'Somebody who was erased';
  return actor.startsWith('user:') ? actor.slice('user:'.length) : actor.startsWith('system:') ? `svc (${actor.slice('system:'.length)})` : actor;
};

/** What no rule makes a sentence of. */
const DEEDS: Readonly<Record<string, string>> = {
  agent_error: 'ran into an error of an agent',
  audit_erased: 'erased personal details',
  audit_facts_dropped: 'lost entries of the audit trail',
  authorization_refused: 'asked for something without the right to it',
  comms_sent: 'sent a message between agents',
  database_moved: 'moved the database',
  device_login_started: 'started to sign in with a code',
  hook_agent: 'asked an agent through a hook',
  hook_in: 'sent a message to a trigger',
  hook_wake: 'woke an agent through a hook',
  login_created: 'signed in',
  login_ended: 'signed out',
  mcp_sign_in_started: 'started to sign in at an MCP server',
  mcp_signed_in: 'signed in at an MCP server',
  mcp_signed_out: 'signed out of an MCP server',
  memory_access: 'read or changed what an agent remembers',
  pairing_requested: 'asked to pair a device',
  person_signed_out: 'signed a person out',
  plugin_signed: 'signed a plugin',
  provider_default_set: 'set the default provider',
  remote_agent_asked: 'asked an agent of another daemon',
  signed_in: 'signed in',
  tool_invoked: 'called a tool',
  totp_setup: 'set up an authenticator',
  unreadable: 'did something that can no longer be read',
};

const VERBS: Readonly<Record<string, string>> = {
  activate: 'activated',
  begun: 'began',
  chosen: 'chose',
  complete: 'completed',
  down: 'shut down',
  back: 'rolled back',
  pause: 'paused',
  run: 'ran',
  start: 'started',
  stop: 'stopped',
  test: 'tested',
  written: 'wrote',
};
/** The first half of verbs of two words. */
const HALVES = new Set(['rolled_back', 'shut_down']);
/** Of which there is one. */
const ONLY = new Set(['vault', 'budget', 'daemon', 'catalog', 'settings', 'history', 'MCP']);
const WORDS: Readonly<Record<string, string>> = { config: 'settings', mcp: 'MCP', session: 'conversation', sessions: 'conversations', totp: 'authenticator', url: 'URL' };
/** What has parts of its own: `agent_budget` is the budget of an agent. */
const OWNERS = new Set(['agent', 'channel', 'hand', 'plugin', 'provider', 'session', 'vault', 'workflow', 'skill', 'backup', 'approval']);
/** Without an article, whatever they end with. */
const UNCOUNTED = new Set(['music', 'audio', 'speech']);

const deedOf = (type: string): string => {
  const known = DEEDS[type];
  if (known !== undefined) return known;
  const words = type.split('_');
  const last = words.at(-1) ?? '';
  const verb = VERBS[last] ?? last;
  const what = words.slice(0, HALVES.has(words.slice(-2).join('_')) ? -2 : -1);
  const [first = '', ...rest] = what.map((word) => WORDS[word] ?? word);
  if (first === '') return type.replaceAll('_', ' ');
  if (rest.length > 0 && OWNERS.has(what[0] ?? '')) return `${verb} the ${rest.join(' ')} of ${withArticle([first])}`;
  return `${verb} ${withArticle([first, ...rest])}`;
};

const withArticle = (words: readonly string[]): string => {
  const text = words.join(' ');
  const last = words.at(-1) ?? '';
  if (words.length === 1 && ONLY.has(last)) return `the ${text}`;
  if ((last.endsWith('s') && !last.endsWith('ias')) || UNCOUNTED.has(last)) return text;
  return `${/^[aeiM]|^up/.test(text) ? 'an' : 'a'} ${text}`;
};
