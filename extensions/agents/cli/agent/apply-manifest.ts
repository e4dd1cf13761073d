/** `svc agent apply`: an agent becomes what a file says. */
import { type Cli, EXIT, Failure, type Outcome, confirm, usageFailure } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { listAgents } from './agent-lookup.js';
import { diffLines } from './text-diff.js';
import { manifestDiff } from './manifest-diff.js';
import { parsedManifest, readManifest } from './manifest-file.js';
import { say } from './new-agent.js';

interface ApplyFlags {
  readonly name?: string;
  readonly dryRun?: boolean;
}

export const apply = async (cli: Cli, file: string, flags: ApplyFlags): Outcome => {
  const text = await readManifest(file);
  const manifest = await parsedManifest(text, file);
  const name = flags.name ?? manifest.name;
  if (typeof name !== 'string' || name === '') throw usageFailure(`${file} does not name its agent.`, `svc agent apply ${file} --name NAME`);
  const daemon = await cli.daemon();
  const row = (await listAgents(daemon)).find((agent) => agent.name === name);
  if (row === undefined) {
    if (flags.dryRun) return would(cli, name, 'create', '');
    return say(cli, await daemon.call('spawnAgent', { body: { manifest_toml: text, name } }));
  }
  const agent = await daemon.call('getAgent', { id: row.id });
  const diff = await manifestDiff(agent, manifest);
  if (flags.dryRun || diff === '') return would(cli, name, diff === '' ? 'nothing' : 'change', diff);
  if (!cli.json) for (const line of diffLines(diff, cli.out)) cli.out.line(line);
  if (!(await confirm(cli, `Apply this to ${name}?`))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const body = { manifest_toml: text, revision: agent.revision };
  return applied(cli, await daemon.call('patchAgent', { id: agent.id, body }).catch((error: unknown) => again(error, file)), diff);
};

/** The difference that was agreed to is not that difference any more. */
const again = (error: unknown, file: string): never => {
  if (!(error instanceof Failure) || error.code !== 'agents_changed_meanwhile') throw error;
  throw new Failure('Nothing was changed: someone else has changed this agent.', { code: error.code, fix: `svc agent apply ${file}   shows the changes again`, requestId: error.requestId });
};

const WOULD = { create: 'would be created', change: 'would change', nothing: 'is unchanged' } as const;

const would = async (cli: Cli, name: string, what: keyof typeof WOULD, diff: string): Outcome => {
  const status = { create: 'would_create', change: 'would_change', nothing: 'unchanged' }[what];
  if (cli.json) cli.out.json({ status, name, diff });
  else {
    if (diff !== '') for (const line of diffLines(diff, cli.out)) cli.out.line(line);
    cli.out.line(`${what === 'nothing' ? `${cli.out.green('✓')} ` : ''}${name} ${WOULD[what]}`);
  }
  return EXIT.ok;
};

/** Also what `svc agent edit` ends with. */
export const applied = async (cli: Cli, { agent_id, name, revision, warnings = [] }: Omit<OutputOf<'patchAgent'>, 'status'>, diff: string): Outcome => {
  if (cli.json) cli.out.json({ status: 'updated', agent_id, name, revision, diff, warnings });
  else {
    cli.out.line(`${cli.out.green('✓')} ${name} is at revision ${revision}; active runs keep the previous version`);
    for (const warning of warnings) cli.out.note(cli.out.yellow(warning));
  }
  return EXIT.ok;
};
