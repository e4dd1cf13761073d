/**
 * What an extension may ask for in the `grants` of its extension.json: a closed list, some with a parameter.
 * The build, the daemon and the access check read it with the same functions.
 *
 * G1  What is not in the list, or has a parameter of another form, is refused before any code of the extension runs.
 * G2  A wider grant covers a narrower one of its kind (`exec` covers `exec:git`), and never one of another kind.
 */
import { coversHost, isHostPattern } from './host-pattern.js';
import { isBelow, isOfInterface, isPlainPath } from './path-names.js';
import { nearest } from '../text/nearest.js';

interface GrantKind {
  /** How it is written, for messages and the manifest's schema. */
  readonly form: string;
  readonly what: string;
  /** Of the whole grant; its first group is the parameter. */
  readonly pattern: string;
  /** Validates a parameter that has the form. */
  readonly accepts?: (parameter: string) => boolean;
}

const PORT = '(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})';

export const GRANT_KINDS = {
  kernel: { form: 'kernel', what: 'shows and changes the state of every extension, and ends the daemon', pattern: 'kernel' },
  'kernel:tools': { form: 'kernel:tools', what: 'lists the tools that extensions contribute, to authorize and run them', pattern: 'kernel:tools' },
  'kernel:slash-commands': { form: 'kernel:slash-commands', what: 'lists the slash commands that extensions contribute, to authorize and run them', pattern: 'kernel:slash-commands' },
  'kernel:settings': { form: 'kernel:settings', what: 'reads the settings of every area, secrets apart, and changes those that programs may change', pattern: 'kernel:settings' },
  'kernel:extensions': { form: 'kernel:extensions', what: 'lists the extensions and their state', pattern: 'kernel:extensions' },
  'kernel:backups': { form: 'kernel:backups', what: 'creates, lists, deletes and restores backups of everything', pattern: 'kernel:backups' },
  'kernel:replicas': { form: 'kernel:replicas', what: 'lists the daemons on the database', pattern: 'kernel:replicas' },
  'kernel:panels': { form: 'kernel:panels', what: 'lists the panels of all extensions and reads their files, to show them', pattern: 'kernel:panels' },
  'kernel:audit': { form: 'kernel:audit', what: 'receives who did what in every area, to write the audit log', pattern: 'kernel:audit' },
  actors: { form: 'actors', what: 'acts for any person, not only for those whose requests and calls it received', pattern: 'actors' },
  callers: { form: 'callers', what: 'decides who a caller is and what callers may do: it sees every request and can let anybody in', pattern: 'callers' },
  'secret-values': { form: 'secret-values', what: 'sees the secrets of every area when they are used or changed', pattern: 'secret-values' },
  calls: { form: 'calls:<hook>', what: 'calls this hook of somebody else', pattern: 'calls:([a-z][a-z0-9._-]{0,99})' },
  env: { form: 'env:<NAME>', what: 'reads this environment variable', pattern: 'env:([A-Za-z_][A-Za-z0-9_]{0,127})' },
  secrets: { form: 'secrets:<name> or secrets:<prefix>*', what: 'stores and uses secrets with this name or prefix', pattern: 'secrets:([A-Za-z0-9._:/-]{1,199}\\*?)' },
  'secrets-env': { form: 'secrets-env', what: 'uses secrets from environment variables that people name in its settings', pattern: 'secrets-env' },
  'secrets-login': { form: 'secrets-login', what: 'sees the values of its own secrets, to log in where a protocol has no header for them', pattern: 'secrets-login' },
  'egress:model': { form: 'egress:model', what: 'talks to the model providers that are configured', pattern: 'egress:model' },
  'egress:tool': { form: 'egress:tool', what: 'fetches public addresses for an agent', pattern: 'egress:tool' },
  'egress:webhook': { form: 'egress:webhook', what: 'sends to public addresses that people named', pattern: 'egress:webhook' },
  'egress:server': { form: 'egress:server', what: 'talks to servers that people configured, on private networks too', pattern: 'egress:server' },
  'egress:origins': { form: 'egress:origins', what: 'sets the base URLs of model providers', pattern: 'egress:origins' },
  exec: { form: 'exec or exec:<program>', what: 'starts programs, or this one by its name on PATH', pattern: 'exec(?::([A-Za-z0-9][A-Za-z0-9._+-]{0,99}))?' },
  children: { form: 'children:<count>', what: 'has up to so many child processes at the same time, instead of 16', pattern: 'children:([1-9][0-9]{0,2})' },
  pty: { form: 'pty', what: 'starts programs in a terminal, such as a shell, with all rights of the daemon', pattern: 'pty' },
  survivors: { form: 'survivors', what: 'ends children that an earlier life of the daemon left; starts none', pattern: 'survivors' },
  'files:workspaces': { form: 'files:workspaces', what: 'reads and writes the folders of agents', pattern: 'files:workspaces' },
  'files:templates': { form: 'files:templates', what: 'reads and writes the templates in the home folder', pattern: 'files:templates' },
  'files:skills': { form: 'files:skills', what: 'reads and writes the skills that are installed', pattern: 'files:skills' },
  'files:hands': { form: 'files:hands', what: 'reads and writes the hands that are installed', pattern: 'files:hands' },
  'files:plugins': { form: 'files:plugins', what: 'reads and writes the plugins that are installed', pattern: 'files:plugins' },
  'files:registry': { form: 'files:registry', what: 'reads and writes the copies of registries', pattern: 'files:registry' },
  'files:mcp': { form: 'files:mcp', what: 'reads and writes the templates of MCP servers in the home folder', pattern: 'files:mcp' },
  'files:inbox': { form: 'files:inbox', what: 'reads and takes files that people put into the inbox folder', pattern: 'files:inbox' },
  'files:migrate': { form: 'files:migrate', what: 'reads the folders of other programs, to import from them', pattern: 'files:migrate' },
  'files:checkpoints': { form: 'files:checkpoints', what: 'reads and writes the snapshots of the folders of agents', pattern: 'files:checkpoints' },
  'files:uploads': { form: 'files:uploads', what: 'reads and writes what people uploaded', pattern: 'files:uploads' },
  'net:fetch': {
    form: 'net:fetch:<host>[:port]',
    what: 'sends requests over HTTP to this host, block or *.domain',
    pattern: 'net:fetch:([^\\s@]{1,300})',
    accepts: isHostPattern,
  },
  'net:dial': {
    form: 'net:dial:<host>[:port]',
    what: 'opens TCP connections to this host, block or *.domain',
    pattern: 'net:dial:([^\\s@]{1,300})',
    accepts: isHostPattern,
  },
  'net:listen': { form: 'net:listen[:port]', what: 'listens on a TCP port', pattern: `net:listen(?::(${PORT}))?` },
  routes: {
    form: 'routes:/<path>',
    what: 'answers requests at this path and below it, outside of the paths that bear its own name: who calls there talks to the extension',
    pattern: 'routes:(/[^\\s%?#]{1,199})',
    accepts: (path) => isPlainPath(path) && !isOfInterface(path),
  },
  purge: { form: 'purge', what: 'erases an owner, an agent or a session from every area', pattern: 'purge' },
  'db:sql': { form: 'db:sql', what: 'reads and writes its own tables with SQL text', pattern: 'db:sql' },
} as const satisfies Readonly<Record<string, GrantKind>>;

