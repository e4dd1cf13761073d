/** `svc agent edit`: the manifest in a person's editor, validated by the daemon when it is saved. */
import { type Cli, type DaemonClient, EXIT, Failure, type Outcome, confirm, runEditor, wrap } from '@svc/cli/area';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OutputOf } from '@svc/client';
import { findAgent, listAgents } from './agent-lookup.js';
import { diffLines, unifiedDiff } from './text-diff.js';
import { applied } from './apply-manifest.js';
import { parsedManifest, problemsOf } from './manifest-file.js';

/** Beside what the validator of manifests says. */
const AT_FAULT: ReadonlySet<string> = new Set(['agent_already_exists', 'manifest_too_large', 'agents_invalid_manifest', 'agents_unknown_provider']);

type Agent = OutputOf<'getAgent'>;
type Changed = OutputOf<'patchAgent'>;

export const edit = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const agent = await daemon.call('getAgent', { id: (await findAgent(daemon, wanted)).id });
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-edit-')); // for this user only
  const file = path.join(folder, 'agent.toml');
  try {
    await writeFile(file, agent.manifest_toml, { mode: 0o600 });
    const done = await edited(cli, daemon, agent, file);
    if (done !== undefined) return await applied(cli, done.changed, done.diff);
    if (cli.json) cli.out.json({ status: 'unchanged', agent_id: agent.id, name: agent.name, revision: agent.revision });
    else cli.out.line('Nothing was changed.');
    return EXIT.ok;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Undefined where the person left it as it was. Throws when they give up. */
const edited = async (cli: Cli, daemon: DaemonClient, agent: Agent, file: string): Promise<{ changed: Changed; diff: string } | undefined> => {
  for (;;) {
    await runEditor(cli, file, `svc agent edit ${agent.name}`);
    const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
    if (text === agent.manifest_toml) return undefined;
    const diff = unifiedDiff(agent.manifest_toml, text, [`${agent.name} (before)`, `${agent.name} (now)`]);
    try {
      const changed = await sent(daemon, agent, text);
      if (!cli.json) for (const line of diffLines(diff, cli.out)) cli.out.line(line);
      return { changed, diff };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!(await isAgain(cli, error))) throw await withText(error, agent, file);
    }
  }
};

/** What stands in the text, the name as well: a whole manifest alone renames nobody. */
const sent = async (daemon: DaemonClient, { id, name, revision }: Agent, text: string): Promise<Changed> => {
  const { name: wanted } = await parsedManifest(text, 'Your text');
  const isRenamed = typeof wanted === 'string' && wanted !== name;
  // The name comes second, so that it is looked at first: what is refused shall be refused whole.
  if (isRenamed && (await listAgents(daemon)).some((other) => other.name === wanted)) throw new Failure(`An agent named "${wanted}" already exists.`, { code: 'agent_already_exists', status: 409 });
  const changed = await daemon.call('patchAgent', { id, body: { manifest_toml: text, revision } });
  if (!isRenamed) return changed;
  const renamed = await daemon.call('patchAgent', { id, body: { name: wanted, revision: changed.revision } });
  // The warnings of the first are about the manifest, but for the one that the name stays.
  const warnings = (changed.warnings ?? []).filter((warning) => !warning.startsWith('The agent keeps its name'));
  return { ...renamed, warnings };
};

/** Where the text is at fault: shows what is wrong, and asks whether to go back. */
const isAgain = async (cli: Cli, failure: Failure): Promise<boolean> => {
  const problems = problemsOf(failure) ?? (AT_FAULT.has(failure.code) || failure.exit === EXIT.refused ? [failure.message] : undefined);
  if (problems === undefined || !cli.out.canAsk || cli.json || cli.yes) return false;
  for (const problem of problems) for (const line of wrap(problem, cli.out.width)) cli.out.note(cli.out.red(line));
  return confirm(cli, 'Your changes are invalid. Back to the editor?');
};

/** The work of the person outlives the command. */
const withText = async (failure: Failure, { name }: Agent, file: string): Promise<Failure> => {
  const savedFile = path.join(await mkdtemp(path.join(tmpdir(), 'svc-rejected-')), `${path.basename(name).replace(/[^\w.-]/g, '_')}.toml`);
  await copyFile(file, savedFile);
  const { code, details, exit, message, requestId, status } = failure;
  return new Failure(message, {
    code,
    details,
    exit,
    requestId,
    ...(status === undefined ? {} : { status }),
    why: `your text is in ${savedFile}`,
    fix: `fix it, then svc agent apply ${savedFile} --name ${name}`,
  });
};
