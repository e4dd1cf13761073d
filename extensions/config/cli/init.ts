/** `svc init`: from nothing to the first chat. Each part that is there already is left as it is. */
import { type Action, type Cli, type Command, type Outcome, ensureRunning, facts, readStatus, typed } from '@svc/cli/area';
import { firstAgent } from './init/first-agent.js';
import { chosenModel } from './init/first-model.js';
import { firstApprovals } from './init/first-approvals.js';
import { firstProvider } from './init/first-provider.js';

interface Flags {
  readonly provider?: string;
  readonly stdin?: boolean;
  readonly model?: string;
  readonly agent?: string | false;
  readonly approvals?: boolean;
}

export const define = (program: Command, action: Action): void => {
  program
    .command('init')
    .description('Set up svc: start it, set a provider, the default model and an agent. Asks at a terminal; keeps what is there already')
    .option('--provider <name>', 'the provider to use, see `svc providers list`; by default, the one whose key is in the environment')
    .option('--stdin', "read the provider's key from stdin, for scripts")
    .option('--model <model>', 'the default model, see `svc models list`')
    .option('--agent <name>', 'create an agent with this name, unless there is one')
    .option('--no-agent', 'create no agent')
    .option('--approvals', 'let commands and file changes of agents wait for you')
    .action(action((cli, flags: Flags) => init(cli, flags)));
};

const init = async (cli: Cli, flags: Flags): Outcome => {
  const { isStarted } = await ensureRunning(cli);
  const daemon = await cli.daemon();
  const isAsking = cli.out.canAsk && !cli.yes && !cli.json;
  const provider = await firstProvider(cli, daemon, { name: flags.provider, isStdin: flags.stdin === true, isAsking });
  await chosenModel(daemon, { model: flags.model, provider: provider.name, isAsking: isAsking && provider.isNew });
  const file = await daemon.call('createConfig');
  const agent = flags.agent === false ? undefined : await firstAgent(daemon, flags.agent, isAsking);
  const asksFirst = await firstApprovals(cli, daemon, { isWanted: flags.approvals === true, isAsking });
  const { default_model: model = null, default_model_why: why, default_provider: chosen = null } = await readStatus(daemon);
  const { configFile, home } = cli.settings;
  const isBegun = file.status === 'initialized';
  if (cli.json) {
    cli.out.json({
      home,
      url: daemon.url,
      started: isStarted,
      config_file: configFile,
      config: isBegun ? 'created' : 'kept',
      provider: chosen,
      model,
      key: provider.key,
      agent: agent ?? null,
      approvals: asksFirst ?? null,
    });
    return provider.exit;
  }
  const { out } = cli;
  const lines: Array<[string, string]> = [
    ['home', home],
    ['address', `${daemon.url}${isStarted ? '  (started)' : ''}`],
    ['config', `${configFile}  (${isBegun ? 'created' : 'kept as it is'})`],
    ['model', chosen === null ? 'none' : `${chosen} / ${model}`],
    ...(why ? ([['why', why]] satisfies Array<[string, string]>) : []),
    ...(agent === undefined ? [] : ([['agent', `${agent.name}  (${agent.created ? 'created' : 'there already'})`]] satisfies Array<[string, string]>)),
    ...(asksFirst === undefined ? [] : ([['approvals', asksFirst ? 'on: commands and file changes wait for you' : 'off  (svc approvals on)']] satisfies Array<[string, string]>)),
    ['next', agent === undefined ? 'svc agent new' : `svc chat ${agent.name}`],
  ];
  for (const line of provider.lines) out.line(line);
  out.line(`${out.green('✓')} svc is set up.`);
  for (const line of facts(lines, out.width, (text, label) => (label === 'next' ? out.cyan(text) : text))) out.line(line);
  if (provider.isMock) out.note(typed('The built-in mock provider answers; it is not a language model. For a real one: svc providers set-key PROVIDER'));
  return provider.exit;
};