export type GrantName = keyof typeof GRANT_KINDS;

export interface Grant {
  readonly kind: GrantName;
  /** Undefined where the kind has none, or where it was left out: then every one is meant. */
  readonly parameter: string | undefined;
  readonly text: string;
}

/** Every grant there is, as one pattern: for the schema of extension.json. */
export const GRANT_PATTERN = `^(?:${Object.values(GRANT_KINDS)
  .map(({ pattern }) => pattern)
  .join('|')})$`;

const kindsInOrder: ReadonlyArray<readonly [GrantName, GrantKind, RegExp]> = namesOf(GRANT_KINDS).map((name) => [name, GRANT_KINDS[name], new RegExp(`^(?:${GRANT_KINDS[name].pattern})$`)]);

function namesOf<T extends object>(table: T): Array<keyof T> {
  // A table written above holds no other keys than its type names.
  return Object.keys(table) as Array<keyof T>;
}

/** The grant, or a sentence with the problem. */
export const parseGrant = (text: string): Grant | string => {
  for (const [kind, { accepts }, pattern] of kindsInOrder) {
    const match = pattern.exec(text);
    if (!match) continue;
    const parameter = match[1];
    if (parameter === undefined || !accepts || accepts(parameter)) return { kind, parameter, text };
  }
  return faultOf(text);
};

