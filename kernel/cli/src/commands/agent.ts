/** `svc agent`: list, spawn from a manifest, kill. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findAgent, listAgents } from '../daemon/agent-lookup.js';
import { confirm } from '../terminal/asking.js';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { table } from '../terminal/layout.js';
import { typed } from '../typed-command.js';

export const define = (program: Command, action: Action): void => {
  const agent = program.command('agent').description('The agents').helpCommand(false);
  agent
    .command('list')
    .description('Every agent you may see')
    .action(action((cli) => list(cli)));
  agent
    .command('spawn')
    .description('Create an agent from a manifest')
    .argument('<manifest>', 'path of an agent.toml; "-" reads it from stdin')
    .option('--name <name>', "another name than the manifest's")
    .action(action((cli, manifest: string, flags: { name?: string }) => spawn(cli, manifest, flags.name)));
  agent
    .command('kill')
    .description('End an agent')
    .argument('<agent>', 'name or id')
    .action(action((cli, wanted: string) => kill(cli, wanted)));
};

const list = async (cli: Cli): Outcome => {
  const agents = await listAgents(await cli.daemon());
  if (cli.json) cli.out.json({ agents, total: agents.length });
  else if (agents.length === 0) cli.out.line(typed('No agents yet. Create one: svc agent spawn MANIFEST.toml'));
  else {
    const rows = agents.map((agent) => [agent.name, agent.state, `${agent.model_provider} / ${agent.model_name}`, agent.id]);
    const { dim, bold } = cli.out;
    const columns = [{ title: 'NAME' }, { title: 'STATE' }, { title: 'MODEL', shrinks: true }, { title: 'ID' }];
    for (const line of table(columns, rows, cli.out.width, (text, column, row) => (row < 0 || column === 3 ? dim(text) : column === 0 ? bold(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

const spawn = async (cli: Cli, manifest: string, name: string | undefined): Outcome => {
  const manifest_toml = await readManifest(manifest);
  const daemon = await cli.daemon();
  const made = await daemon.call('spawnAgent', { body: { manifest_toml, ...(name === undefined ? {} : { name }) } });
  if (cli.json) cli.out.json(made);
  else cli.out.line(`${cli.out.green('✓')} ${cli.out.bold(made.name)} is ready  ${cli.out.dim(made.agent_id)}\n  ${typed(`try  svc chat ${made.name}`)}`);
  return EXIT.ok;
};

const readManifest = async (file: string): Promise<string> => {
  if (file === '-') {
    let text = '';
    for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
    return text;
  }
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Failure(`The manifest ${file} cannot be read.`, { code: 'cli_manifest_unreadable', why: error instanceof Error ? error.message : String(error), mend: 'name the path of an agent.toml' });
  }
};

const kill = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const agent = await findAgent(daemon, wanted);
  if (cli.out.canAsk && !cli.json && !(await confirm(cli, `End ${agent.name} for good? Its sessions go with it, the files of its workspace stay.`))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  await daemon.call('killAgent', { id: agent.id });
  if (cli.json) cli.out.json({ status: 'killed', agent_id: agent.id, name: agent.name });
  else cli.out.line(`${cli.out.green('✓')} ${agent.name} has ended`);
  return EXIT.ok;
};
