/** `svc plugins`: creating, installing with consent, testing, and tables that say more than one line. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { type Action, agreesAtTerminal, type Cli, type Command, EXIT, type Outcome, usageFailure, watched } from '@svc/cli/area';
import { type InputOf, SvcError } from '@svc/client';

const LONG_MS = 320_000;

interface InstallFlags {
  readonly registry?: string;
  readonly branch?: string;
  readonly grant?: readonly string[];
  readonly force?: boolean;
}

type Body = NonNullable<InputOf<'installPlugin'>['body']>;
const several = (value: string, before: readonly string[] = []): string[] => [...before, value];

export const define = (program: Command, action: Action): void => {
  const plugins = program.command('plugins').description('Plugins: scripts that add to what agents see').helpCommand(false);
  defineMaking(plugins, action);
  plugins
    .command('doctor')
    .description('Check the eleven runtimes, the plugins and the sandbox')
    .action(action((cli) => doctor(cli)));
  plugins
    .command('lint')
    .description('Name what is wrong in a plugin')
    .argument('<name>')
    .action(action((cli, name: string) => lint(cli, name)));
  plugins
    .command('test')
    .description('Run a hook once, and show what came back')
    .argument('<name>')
    .option('--hook <hook>', 'which hook', 'ingest')
    .option('--message <text>', 'the message; by default a sample')
    .action(action((cli, name: string, flags: { hook: string; message?: string }) => test(cli, name, flags)));
  plugins
    .command('export')
    .description('Write a plugin with its files as JSON')
    .argument('<name>')
    .option('--out <file>', 'where to; by default, the terminal')
    .action(action((cli, name: string, { out }: { out?: string }) => exportPlugin(cli, name, out)));
};

const defineMaking = (plugins: Command, action: Action): void => {
  plugins
    .command('create')
    .description('Create a plugin to start from')
    .argument('<name>')
    .option('--runtime <runtime>', 'python, native, v, node, deno, go, ruby, bash, bun, php or lua', 'python')
    .option('--description <text>', 'what it does')
    .option('--author <name>', 'who wrote it')
    .action(action((cli, name: string, flags: { runtime: string; description?: string; author?: string }) => create(cli, name, flags)));
  plugins
    .command('install')
    .description('Install from a registry (a name), a folder (a path) or git (an address)')
    .argument('<source>')
    .option('--registry <name>', 'which registry; by default the first one')
    .option('--branch <name>', 'branch or tag of the repository')
    .option('--grant <wall>', 'network or filesystem: what it may do without its wall', several)
    .option('--force', 'also if its texts look as if they were to mislead a model')
    .action(action((cli, source: string, flags: InstallFlags) => install(cli, source, flags)));
  plugins
    .command('install-deps')
    .description('Install what a plugin needs, with the package manager of its runtime')
    .argument('<name>')
    .action(action((cli, name: string) => dependencies(cli, name)));
  plugins
    .command('prewarm')
    .description('Compile plugins before their first message')
    .argument('[names...]', 'by default, all that are enabled')
    .action(action((cli, names: string[]) => prewarm(cli, names)));
};

const create = async (cli: Cli, name: string, { runtime, description, author }: { runtime: string; description?: string; author?: string }): Outcome => {
  const daemon = await cli.daemon();
  const made = await daemon.call('createPlugin', { body: { name, runtime, ...(description === undefined ? {} : { description }), ...(author === undefined ? {} : { author }) } });
  if (cli.json) cli.out.json(made);
  else cli.out.line(`${cli.out.green('✓')} ${made.path}\nTry it: svc plugins test ${name}\n${made.message}`);
  return EXIT.ok;
};

const bodyOf = (source: string, { registry, branch, grant, force }: InstallFlags): Body => {
  const unknown = grant?.find((one) => one !== 'network' && one !== 'filesystem');
  if (unknown !== undefined) throw usageFailure(`--grant is network or filesystem, and not "${unknown}".`);
  const more = { ...(grant ? { grant: grant as NonNullable<Body['grant']> } : {}), ...(force ? { force } : {}) };
  if (/^(https|ssh|file):\/\//.test(source)) return { ...more, source: 'git', url: source, ...(branch === undefined ? {} : { branch }) };
  if (source.includes('/') || source.startsWith('.') || (existsSync(source) && registry === undefined)) return { ...more, source: 'local', path: resolve(source) };
  return { ...more, source: 'registry', name: source, ...(registry === undefined ? {} : { registry }) };
};

const install = async (cli: Cli, source: string, flags: InstallFlags): Outcome => {
  const daemon = await cli.daemon();
  const send = (body: Body) => watched(cli.out, 'Installing', daemon.call('installPlugin', { body }, { timeoutMs: LONG_MS }));
  const body = bodyOf(source, flags);
  const made = await send(body).catch(async (error: unknown) => {
    if (!(error instanceof SvcError) || error.code !== 'plugins_needs_consent' || !(await agreesAtTerminal(cli, `${error.message} Install it all the same?`))) throw error;
    return send({ ...body, grant: ['network', 'filesystem'] });
  });
  if (cli.json) cli.out.json(made);
  else cli.out.line(`${cli.out.green('✓')} ${made.name} ${made.version} in ${made.path}\n${made.message}`);
  return EXIT.ok;
};

const dependencies = async (cli: Cli, name: string): Outcome => {
  const daemon = await cli.daemon();
  const done = await watched(cli.out, 'Installing', daemon.call('installPluginDependencies', { name }, { timeoutMs: LONG_MS }));
  if (cli.json) cli.out.json(done);
  else cli.out.line(`${done.success ? cli.out.green('✓ installed') : cli.out.red('✗ not installed')}\n${done.output}`);
  return done.success ? EXIT.ok : EXIT.failed;
};

const prewarm = async (cli: Cli, names: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const { results } = await watched(cli.out, 'Compiling', daemon.call('prewarmPlugins', { body: names.length > 0 ? { plugins: [...names] } : {} }, { timeoutMs: LONG_MS }));
  if (cli.json) cli.out.json(results);
  else for (const [name, { ok, message }] of Object.entries(results)) cli.out.line(`${ok ? cli.out.green('✓') : cli.out.red('✗')} ${name}: ${message}`);
  return Object.values(results).every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
};

const doctor = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('checkPlugins');
  if (cli.json) cli.out.json(found);
  else {
    for (const { runtime, available, version, launcher, install_hint: hint } of found.runtimes)
      cli.out.line(`${available ? cli.out.green('✓') : cli.out.red('✗')} ${runtime.padEnd(8)} ${available ? `${version ?? ''} ${launcher ?? ''}`.trim() : hint}`);
    for (const { name, runtime, runtime_available: has, hooks_valid: valid } of found.plugins)
      cli.out.line(
        `${has && valid ? cli.out.green('✓') : cli.out.red('✗')} plugin ${name} (${runtime})${has ? '' : ': no launcher'}${valid ? '' : `: hooks are missing or were changed; see: svc plugins lint ${name}`}`,
      );
    cli.out.line(found.sandbox.enforced ? `${cli.out.green('✓')} walls are enforced` : `${cli.out.red('✗')} walls are not enforced: ${found.sandbox.cause ?? ''}`);
  }
  return found.plugins.every(({ runtime_available: has, hooks_valid: valid }) => has && valid) ? EXIT.ok : EXIT.failed;
};

const lint = async (cli: Cli, name: string): Outcome => {
  const daemon = await cli.daemon();
  const { ok, errors, warnings } = await daemon.call('lintPlugin', { name });
  if (cli.json) cli.out.json({ ok, errors, warnings });
  else {
    for (const line of errors) cli.out.line(`${cli.out.red('✗')} ${line}`);
    for (const line of warnings) cli.out.line(`! ${line}`);
    if (ok) cli.out.line(`${cli.out.green('✓')} ${name} has no errors.`);
  }
  return ok ? EXIT.ok : EXIT.failed;
};

const test = async (cli: Cli, name: string, { hook, message }: { hook: string; message?: string }): Outcome => {
  const daemon = await cli.daemon();
  const body = { hook: hook as 'ingest', ...(message === undefined ? {} : { input: { message } }) };
  const ran = await watched(cli.out, `Running ${hook}`, daemon.call('testPluginHook', { name, body }, { timeoutMs: LONG_MS }));
  if (cli.json) cli.out.json(ran);
  else {
    cli.out.line(
      `${ran.success ? cli.out.green('✓') : cli.out.red('✗')} ${hook} of ${name}: ${ran.elapsed_ms} ms, walls ${ran.walls}${ran.message === null ? '' : `\n${ran.error}: ${ran.message}`}${ran.note === null ? '' : `\n${ran.note}`}`,
    );
    if (ran.success) cli.out.line(`line ${ran.line}: ${JSON.stringify(ran.output)}`);
    if (ran.stderr !== '') cli.out.line(ran.stderr);
  }
  return ran.success ? EXIT.ok : EXIT.failed;
};

const exportPlugin = async (cli: Cli, name: string, out: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  const whole = await daemon.call('exportPlugin', { name });
  if (out === undefined) cli.out.json(whole);
  else {
    await writeFile(out, `${JSON.stringify(whole, null, 2)}\n`);
    cli.out.line(`${cli.out.green('✓')} ${out}`);
  }
  return EXIT.ok;
};
