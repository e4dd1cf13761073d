/** `svc mcp`: adding servers with questions for what is missing, the entries of other clients, and logs. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Action, askSecret, askText, type Cli, type Command, EXIT, type ExitCode, type Outcome, usageFailure, watched } from '@svc/cli/area';
import type { InputOf, OutputOf } from '@svc/client';
import { entriesOfClient } from './client-config.js';

const LONG_MS = 180_000;
const POLL_MS = 500;
/** As long as the sign-in may take. */
const LOGIN_MS = 600_000;
/** Of one call of an agent. */
const SERVE_MS = 3_600_000;

interface AddFlags {
  readonly name?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly url?: string;
  readonly sse?: boolean;
  readonly folder?: readonly string[];
  readonly sandbox?: boolean;
  readonly key?: string;
}

type Template = OutputOf<'getMcpTemplate'>;
type Added = OutputOf<'addMcpServer'>;
type Body = NonNullable<InputOf<'addMcpServer'>['body']>;

const several = (value: string, before: readonly string[] = []): string[] => [...before, value];

export const define = (program: Command, action: Action): void => {
  const mcp = program.command('mcp').description('MCP servers: their tools for your agents').helpCommand(false);
  mcp
    .command('catalog')
    .description('List the templates of servers')
    .argument('[words...]', 'only those with these words')
    .action(action((cli, words: string[]) => catalog(cli, words)));
  mcp
    .command('add')
    .description('Add a server: from the catalog, an address (--url), or a program behind --')
    .argument('[id]', 'the id of a template, or the name of the server')
    .argument('[command...]', 'the program and its arguments, behind --')
    .option('--name <name>', 'its name; by default, the id of the template')
    .option('--env <NAME=value>', 'a variable of the server, stored in the vault; several times for more', several)
    .option('--key <value>', 'the value that the template asks for, if it is one')
    .option('--url <url>', 'the address of a server that runs already')
    .option('--sse', 'it speaks the older HTTP with server-sent events')
    .option('--header <line>', 'a header for --url, such as "Authorization: Bearer …"', several)
    .option('--folder <path>', 'a folder that it sees in the sandbox; with :rw for writing', several)
    .option('--sandbox', 'run it in the sandbox of commands')
    .action(action((cli, id: string | undefined, words: string[], flags: AddFlags) => add(cli, id, words, flags)));
  mcp
    .command('reconnect')
    .description('Stop a server, start it anew, and wait until it is connected')
    .argument('<name>')
    .action(action((cli, name: string) => reconnect(cli, name)));
  mcp
    .command('login')
    .description('Sign in at a server in a browser, and wait until it is done')
    .argument('<name>')
    .action(action((cli, name: string) => login(cli, name)));
  mcp
    .command('serve')
    .description('Speak MCP over standard input and output, for clients that start a program')
    .action(action((cli) => serve(cli)));
  mcp
    .command('logs')
    .description('Show the last lines that a server wrote to its standard error')
    .argument('<name>')
    .action(action((cli, name: string) => logs(cli, name)));
  mcp
    .command('import')
    .description('Add the servers of a file of another client: JSON with "mcpServers" or "servers"')
    .argument('<file>')
    .action(action((cli, file: string) => importFile(cli, file)));
};

const catalog = async (cli: Cli, words: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const { entries } = await daemon.call('listMcpTemplates');
  const found = entries.filter((one) => words.every((word) => `${one.id} ${one.name} ${one.description} ${one.tags.join(' ')} ${one.category}`.toLowerCase().includes(word.toLowerCase())));
  if (cli.json) cli.out.json({ entries: found, count: found.length });
  else for (const { id, description, installed } of found) cli.out.line(`${installed ? cli.out.green('✓') : ' '} ${id.padEnd(20)} ${description}`);
  return EXIT.ok;
};

