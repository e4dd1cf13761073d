/** `svc agent`: the agents. What a subcommand does is loaded with it. */
import { type Action, type Cli, type Command, EXIT, type Outcome, agoText, agreesAtTerminal, table, typed } from '@svc/cli/area';
import { agentNamed, listAgents } from './agent/agent-lookup.js';

const AGENT = 'name or id';

export const define = (program: Command, action: Action): void => {
  const agent = program.command('agent').description('The agents').helpCommand(false);
  agent
    .command('list')
    .description('Every agent you may see')
    .action(action((cli) => list(cli)));
  agent
    .command('new')
    .description('Create an agent: asks for what is left out at a terminal')
    .argument('[name]', "what it is called; the template's name when left out")
    .option('--template <name>', 'begin from a template, see `svc agent templates`')
    .option('--model <model>', "another model than the template's, see `svc models list`")
    .action(action(async (cli, name: string | undefined, flags: { template?: string; model?: string }) => (await import('./agent/new-agent.js')).create(cli, name, flags)));
  agent
    .command('spawn')
    .description('Create an agent from a manifest')
    .argument('<manifest>', 'path of an agent.toml; "-" reads it from stdin')
    .option('--name <name>', "another name than the manifest's")
    .action(action(async (cli, manifest: string, flags: { name?: string }) => (await import('./agent/new-agent.js')).spawn(cli, manifest, flags.name)));
  agent
    .command('templates')
    .description('What `svc agent new` can begin from')
    .action(action(async (cli) => (await import('./agent/new-agent.js')).listTemplates(cli)));
  agent
    .command('show')
    .description('What one is, may do and costs')
    .argument('<agent>', AGENT)
    .option('--toml', 'print its manifest instead')
    .action(action(async (cli, wanted: string, flags: { toml?: boolean }) => (await import('./agent/show-agent.js')).show(cli, wanted, flags.toml === true)));
  defineChanges(agent, action);
  agent
    .command('kill')
    .aliases(['rm', 'delete', 'remove'])
    .description('End agents')
    .argument('<agents...>', 'names or ids')
    .action(action((cli, wanted: string[]) => kill(cli, wanted)));
};

const defineChanges = (agent: Command, action: Action): void => {
  agent
    .command('edit')
    .description('Open its manifest in $VISUAL or $EDITOR; what you save is judged, shown and applied')
    .argument('<agent>', AGENT)
    .action(action(async (cli, wanted: string) => (await import('./agent/edit-agent.js')).edit(cli, wanted)));
  agent
    .command('apply')
    .description('Make an agent be as a manifest says: creates it, or shows what would change and asks')
    .argument('<manifest>', 'path of an agent.toml; "-" reads it from stdin')
    .option('--name <name>', "of another agent than the manifest's")
    .option('--dry-run', 'show what would change, and change nothing')
    .action(action(async (cli, manifest: string, flags: { name?: string; dryRun?: boolean }) => (await import('./agent/apply-manifest.js')).apply(cli, manifest, flags)));
  agent
    .command('set')
    .description('Change one thing: model, provider, mode, name, description, system_prompt, temperature, max_tokens, tags, a look, or a key of the manifest such as resources.max_cost_per_day_usd')
    .argument('<agent>', AGENT)
    .argument('<key>')
    .argument('<value>', 'text, number, true, or a list as in TOML: \'["a", "b"]\'; put -- before one that begins with a dash')
    .action(action(async (cli, wanted: string, key: string, value: string) => (await import('./agent/set-key.js')).set(cli, wanted, key, value)));
  agent
    .command('clone')
    .description('Make another agent like this one, with an empty workspace and no conversation')
    .argument('<agent>', AGENT)
    .argument('[name]', '<agent>-copy when left out')
    .action(action(async (cli, wanted: string, name: string | undefined) => (await import('./agent/new-agent.js')).clone(cli, wanted, name)));
};

const list = async (cli: Cli): Outcome => {
  const agents = await listAgents(await cli.daemon());
  if (cli.json) cli.out.json({ agents, total: agents.length });
  else if (agents.length === 0) cli.out.line(typed('No agents yet. Create one: svc agent new'));
  else {
    const now = Date.now();
    const stateOf = ({ mode, state }: (typeof agents)[number]): string => (mode === undefined || mode === 'Normal' ? state : `${state}, ${mode}`);
    const rows = agents.map((agent) => [agent.name, stateOf(agent), `${agent.model_provider} / ${agent.model_name}`, agent.last_active ? agoText(agent.last_active, now) : 'never', agent.id]);
    const { dim, bold } = cli.out;
    const columns = [{ title: 'NAME' }, { title: 'STATE' }, { title: 'MODEL', shrinks: true }, { title: 'LAST RUN', givesWay: true }, { title: 'ID' }];
    for (const line of table(columns, rows, cli.out.width, (text, column, row) => (row < 0 || column >= 3 ? dim(text) : column === 0 ? bold(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

const kill = async (cli: Cli, wanted: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const agents = await listAgents(daemon);
  // All are found before the first one ends.
  const found = [...new Set(wanted.map((one) => agentNamed(agents, one)))];
  const names = found.map(({ name }) => name).join(', ');
  const goes = found.length === 1 ? 'Its sessions go with it, the files of its workspace stay.' : 'Their sessions go with them, the files of their workspaces stay.';
  if (!(await agreesAtTerminal(cli, `End ${names} for good? ${goes}`))) return EXIT.ok;
  for (const { id } of found) await daemon.call('killAgent', { id });
  const [first] = found;
  if (cli.json) cli.out.json({ status: 'killed', agent_id: first?.id, name: first?.name, killed: found.map(({ id, name }) => ({ agent_id: id, name })) });
  else cli.out.line(`${cli.out.green('✓')} ${names} ${found.length === 1 ? 'has' : 'have'} ended`);
  return EXIT.ok;
};
