/** `svc agent`: the agents. What a subcommand does is loaded with it. */
import { type Action, type Cli, type Command, EXIT, type Outcome, agoText, agreesAtTerminal, table, typed } from '@svc/cli/area';
import { agentNamed, listAgents } from './agent/agent-lookup.js';

const AGENT = 'name or id';

export const define = (program: Command, action: Action): void => {
  const agent = program.command('agent').description('Manage agents').helpCommand(false);
  agent
    .command('list')
    .description('List agents')
    .option('--deleted', 'deleted agents that can be restored')
    .action(action((cli, flags: { deleted?: boolean }) => list(cli, flags.deleted === true)));
  agent
    .command('new')
    .description('Create an agent; asks for missing values at a terminal')
    .argument('[name]', "the agent's name; by default, the template's")
    .option('--template <name>', 'start from a template, see `svc agent templates`')
    .option('--model <model>', "the model to use instead of the template's, see `svc models list`")
    .action(action(async (cli, name: string | undefined, flags: { template?: string; model?: string }) => (await import('./agent/new-agent.js')).create(cli, name, flags)));
  agent
    .command('spawn')
    .description('Create an agent from a manifest')
    .argument('<manifest>', 'path of an agent.toml; "-" reads it from stdin')
    .option('--name <name>', "the name to use instead of the manifest's")
    .option('--dry-run', 'validate the manifest and create nothing')
    .action(action(async (cli, manifest: string, flags: { dryRun?: boolean; name?: string }) => (await import('./agent/new-agent.js')).spawn(cli, manifest, flags)));
  agent
    .command('templates')
    .description('List the templates for `svc agent new`')
    .action(action(async (cli) => (await import('./agent/new-agent.js')).listTemplates(cli)));
  agent
    .command('show')
    .description('Show an agent, its permissions and costs')
    .argument('<agent>', AGENT)
    .option('--toml', 'print its manifest instead')
    .action(action(async (cli, wanted: string, flags: { toml?: boolean }) => (await import('./agent/show-agent.js')).show(cli, wanted, flags.toml === true)));
  defineChanges(agent, action);
  agent
    .command('kill')
    .aliases(['rm', 'delete', 'remove'])
    .description('Delete agents')
    .argument('<agents...>', 'names or ids')
    .option('--erase', 'at once, so that nobody can restore them; also those that were deleted before')
    .action(action((cli, wanted: string[], flags: { erase?: boolean }) => kill(cli, wanted, flags.erase === true)));
  agent
    .command('restore')
    .description('Restore deleted agents, with their conversations and data')
    .argument('<agents...>', 'names or ids')
    .action(action(async (cli, wanted: string[]) => (await import('./agent/restore-agents.js')).restore(cli, wanted)));
};

const defineChanges = (agent: Command, action: Action): void => {
  agent
    .command('edit')
    .description("Edit an agent's manifest in $VISUAL or $EDITOR; svc validates what you save, shows the changes and applies them")
    .argument('<agent>', AGENT)
    .action(action(async (cli, wanted: string) => (await import('./agent/edit-agent.js')).edit(cli, wanted)));
  agent
    .command('apply')
    .description('Apply a manifest: create the agent, or show the changes and ask')
    .argument('<manifest>', 'path of an agent.toml; "-" reads it from stdin')
    .option('--name <name>', "the agent to change instead of the manifest's")
    .option('--dry-run', 'only show what would change')
    .action(action(async (cli, manifest: string, flags: { name?: string; dryRun?: boolean }) => (await import('./agent/apply-manifest.js')).apply(cli, manifest, flags)));
  agent
    .command('set')
    .description('Change one value: model, provider, mode, name, description, system_prompt, temperature, max_tokens, tags, a look, or a key of the manifest such as resources.max_cost_per_day_usd')
    .argument('<agent>', AGENT)
    .argument('<key>')
    .argument('<value>', 'text, number, true, or a list as in TOML: \'["a", "b"]\'; put -- before one that begins with a dash')
    .action(action(async (cli, wanted: string, key: string, value: string) => (await import('./agent/set-key.js')).set(cli, wanted, key, value)));
  agent
    .command('clone')
    .description('Clone an agent, with an empty workspace and no conversations')
    .argument('<agent>', AGENT)
    .argument('[name]', 'by default, <agent>-copy')
    .action(action(async (cli, wanted: string, name: string | undefined) => (await import('./agent/new-agent.js')).clone(cli, wanted, name)));
};

const list = async (cli: Cli, isDeleted: boolean): Outcome => {
  const agents = await listAgents(await cli.daemon(), isDeleted ? { deleted: 'only' } : {});
  if (cli.json) cli.out.json({ agents, total: agents.length });
  else if (agents.length === 0) cli.out.line(isDeleted ? 'No deleted agent can be restored.' : typed('No agents yet. Create one: svc agent new'));
  else {
    const now = Date.now();
    const stateOf = ({ mode, restorable_until: until, state }: (typeof agents)[number]): string =>
      until !== undefined ? `until ${until.slice(0, 10)}` : mode === undefined || mode === 'Normal' ? state : `${state}, ${mode}`;
    const rows = agents.map((agent) => [agent.name, stateOf(agent), `${agent.model_provider} / ${agent.model_name}`, agent.last_active ? agoText(agent.last_active, now) : 'never', agent.id]);
    const { dim, bold } = cli.out;
    const columns = [{ title: 'NAME' }, { title: 'STATE' }, { title: 'MODEL', shrinks: true }, { title: 'LAST RUN', givesWay: true }, { title: 'ID' }];
    for (const line of table(columns, rows, cli.out.width, (text, column, row) => (row < 0 || column >= 3 ? dim(text) : column === 0 ? bold(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

const kill = async (cli: Cli, wanted: readonly string[], erase: boolean): Outcome => {
  const daemon = await cli.daemon();
  const agents = [...(await listAgents(daemon)), ...(erase ? await listAgents(daemon, { deleted: 'only' }) : [])];
  // All are found before the first one ends.
  const found = [...new Set(wanted.map((one) => agentNamed(agents, one)))];
  const names = found.map(({ name }) => name).join(', ');
  const goes = found.length === 1 ? 'Its sessions go with it. Files in its workspace stay.' : 'Their sessions go with them. Files in their workspaces stay.';
  if (!(await agreesAtTerminal(cli, `${erase ? 'Erase' : 'Delete'} ${names}? ${goes}${erase ? ' This cannot be undone.' : ''}`))) return EXIT.ok;
  let until: string | null = null;
  for (const { id } of found) until = (await daemon.call('killAgent', { id, ...(erase ? { erase } : {}) })).restorable_until ?? until;
  const [first] = found;
  if (cli.json) cli.out.json({ status: 'killed', agent_id: first?.id, name: first?.name, killed: found.map(({ id, name }) => ({ agent_id: id, name })), restorable_until: until });
  else {
    const later = until === null ? '' : typed(`; until ${until.slice(0, 10)}: svc agent restore ${found.map(({ id }) => id).join(' ')}`);
    cli.out.line(`${cli.out.green('✓')} ${names} ${found.length === 1 ? 'has' : 'have'} ended${later}`);
  }
  return EXIT.ok;
};