const add = async (cli: Cli, id: string | undefined, words: readonly string[], flags: AddFlags): Outcome => {
  if (id === undefined && flags.url === undefined) throw usageFailure('Say which server: svc mcp add github, svc mcp add NAME --url https://…, or svc mcp add NAME -- npx -y package.');
  const body = await bodyOf(cli, id, words, flags);
  return report(cli, await added(cli, body));
};

const bodyOf = async (cli: Cli, id: string | undefined, words: readonly string[], flags: AddFlags): Promise<Body> => {
  const { env, header, url, folder } = flags;
  const common = {
    ...(env ? { env: [...env] } : {}),
    ...(flags.sandbox || folder ? { sandbox: folder ? { folders: [...folder] } : {} } : {}),
  };
  const name = flags.name ?? id;
  if (url !== undefined) {
    const host = name ?? new URL(url).hostname.replaceAll('.', '-');
    return { ...common, name: host, transport: { type: flags.sse ? 'sse' : 'http', url }, ...(header ? { headers: [...header] } : {}) };
  }
  const [command, ...args] = words;
  if (command !== undefined) return { ...common, ...(name === undefined ? {} : { name }), transport: { type: 'stdio', command, args } };
  const daemon = await cli.daemon();
  const template = await daemon.call('getMcpTemplate', { id: id ?? '' });
  const credentials = await credentialsOf(cli, template, flags);
  return { ...common, template_id: template.id, ...(flags.name === undefined ? {} : { name: flags.name }), ...(Object.keys(credentials).length > 0 ? { credentials } : {}) };
};

/** What the template asks for and no flag says. Nothing is asked where nobody is there to answer. */
const credentialsOf = async (cli: Cli, { required_env: wanted, setup_instructions: how }: Template, { env = [], key }: AddFlags): Promise<Record<string, string>> => {
  const named = new Set(env.map((text) => text.split('=')[0]));
  const missing = wanted.filter((one) => !named.has(one.name));
  if (key !== undefined) {
    const [only, ...more] = missing.filter((one) => one.is_secret);
    if (!only || more.length > 0) throw usageFailure(`--key gives one value, and this template asks for ${missing.map((one) => one.name).join(', ') || 'none'}. Use --env NAME=value.`);
    return { [only.name]: key };
  }
  const values: Record<string, string> = {};
  if (missing.length > 0 && how !== null && !cli.json) cli.out.line(how);
  for (const { name, label, help, get_url: where, is_secret: isSecret } of missing) {
    if (!cli.out.canAsk) continue;
    const question = `${label ?? name}${help === undefined ? '' : ` (${help})`}${where ? ` [${where}]` : ''}`;
    values[name] = isSecret ? await askSecret(cli, question) : await askText(question, '', (text) => (text === '' ? 'It is empty.' : undefined));
  }
  return values;
};

const added = async (cli: Cli, body: Body): Promise<Added> => {
  const daemon = await cli.daemon();
  const made = await watched(cli.out, 'Adding the server', daemon.call('addMcpServer', { body }, { timeoutMs: LONG_MS }));
  if (made.state !== 'connecting') return made;
  const now = await watched(cli.out, 'Connecting; a first start downloads the server', untilSettled(daemon, made.name));
  const { error: _before, ...rest } = made;
  return { ...rest, state: now.status, connected: now.connected, tools_count: now.tools_count, ...(now.error === undefined ? {} : { error: now.error }) };
};

const untilSettled = async (daemon: Awaited<ReturnType<Cli['daemon']>>, id: string): Promise<OutputOf<'getMcpServer'>> => {
  for (const deadline = Date.now() + LONG_MS; ; await new Promise((resolve) => setTimeout(resolve, POLL_MS))) {
    const now = await daemon.call('getMcpServer', { id });
    if (now.status !== 'connecting' || Date.now() > deadline) return now;
  }
};

