/** `svc ext install`, `upgrade`, `rollback` and `remove`: what a package wants is shown, and asked for, before it is there. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { PackageOffer } from '@svc/api';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { agreesAtTerminal, askText, confirm } from '../terminal/asking.js';
import type { Step } from './follow-steps.js';
import { offerLines, offerOf } from './offer-view.js';
import { type Operator, operatorOf } from './operator.js';
import { stepLine } from './step-line.js';

export interface ConsentFlags {
  /** `all`, or each by its name. */
  readonly grant?: readonly string[];
  readonly trustKey?: boolean;
}

export interface InstallFlags extends ConsentFlags {
  readonly enable?: boolean;
  readonly link?: boolean;
}

export interface UpgradeFlags extends ConsentFlags {
  readonly to?: string;
  readonly downgrade?: boolean;
  readonly dryRun?: boolean;
}

interface Agreed {
  grants?: 'all' | string[];
  digest?: string;
  trust_key?: boolean;
}

export const install = async (cli: Cli, given: string, flags: InstallFlags): Outcome => {
  const operator = await operatorOf(cli);
  const name = sourceOf(given);
  const wanted = { name, ...(flags.link === true ? { link: true } : {}), ...(flags.enable === true && operator.isRunning ? { enable: true } : {}) };
  const done = await withConsent(cli, flags, (agreed, onStep) => operator.install({ ...wanted, ...agreed }, onStep));
  if (!done) return EXIT.ok;
  if (cli.json) cli.out.json({ ...done, from: operator.isRunning ? 'now' : 'next_start' });
  else cli.out.line(`${cli.out.green('✓')} ${done.name} is installed${stateWords(operator, done, flags)}`);
  return EXIT.ok;
};

const stateWords = ({ isRunning }: Operator, { connected, name }: { connected: boolean; name: string }, { enable }: InstallFlags): string => {
  if (!isRunning) return ` from the next start on; the daemon is not running. Then: svc ext enable ${name}`;
  if (connected) return ', and on.';
  return enable === true ? `, but not on: svc ext why ${name}` : `. Switch it on: svc ext enable ${name}`;
};

export const upgrade = async (cli: Cli, id: string, flags: UpgradeFlags): Outcome => {
  const operator = await operatorOf(cli);
  const wanted = {
    ...(flags.to === undefined ? {} : { source: await targetOf(cli, operator, id, flags.to) }),
    ...(flags.dryRun === true ? { dry_run: true } : {}),
    ...(flags.downgrade === true ? { downgrade: true } : {}),
  };
  const done = await withConsent(cli, flags, (agreed, onStep) => operator.upgrade(id, { ...wanted, ...agreed }, onStep));
  if (!done) return EXIT.ok;
  const { offer, status, version } = done;
  if (cli.json) cli.out.json({ status, version, offer, from: operator.isRunning ? 'now' : 'next_start' });
  else if (status === 'same') cli.out.line(`${cli.out.green('✓')} ${id} is at ${version}: no newer version at its source.`);
  else if (status === 'offered') {
    for (const line of offerLines(offer, cli.out)) cli.out.line(line);
    cli.out.line('Nothing was changed.');
  } else cli.out.line(`${cli.out.green('✓')} ${id} is at ${version}${operator.isRunning ? '' : ' from the next start on'}. To go back: svc ext rollback ${id}`);
  return EXIT.ok;
};

export const rollback = async (cli: Cli, id: string): Outcome => {
  const operator = await operatorOf(cli);
  const version = await operator.rollback(id);
  if (cli.json) cli.out.json({ status: 'rolled_back', name: id, version, from: operator.isRunning ? 'now' : 'next_start' });
  else cli.out.line(`${cli.out.green('✓')} ${id} is back at ${version}${operator.isRunning ? '' : ' from the next start on'}. Its rows stay as they are now.`);
  return EXIT.ok;
};

export interface RemoveFlags {
  readonly purge?: boolean;
  readonly confirm?: string;
}

export const remove = async (cli: Cli, id: string, { confirm: typed, purge = false }: RemoveFlags): Outcome => {
  const operator = await operatorOf(cli);
  if (purge && typed !== id) await confirmPurge(cli, id);
  else if (!purge && !(await agreesAtTerminal(cli, `Remove ${id}? Its stored data is kept.`))) return EXIT.ok;
  await operator.remove(id, purge);
  if (cli.json) cli.out.json({ status: 'uninstalled', name: id, purged: purge });
  else cli.out.line(`${cli.out.green('✓')} ${id} is removed${purge ? ', with all its stored data' : '; its stored data is kept in case you install it again'}.`);
  return EXIT.ok;
};

