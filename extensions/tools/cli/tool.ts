/** `svc tool`: what agents can call, and a call by hand. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, printable, readStdin, table, usageFailure, watched } from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import { isTable, matchesAny } from '@svc/api';
import type { OutputOf } from '@svc/client';

/** A command may run for minutes. */
const CALL_WAIT_MS = 10 * 60_000;

type Tool = OutputOf<'getTool'>;

export const define = (program: Command, action: Action): void => {
  const tool = program.command('tool').description('List and call tools').helpCommand(false);
  tool
    .command('list')
    .description('List all tools')
    .option('--agent <agent>', 'only tools available to this agent: name or id')
    .action(action((cli, flags: { agent?: string }) => list(cli, flags.agent)));
  tool
    .command('call')
    .description('Call a tool without a model and print the result; exit code 1 if it fails')
    .argument('<name>', 'see `svc tool list`')
    .argument('[input...]', 'one JSON object, or key=value…; "-" reads JSON from stdin')
    .option('--agent <agent>', 'the agent whose capabilities and workspace are used: name or id')
    .action(action((cli, name: string, input: string[], flags: { agent?: string }) => call(cli, name, input, flags.agent)));
};

const list = async (cli: Cli, agent: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  const { tools: all } = await daemon.call('listTools');
  const tools = agent === undefined ? all : all.filter(leftBy(await daemon.call('getAgentTools', { id: (await findAgent(daemon, agent)).id })));
  if (cli.json) cli.out.json({ tools, total: tools.length });
  else if (tools.length === 0) cli.out.line('It has no tools.');
  else {
    const { dim, yellow } = cli.out;
    const rows = tools.map(({ description, name, risk, source }) => [name, risk, source, printable(description).replace(/\s+/g, ' ')]);
    const columns = [{ title: 'TOOL' }, { title: 'RISK' }, { title: 'FROM', givesWay: true }, { title: 'WHAT', shrinks: true }];
    const paint = (text: string, column: number, row: number): string => {
      if (row < 0 || column > 1) return dim(text);
      return column === 1 && tools[row]?.risk === 'exec' ? yellow(text) : text;
    };
    for (const line of table(columns, rows, cli.out.width, paint)) cli.out.line(line);
  }
  return EXIT.ok;
};

/** By name alone: what else a tool needs is validated at each call. */
const leftBy = ({ capabilities_tools, disabled, tool_allowlist, tool_blocklist }: OutputOf<'getAgentTools'>): ((tool: Tool) => boolean) => {
  const isIn = (patterns: readonly string[], name: string): boolean => patterns.length === 0 || matchesAny(patterns, name);
  return ({ name }) => !disabled && isIn(capabilities_tools, name) && isIn(tool_allowlist, name) && !matchesAny(tool_blocklist, name);
};

const call = async (cli: Cli, name: string, words: readonly string[], agent: string | undefined): Outcome => {
  // Wrong usage is said before anybody is asked.
  const json = await jsonInput(words);
  const daemon = await cli.daemon();
  const tool = await knownTool(daemon, name);
  const body = json ?? keyed(words, tool);
  const of = agent === undefined ? {} : { agent_id: (await findAgent(daemon, agent)).id };
  const work = daemon.call('invokeTool', { name, ...of, body }, { timeoutMs: CALL_WAIT_MS });
  try {
    return shown(cli, await watched(cli.out, `calling ${name}`, work));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // It ran, and what it says is a result like any other.
    if (error.code === 'tools_call_failed') return shown(cli, { tool_use_id: 'rest-api', tool_name: name, content: error.message, is_error: true, status: 'error' });
    throw switchedOff(error, name);
  }
};

const shown = async (cli: Cli, result: OutputOf<'invokeTool'>): Outcome => {
  if (cli.json) cli.out.json(result);
  else {
    const text = cli.out.isTty ? printable(result.content) : result.content;
    if (result.is_error) cli.out.note(cli.out.red(text));
    else cli.out.write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
  }
  return result.is_error ? EXIT.failed : EXIT.ok;
};

const knownTool = async (daemon: DaemonClient, name: string): Promise<Tool> => {
  try {
    return await daemon.call('getTool', { name });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    throw new Failure(error.message, { code: error.code, fix: 'svc tool list', requestId: error.requestId });
  }
};

/** The settings that stand in the way, as commands. */
const switchedOff = (failure: Failure, name: string): Failure => {
  const { code, exit, message, requestId, status } = failure;
  const fixes: Readonly<Record<string, string>> = {
    tools_invoke_disabled: `svc config edit   and under [tool_invoke] enabled = true, allowlist = ["${name}"]`,
    tools_invoke_not_allowed: `svc config get tool_invoke.allowlist   shows who may; svc config edit names ${name} too`,
    tools_needs_agent: `svc tool call ${name} … --agent AGENT`,
  };
  const fix = fixes[code];
  return fix === undefined ? failure : new Failure(message, { code, exit, fix, requestId, ...(status === undefined ? {} : { status }) });
};

/** Undefined where the words are `key=value`. */
const jsonInput = async (words: readonly string[]): Promise<Record<string, unknown> | undefined> => {
  const [first] = words;
  const isKeyed = words.length > 0 && words.every((word) => /^[\w.-]+=/.test(word));
  if (first === undefined || isKeyed) return undefined;
  if (words.length > 1) throw usageFailure(`"${words.find((word) => !/^[\w.-]+=/.test(word))}" is not key=value.`, 'one JSON object: svc tool call NAME \'{"path": "notes.md"}\'');
  const text = first === '-' ? await readStdin() : first;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageFailure(`The input is neither JSON nor key=value: ${error instanceof Error ? error.message : String(error)}.`, 'svc tool call --help');
  }
  if (!isTable(value))
    throw usageFailure(`The input is ${Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`}; an object was expected.`, 'svc tool call NAME \'{"key": "value"}\'');
  return { ...value };
};

/** A text where the tool wants one, else JSON where it reads as that. */
const keyed = (words: readonly string[], { input_schema }: Tool): Record<string, unknown> => {
  const properties = isTable(input_schema) && isTable(input_schema.properties) ? input_schema.properties : {};
  return Object.fromEntries(
    words.map((word) => {
      const [key, text] = [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)];
      const schema = properties[key];
      return [key, isTable(schema) && schema.type === 'string' ? text : jsonOr(text)];
    }),
  );
};

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a text without quotes
  }
};
