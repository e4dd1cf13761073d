/** `svc skills update`: what would change is shown before, and what a skill asks for more is agreed to. */
import { type Action, agreesAtTerminal, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome } from '@svc/cli/area';
import type { InputOf, OutputOf } from '@svc/client';

interface UpdateFlags {
  readonly check?: boolean;
  readonly acceptMore?: boolean;
  readonly discardEdits?: boolean;
}

type Skill = OutputOf<'listSkills'>['skills'][number];
type Plan = OutputOf<'planSkillInstall'>;
type Choices = Pick<NonNullable<InputOf<'installSkill'>['body']>, 'expected_sha256' | 'discard_edits' | 'accept_findings'>;

interface Updated {
  readonly name: string;
  readonly status: 'updated' | 'current' | 'available' | 'skipped' | 'failed';
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly adds: readonly string[];
}

/** Where the next version of a skill is asked for. */
interface Origin {
  plan(): Promise<Plan>;
  install(choices: Choices): Promise<unknown>;
}

const LONG_MS = 320_000;

export const define = (program: Command, action: Action): void => {
  program
    .command('skills')
    .description('Skills of agents: read, install, update, remove')
    .helpCommand(false)
    .command('update')
    .description('Get skills anew from where they were installed from; by default, all of them')
    .argument('[names...]')
    .option('--check', 'show what would change, and change nothing')
    .option('--accept-more', 'also if it asks for more than the installed version: tools, programs, variables, hosts, findings')
    .option('--discard-edits', 'also over files that were changed by hand')
    .action(action((cli, names: string[], flags: UpdateFlags) => update(cli, names, flags)));
};

const update = async (cli: Cli, names: readonly string[], flags: UpdateFlags): Outcome => {
  const daemon = await cli.daemon();
  const { skills } = await daemon.call('listSkills');
  const unknown = names.find((name) => !skills.some((skill) => skill.name === name));
  if (unknown !== undefined) throw new Failure(`There is no skill "${unknown}".`, { code: 'skills_not_found', fix: '`svc skills list` shows those that are installed' });
  const chosen = skills.filter(({ name, source }) => (names.length === 0 ? source.type !== 'bundled' : names.includes(name)));
  const done: Updated[] = [];
  for (const skill of chosen) {
    const one = await updated(cli, daemon, skill, flags);
    done.push(one);
    if (!cli.json) cli.out.line(lineOf(cli, one));
  }
  if (cli.json) cli.out.json({ updates: done, total: done.length });
  else if (done.length === 0) cli.out.line('No skills are installed.');
  // Of all, those that nothing can be asked for are no failure.
  return done.some(({ status, adds }) => status === 'failed' || (status === 'skipped' && (names.length > 0 || adds.length > 0))) ? EXIT.failed : EXIT.ok;
};

const lineOf = (cli: Cli, { name, status, from, to, reason }: Updated): string => {
  const what = { updated: `updated from ${from} to ${to}`, current: `${from} is the newest`, available: `${to} is there; ${from} is installed`, skipped: 'not updated', failed: 'not updated' }[status];
  return `${status === 'updated' || status === 'current' ? cli.out.green('✓') : status === 'failed' ? cli.out.red('✗') : '·'} ${name}: ${what}${reason === '' ? '' : `. ${reason}`}`;
};

const originOf = (daemon: DaemonClient, { source: { type, from, slug, owner, path } }: Skill): Origin | string => {
  const patience = { timeoutMs: LONG_MS };
  if (type === 'bundled') return 'It comes with svc.';
  if (type === 'skillhub-cn') return 'It is from the mirror of a hub, which installs nothing.';
  if (type === 'skillhub' && slug !== undefined) {
    const wanted = { slug, ...(owner === undefined ? {} : { owner }) };
    return {
      plan: () => daemon.call('planSkillhubInstall', { body: wanted }, patience),
      install: (choices) => daemon.call('installSkillhubSkill', { body: { ...wanted, ...choices, replace: true } }, patience),
    };
  }
  if (from === undefined) return 'It was written here, so there is nowhere to get it anew from.';
  const wanted = { ...(type === 'registry' ? { name: from } : { source: from }), ...(path === undefined ? {} : { path }) };
  return {
    plan: () => daemon.call('planSkillInstall', { body: wanted }, patience),
    install: (choices) => daemon.call('installSkill', { body: { ...wanted, ...choices, replace: true } }, patience),
  };
};

const updated = async (cli: Cli, daemon: DaemonClient, skill: Skill, flags: UpdateFlags): Promise<Updated> => {
  const { name, version: from } = skill;
  const said = (status: Updated['status'], reason = '', more: { to?: string; adds?: readonly string[] } = {}): Updated => ({ name, status, from, to: from, reason, adds: [], ...more });
  const origin = originOf(daemon, skill);
  if (typeof origin === 'string') return said('skipped', origin);
  try {
    const plan = await origin.plan();
    const more = { to: plan.version, adds: plan.adds };
    if (plan.name !== name) return said('failed', `What is there now is the skill ${plan.name}.`);
    const isSame = plan.removed_files.length === 0 && plan.files.every(({ change }) => change === 'same');
    if (isSame) return said('current');
    if (!cli.json) show(cli, from, plan);
    if (flags.check) return said('available', '', more);
    if (plan.edited_files.length > 0 && !flags.discardEdits) return said('skipped', `Changed by hand: ${plan.edited_files.join(', ')}. Repeat with --discard-edits to overwrite that.`, more);
    const refusal = await refused(cli, name, plan, flags);
    if (refusal !== undefined) return said('skipped', refusal, more);
    await origin.install({ expected_sha256: plan.digest, ...(flags.discardEdits ? { discard_edits: true } : {}), ...(plan.risk === 'critical' ? { accept_findings: true } : {}) });
    return said('updated', '', more);
  } catch (error) {
    return said('failed', (error as Error).message);
  }
};

const show = (cli: Cli, from: string, { name, version, diff, adds }: Plan): void => {
  cli.out.line(`${name}: ${from === version ? `${version}, with other files` : `${from} → ${version}`}`);
  if (diff !== '') cli.out.line(diff.trimEnd());
  if (adds.length > 0) cli.out.line(`It asks for more than ${from}:\n${adds.map((one) => `  + ${one}`).join('\n')}`);
};

/** What it was allowed before it may still; what is new needs a word of a person. */
const refused = async (cli: Cli, name: string, { adds }: Plan, { acceptMore }: UpdateFlags): Promise<string | undefined> => {
  if (adds.length > 0 && !acceptMore && (cli.yes || cli.json || !cli.out.canAsk)) return `It asks for more: ${adds.join(', ')}. Read that, and repeat with --accept-more.`;
  if (acceptMore) return undefined;
  return (await agreesAtTerminal(cli, adds.length > 0 ? `Update ${name}, with what it asks for?` : `Update ${name}?`)) ? undefined : 'You said no.';
};
