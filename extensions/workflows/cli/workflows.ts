/** `svc workflows create FILE` and `svc workflows run ID --watch`; the other commands are data in src/commands.ts. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type Action, type Cli, type Command, type DaemonClient, duration, EXIT, type ExitCode, Failure, loadToml, type Outcome, printable, readStdin, usageFailure } from '@svc/cli/area';
import type { InputOf, OutputOf } from '@svc/client';
import { parse as parseYaml } from 'yaml';

type Run = OutputOf<'getWorkflowRun'>;
type Result = Run['step_results'][number];
type Draft = InputOf<'createWorkflow'>['body'];

const LOOK_MS = 300;
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);
const SIGNS: Readonly<Record<string, string>> = { done: '✓', failed: '✗', cancelled: '✗', skipped: '-', waiting: '?', running: '…' };

export const define = (program: Command, action: Action): void => {
  const workflows = program.command('workflows').description('Steps of several agents').helpCommand(false);
  workflows
    .command('create')
    .description('Create a workflow from a TOML, YAML or JSON file')
    .argument('[file]', 'name.toml, name.yaml or name.json; - is stdin')
    .option('--file <file>', 'the same')
    .action(action((cli, file: string | undefined, options: { file?: string }) => create(cli, file ?? options.file)));
  workflows
    .command('run')
    .description('Run a workflow and show its output')
    .argument('<id>', 'Workflow id')
    .argument('[input]', 'a text, or a JSON object whose keys are variables')
    .option('--watch', 'show each step, what it cost and how long it took while it runs')
    .action(action((cli, id: string, input: string | undefined, options: { watch?: boolean }) => run(cli, id, input, options.watch === true)));
};

const create = async (cli: Cli, file: string | undefined): Outcome => {
  if (file === undefined) throw usageFailure('FILE is missing. It is the definition of the workflow.', 'svc workflows create --help');
  const text = file === '-' ? await readStdin() : await textOf(file);
  const draft = await definitionOf(text, file);
  const made = await (await cli.daemon()).call('createWorkflow', { body: draft as Draft }); // the daemon checks it
  if (cli.json) cli.out.json(made);
  else cli.out.line(`Created the workflow ${made.workflow_id}. Run it: svc workflows run ${made.workflow_id} --watch`);
  return EXIT.ok;
};

const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    throw new Failure(`${file} cannot be read.`, { code: 'cli_file', why: error instanceof Error ? error.message : String(error) });
  });

/** By the ending of its name; without one, by its first character. YAML that is none is TOML's business. */
const definitionOf = async (text: string, file: string): Promise<unknown> => {
  const ending = /\.(toml|ya?ml|json)$/i.exec(file)?.[1]?.toLowerCase() ?? (text.trimStart().startsWith('{') ? 'json' : 'toml');
  try {
    if (ending === 'json') return JSON.parse(text);
    if (ending === 'toml') return await loadToml().then((read) => read(text));
    return parseYaml(text);
  } catch (error) {
    throw new Failure(`${file} is no ${ending.toUpperCase()} that can be read.`, { code: 'cli_file', why: error instanceof Error ? error.message : String(error) });
  }
};

const inputOf = (said: string | undefined): InputOf<'runWorkflow'>['body'] => {
  if (said === undefined) return {};
  if (!said.trimStart().startsWith('{')) return { input: said };
  try {
    return { input: JSON.parse(said) };
  } catch {
    return { input: said };
  }
};

const run = async (cli: Cli, id: string, said: string | undefined, isWatching: boolean): Outcome => {
  const daemon = await cli.daemon();
  const body = inputOf(said);
  if (isWatching && !cli.json) return watch(cli, daemon, (await daemon.call('runWorkflow', { id, wait: false, body })).run_id);
  const ended = await daemon.call('runWorkflow', { id, body });
  if (cli.json) cli.out.json(ended);
  else if ('output' in ended) cli.out.line(printable(ended.output));
  else cli.out.line(`The run ${ended.run_id} waits. Show it: svc workflows show-run ${ended.run_id}`);
  return EXIT.ok;
};

/** Each step once when it begins and once when it ends; ends with the run, or where it waits for a person. */
const watch = async (cli: Cli, daemon: DaemonClient, runId: string): Promise<ExitCode> => {
  const printed = new Map<string, string>();
  for (;;) {
    const run = await daemon.call('getWorkflowRun', { run_id: runId });
    for (const step of run.step_results) {
      if (printed.get(step.step_name) === step.state) continue;
      printed.set(step.step_name, step.state);
      cli.out.line(lineOf(step));
    }
    if (OVER.has(run.state)) return ended(cli, run);
    const asking = run.step_results.find(({ state, agent_id: agent, due_at: due }) => state === 'waiting' && agent === null && due === null);
    if (run.state === 'paused' || asking !== undefined) {
      cli.out.line(run.state === 'paused' ? `The run ${runId} is paused.` : `It waits for a person: svc workflows answer ${runId} approve`);
      return EXIT.ok;
    }
    await setTimeout(LOOK_MS);
  }
};

const lineOf = ({ step_name: name, state, agent_name: agent, cost_usd: cost, duration_ms: ms, error }: Result): string =>
  [
    SIGNS[state] ?? ' ',
    printable(name),
    agent === null ? '' : `(${printable(agent)})`,
    state,
    ms === null ? '' : duration(ms),
    cost > 0 ? `$${cost.toFixed(4)}` : '',
    error === null ? '' : printable(error),
  ]
    .filter((part) => part !== '')
    .join('  ');

const ended = ({ out }: Cli, { state, output, error, cost_usd: cost }: Run): ExitCode => {
  out.line(`\n${state}, $${cost.toFixed(4)}`);
  if (error !== null) out.line(printable(error));
  if (output !== null && output !== '') out.line(printable(output));
  return state === 'completed' ? EXIT.ok : EXIT.failed;
};