const report = (cli: Cli, made: Added): ExitCode => {
  if (cli.json) cli.out.json(made);
  else if (made.state === 'connected') cli.out.line(`${cli.out.green('✓')} ${made.name} is connected and has ${made.tools_count} tools. Agents have them unless their manifests say otherwise.`);
  else cli.out.line(`${cli.out.red('✗')} ${made.name} is stored, and not connected: ${made.error ?? made.state}`);
  return made.state === 'connected' || made.state === 'setup' ? EXIT.ok : EXIT.failed;
};

const reconnect = async (cli: Cli, id: string): Outcome => {
  const daemon = await cli.daemon();
  const done = await watched(cli.out, 'Connecting', daemon.call('reconnectMcpServer', { id }, { timeoutMs: LONG_MS }));
  if (cli.json) cli.out.json(done);
  else cli.out.line(`${cli.out.green('✓')} ${done.id} is connected and has ${done.tool_count} tools.`);
  return EXIT.ok;
};

/** The address goes to a person: the browser may be on another machine. */
const login = async (cli: Cli, id: string): Outcome => {
  const daemon = await cli.daemon();
  const { auth_url: url, server } = await daemon.call('startMcpServerAuth', { id });
  if (!cli.json) cli.out.line(`Open this address in a browser, and sign in:\n${url}`);
  const { auth } = await watched(cli.out, 'Waiting for the sign-in', untilSignedIn(daemon, id));
  if (cli.json) cli.out.json({ server, auth_url: url, auth });
  else if (auth.state === 'authorized') cli.out.line(`${cli.out.green('✓')} You are signed in at ${server}.`);
  else cli.out.line(`${cli.out.red('✗')} ${auth.message ?? `The sign-in is not finished: ${auth.state}.`}`);
  return auth.state === 'authorized' ? EXIT.ok : EXIT.failed;
};

const untilSignedIn = async (daemon: Awaited<ReturnType<Cli['daemon']>>, id: string): Promise<OutputOf<'getMcpServerAuth'>> => {
  for (const deadline = Date.now() + LOGIN_MS; ; await new Promise((resolve) => setTimeout(resolve, POLL_MS))) {
    const now = await daemon.call('getMcpServerAuth', { id });
    if (now.auth.state !== 'pending_auth' || Date.now() > deadline) return now;
  }
};

/** Each line is a message; answers come as they are ready. Notifications change nothing here. */
const serve = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const work = answered(daemon, line).then((answer) => {
      if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    });
    open.add(work);
    void work.finally(() => open.delete(work));
  }
  await Promise.all(open);
  return EXIT.ok;
};

const answered = async (daemon: Awaited<ReturnType<Cli['daemon']>>, line: string): Promise<unknown> => {
  let id: unknown = null;
  try {
    const body = JSON.parse(line) as { jsonrpc?: string; method?: string; id?: unknown };
    if (body.id === undefined) return undefined;
    id = body.id;
    return await daemon.call('callMcp', { body }, { timeoutMs: SERVE_MS });
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: id === null ? -32_700 : -32_603, message: error instanceof Error ? error.message : String(error) } };
  }
};

const logs = async (cli: Cli, id: string): Outcome => {
  const daemon = await cli.daemon();
  const { stderr, error, status } = await daemon.call('getMcpServer', { id });
  if (cli.json) cli.out.json({ id, status, error: error ?? null, lines: stderr });
  else {
    for (const line of stderr) cli.out.line(line);
    if (stderr.length === 0) cli.out.line('It has written nothing to its standard error.');
    if (error !== undefined) cli.out.line(`${cli.out.red('✗')} ${error}`);
  }
  return EXIT.ok;
};

const importFile = async (cli: Cli, file: string): Outcome => {
  const found = entriesOfClient(await readFile(file, 'utf8'));
  if (typeof found === 'string') throw usageFailure(`${file}: ${found}`);
  let worst: ExitCode = EXIT.ok;
  for (const body of found) {
    const code = report(cli, await added(cli, body));
    if (code !== EXIT.ok) worst = code;
  }
  return worst;
};
