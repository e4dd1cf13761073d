/** `svc chat`: a conversation. Ctrl-C stops the answer; twice leaves. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, choose, usageFailure } from '@svc/cli/area';
import { type AgentRow, findAgent, listAgents } from '@svc/ext-agents/cli';

interface ChatOptions {
  readonly cost?: boolean;
}

export const define = (program: Command, action: Action): void => {
  program
    .command('chat')
    .description('Chat with an agent. /help lists the commands, @FILE attaches a file, /exit leaves.')
    .argument('[agent]', 'name or id; by default, you are asked if there is more than one')
    .option('--cost', 'show tokens and cost after each answer')
    .action(action((cli, agent: string | undefined, options: ChatOptions) => chat(cli, agent, options)));
};

const chat = async (cli: Cli, wanted: string | undefined, { cost = false }: ChatOptions): Outcome => {
  if (cli.json) throw usageFailure('svc chat has no --json.', 'svc message AGENT TEXT --json');
  const daemon = await cli.daemon();
  const agent = wanted === undefined ? await pickAgent(cli, daemon) : await findAgent(daemon, wanted);
  if (!cli.out.canAsk) {
    const { chatOverPipe } = await import('./chat/piped.js');
    return (await chatOverPipe(cli, daemon, agent)) ? EXIT.ok : EXIT.failed;
  }
  const { chatAtTerminal } = await import('./chat/at-terminal.js');
  await chatAtTerminal(cli, daemon, agent, cost);
  return EXIT.ok;
};

const pickAgent = async (cli: Cli, daemon: DaemonClient): Promise<AgentRow> => {
  const agents = await listAgents(daemon);
  const [first] = agents;
  if (first === undefined) throw new Failure('There are no agents yet.', { code: 'cli_no_agents', fix: 'svc agent new' });
  if (agents.length === 1) return first;
  if (!cli.out.canAsk) throw usageFailure(`There are ${agents.length} agents; name one.`, `svc chat ${first.name}`);
  return choose(
    'Which agent?',
    agents.map((agent) => ({ value: agent, label: agent.name, hint: `${agent.model_provider} / ${agent.model_name}` })),
  );
};