const faultOf = (text: string): string => {
  const near = kindsInOrder.find(([name]) => text === name || text.startsWith(`${name}:`));
  if (near) return `the grant "${text}" has a parameter that is not valid; it is written ${near[1].form}`;
  const forms = meantBy(text).map(([, { form }]) => form);
  return `unknown grant "${text}"; ${forms.length > 0 ? `did you mean ${forms.join(' or ')}?` : `there are ${kindsInOrder.map(([, { form }]) => form).join(', ')}`}`;
};

/** Kinds of the same family, else the one that looks most like it. */
const meantBy = (text: string): ReadonlyArray<readonly [GrantName, GrantKind, RegExp]> => {
  const family = `${text.split(':', 1)[0]}:`;
  const related = kindsInOrder.filter(([name]) => name.startsWith(family));
  if (related.length > 0) return related;
  const names = kindsInOrder.map(([name]) => name);
  const [closest] = nearest(text, names, 1);
  return kindsInOrder.filter(([name]) => name === closest);
};

/** What a listener of these hooks decides or sees is as much as any other grant gives. */
const GRANT_OF_HOOK: Readonly<Record<string, GrantName>> = {
  'http.authenticate': 'callers',
  'http.authorize': 'callers',
  'socket.upgrade': 'callers',
  'secret.resolve': 'secret-values',
  'secret.change': 'secret-values',
};

/** The grant without which nobody listens to this hook; undefined for nearly all hooks. */
export const grantOfHook = (hook: string): GrantName | undefined => (Object.hasOwn(GRANT_OF_HOOK, hook) ? GRANT_OF_HOOK[hook] : undefined);

interface AsksForGrants {
  readonly grants?: readonly { readonly grant: string; readonly optional?: boolean }[];
  readonly hooks?: readonly { readonly name: string }[];
  readonly replace?: string;
}

/** What is wrong with the grants of a manifest, one sentence each. */
export const grantFaults = (manifest: AsksForGrants): string[] => {
  const parsed = (manifest.grants ?? []).map(({ grant }) => parseGrant(grant));
  const faults = parsed.filter((one) => typeof one === 'string');
  const listens = parsed.some((one) => typeof one !== 'string' && one.kind === 'net:listen');
  for (const { grant, optional } of manifest.grants ?? []) if (optional === true && grant.startsWith('routes:')) faults.push(`the grant ${grant} cannot be optional: routes are there from the start`);
  if (listens && manifest.replace !== 'stop-first') faults.push('the grant net:listen needs "replace": "stop-first": two generations cannot hold one port');
  for (const { name } of manifest.hooks ?? []) {
    const needed = grantOfHook(name);
    if (needed !== undefined && !manifest.grants?.some(({ grant }) => grant === needed)) faults.push(`the hook ${name} needs the grant "${needed}": it ${GRANT_KINDS[needed].what}`);
  }
  return faults;
};

/** The grants of a manifest that was validated. Throws what `grantFaults` finds. */
export const grantsOf = (manifest: Parameters<typeof grantFaults>[0]): Grant[] => {
  const faults = grantFaults(manifest);
  if (faults.length > 0) throw new Error(faults.join('; '));
  return (manifest.grants ?? []).map(({ grant }) => parseGrant(grant)).filter((one) => typeof one !== 'string');
};

/** Whether the grants cover this use. `parameter`: the program, the variable, the secret, the port, `host:port`; undefined asks for all of its kind. */
export const isGranted = (grants: readonly Grant[], kind: GrantName, parameter?: string): boolean => grants.some((grant) => grant.kind === kind && covers(grant, parameter));

const covers = ({ kind, parameter: granted }: Grant, wanted: string | undefined): boolean => {
  if (granted === undefined) return true;
  if (wanted === undefined) return false;
  if (kind === 'secrets' && granted.endsWith('*')) return wanted.startsWith(granted.slice(0, -1));
  if (kind === 'children') return Number(wanted) <= Number(granted);
  if (kind === 'routes') return isBelow(wanted, granted);
  return kind === 'net:dial' || kind === 'net:fetch' ? coversHost([granted], wanted) : granted === wanted;
};