/** Rows and secrets do not come back: the id is typed, by a person or in the script. */
const confirmPurge = async (cli: Cli, id: string): Promise<void> => {
  if (!cli.out.canAsk || cli.json) throw usageFailure(`--purge deletes the tables, files and secrets of ${id} away for good.`, `svc ext remove ${id} --purge --confirm ${id}`);
  const answer = await askText(`This deletes the tables, files and secrets of ${id} permanently. Type its id to continue`, '', (text) =>
    text === id || text === '' ? undefined : 'The id does not match.',
  );
  if (answer !== id) throw new Failure('Nothing was changed.', { code: 'cli_interrupted', exit: EXIT.interrupted });
};

/** Asks at a terminal where the first attempt says that somebody has to agree. Undefined when they do not. */
const withConsent = async <T>(cli: Cli, flags: ConsentFlags, work: (agreed: Agreed, onStep: (step: Step) => void) => Promise<T>): Promise<T | undefined> => {
  const line = stepLine(cli.out);
  const attempt = (agreed: Agreed): Promise<T> => work(agreed, line.show).finally(line.end);
  const given = consentOf(flags);
  try {
    return await attempt(given);
  } catch (error) {
    if (!isQuestion(error)) throw error;
    const offer = offerOf(error.details);
    if (!offer) throw error;
    if (!cli.out.canAsk || cli.json) throw inScript(error, offer);
    for (const text of offerLines(offer, cli.out)) cli.out.note(text);
    if (await confirm(cli, questionOf(offer))) return attempt({ grants: given.grants ?? 'all', digest: offer.digest, ...(offer.key?.standing === 'unknown' ? { trust_key: true } : {}) });
    cli.out.line('Nothing was changed.');
    return undefined;
  }
};

const isQuestion = (error: unknown): error is Failure => error instanceof Failure && (error.code === 'install_needs_consent' || error.code === 'install_unknown_key');

const questionOf = ({ id, key, replaces, version }: PackageOffer): string =>
  `${replaces ? `Upgrade ${id} to ${version}` : `Install ${id} ${version}`}${key?.standing === 'unknown' ? ', and trust its key' : ''}?`;

/** What a script has to say so that nobody is asked. */
const inScript = (error: Failure, offer: PackageOffer): Failure => {
  const flags = `--grant all${offer.key?.standing === 'unknown' ? ' --trust-key' : ''}`;
  return new Failure(error.message, {
    code: error.code,
    fix: `review its permissions (--json shows them), then repeat the command with ${flags}`,
    details: offer,
    ...(error.status === undefined ? {} : { status: error.status }),
  });
};

const consentOf = ({ grant, trustKey }: ConsentFlags): Agreed => ({
  ...(grant === undefined ? {} : { grants: grant.includes('all') ? ('all' as const) : [...grant] }),
  ...(trustKey === true ? { trust_key: true } : {}),
});

/** Paths are this shell's: the daemon works elsewhere. */
const sourceOf = (given: string): string => {
  if (given.startsWith('~/')) return path.join(homedir(), given.slice(2));
  const isPath = /^\.{0,2}(?:\/|$)/.test(given) || given === '.' || given === '..' || (/\.(?:tgz|tar\.gz)$/.test(given) && !given.includes('://'));
  if (isPath) return path.resolve(given);
  // A folder of this name is not what somebody means who names an extension.
  if (existsSync(given) && given.includes('/') && !given.includes(':') && !given.startsWith('@')) return path.resolve(given);
  return given;
};

/** `--to 2.0.0` is another version where it came from npm; anything else is a source. */
const targetOf = async (cli: Cli, operator: Operator, id: string, to: string): Promise<string> => {
  if (!/^[\^~<>=]*\d/.test(to)) return sourceOf(to);
  const source = operator.isRunning ? (await (await cli.daemon()).call('getExtension', { name: id })).origin?.source : undefined;
  const name = /^(?:npm:)?((?:@[^@/]+\/)?[a-z0-9][^@/:]*)(?:@.*)?$/.exec(source ?? '')?.[1];
  if (name === undefined) throw usageFailure(`${id} did not come from npm, so "${to}" names no package.`, `svc ext upgrade ${id} --to SOURCE   as svc ext install takes it`);
  return `npm:${name}@${to}`;
};
