/** `svc models`: the catalog, other names of models, and which one answers for `default`. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, Failure, type Outcome, facts, table, typed, usageFailure, watched } from '@svc/cli/area';
import { knownProvider } from '@svc/ext-providers/cli';
import type { OutputOf } from '@svc/client';
import { findModel, type ModelRow } from './models/model-lookup.js';

/** The catalog comes over the network. */
const UPDATE_WAIT_MS = 120_000;

export const define = (program: Command, action: Action): void => {
  const models = program.command('models').description('The catalog of models').helpCommand(false);
  models
    .command('list')
    .description('List available models')
    .option('--provider <name>', 'only of this provider')
    .option('--all', 'also models that are not available')
    .action(action((cli, flags: { provider?: string; all?: boolean }) => list(cli, flags)));
  models
    .command('show')
    .description("Show a model's features and prices")
    .argument('<model>', 'its id, alias or name; PROVIDER/MODEL where several have it')
    .action(action((cli, wanted: string) => show(cli, wanted)));
  models
    .command('use')
    .description('Set the default model, for agents whose model is `default`')
    .argument('<model>', 'its id, alias or name')
    .option('--provider <name>', 'of this provider')
    .action(action((cli, wanted: string, flags: { provider?: string }) => use(cli, wanted, flags.provider)));
  models
    .command('alias')
    .description('List aliases, or add the alias NAME for MODEL')
    .argument('[name]')
    .argument('[model]', 'the id of a model, or another alias')
    .option('--remove <name>', 'remove an alias')
    .action(action((cli, name: string | undefined, model: string | undefined, flags: { remove?: string }) => alias(cli, name, model, flags.remove)));
  models
    .command('update')
    .description('Update the catalog from [models] catalog_url')
    .action(action((cli) => update(cli)));
};

const list = async (cli: Cli, flags: { provider?: string; all?: boolean }): Outcome => {
  const daemon = await cli.daemon();
  // A name that is none is said, rather than an empty list.
  if (flags.provider !== undefined) await knownProvider(daemon, flags.provider);
  const { models } = await daemon.call('listModels', { ...(flags.provider === undefined ? {} : { provider: flags.provider }), ...(flags.all ? {} : { available: true }) });
  if (cli.json) {
    cli.out.json({ models, total: models.length });
    return EXIT.ok;
  }
  if (models.length === 0) {
    cli.out.line(typed(flags.all ? 'The catalog has no such model.' : 'None of these is available. svc models list --all shows them; svc providers set-key PROVIDER sets a key.'));
    return EXIT.ok;
  }
  const { dim, green } = cli.out;
  const rows = models.map((model) => [model.id, model.provider, tokensText(model.context_window), priceText(model), abilities(model), model.available ? 'yes' : 'no', model.aliases.join(', ')]);
  const columns = [
    { title: 'MODEL' },
    { title: 'PROVIDER' },
    { title: 'WINDOW', givesWay: true },
    { title: 'USD PER 1M' },
    { title: 'CAN', shrinks: true, givesWay: true },
    { title: 'USABLE' },
    { title: 'ALIASES', shrinks: true, givesWay: true },
  ];
  const paint = (text: string, column: number, row: number): string => {
    if (row < 0 || column === 2 || column === 4 || column === 6) return dim(text);
    return column === 5 ? (models[row]?.available ? green(text) : dim(text)) : text;
  };
  for (const line of table(columns, rows, cli.out.width, paint)) cli.out.line(line);
  return EXIT.ok;
};

const tokensText = (tokens: number): string => (tokens >= 1_000_000 ? `${+(tokens / 1_000_000).toFixed(1)}M` : tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens));
const priceText = ({ input_cost_per_1m, output_cost_per_1m, pricing_known }: ModelRow): string =>
  pricing_known ? (input_cost_per_1m === 0 && output_cost_per_1m === 0 ? 'free' : `${input_cost_per_1m} in, ${output_cost_per_1m} out`) : 'unknown';
const abilities = (model: ModelRow): string =>
  [...(model.supports_tools ? ['tools'] : []), ...(model.supports_vision ? ['pictures'] : []), ...(model.supports_thinking ? ['thinking'] : [])].join(', ');

const show = async (cli: Cli, wanted: string): Outcome => {
  const model = await findModel(await cli.daemon(), wanted);
  if (cli.json) {
    cli.out.json(model);
    return EXIT.ok;
  }
  const lines: Array<[string, string]> = [
    ['name', model.display_name],
    ['provider', `${model.provider}${model.available ? '' : `: cannot be asked now, svc providers test ${model.provider} says why`}`],
    ['tier', `${model.tier}, from ${{ builtin: 'the daemon itself', catalog: 'the catalog', custom: 'a person', local: 'a server on this machine' }[model.source]}`],
    ['window', `${model.context_window} tokens, ${model.max_output_tokens} of them for an answer`],
    ['price', model.pricing_known ? `${priceText(model)}${priceText(model) === 'free' ? '' : ' (USD per million tokens)'}` : 'unknown: budgets count a middling one'],
    ['can', abilities(model) || 'answer with text'],
    ...(model.aliases.length > 0 ? ([['aliases', model.aliases.join(', ')]] satisfies Array<[string, string]>) : []),
    ['use', `svc models use ${model.id} --provider ${model.provider}`],
  ];
  cli.out.line(cli.out.bold(model.id));
  for (const line of facts(lines, cli.out.width, (text, label) => (label === 'use' ? cli.out.cyan(text) : text))) cli.out.line(line);
  return EXIT.ok;
};

const use = async (cli: Cli, wanted: string, provider: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  if (provider !== undefined) await knownProvider(daemon, provider);
  const model = await findModel(daemon, wanted, provider);
  const chosen = await daemon.call('setDefaultProvider', { name: model.provider, body: { model: model.id } });
  if (cli.json) cli.out.json(chosen);
  else {
    cli.out.line(`${cli.out.green('✓')} ${chosen.provider} / ${chosen.model} is now the default.`);
    if (chosen.problem !== null) cli.out.line(`  ${cli.out.yellow(chosen.problem)}`);
  }
  return EXIT.ok;
};

const alias = async (cli: Cli, name: string | undefined, model: string | undefined, removed: string | undefined): Outcome => {
  if (removed !== undefined && name !== undefined) throw usageFailure('--remove takes the name alone.', `svc models alias --remove ${removed}`);
  if (name !== undefined && model === undefined) throw usageFailure(`${name} needs a model to be a name of.`, `svc models alias ${name} MODEL`);
  const daemon = await cli.daemon();
  const known = await daemon.call('listModelAliases');
  if (removed !== undefined) return removeAlias(cli, daemon, known, removed);
  return name === undefined || model === undefined ? listAliases(cli, known) : setAlias(cli, daemon, known, { name, model });
};

type Aliases = OutputOf<'listModelAliases'>;

const listAliases = async (cli: Cli, { aliases, custom, total }: Aliases): Outcome => {
  if (cli.json) {
    cli.out.json({ aliases, total, custom });
    return EXIT.ok;
  }
  const names = Object.keys(aliases).sort((a, b) => Number(custom.includes(b)) - Number(custom.includes(a)) || a.localeCompare(b));
  const rows = names.map((name) => [name, aliases[name] ?? '', custom.includes(name) ? 'yours' : 'catalog']);
  for (const line of table([{ title: 'ALIAS' }, { title: 'MODEL' }, { title: 'FROM' }], rows, cli.out.width, (text, column, row) => (row < 0 || column === 2 ? cli.out.dim(text) : text)))
    cli.out.line(line);
  return EXIT.ok;
};

const setAlias = async (cli: Cli, daemon: DaemonClient, { aliases, custom }: Aliases, { model, name }: { name: string; model: string }): Outcome => {
  const key = name.trim().toLowerCase();
  const before = custom.includes(key) ? aliases[key] : undefined;
  if (before === model.trim()) return saidAlias(cli, { alias: key, model_id: before, status: 'unchanged' });
  // To take one away and give it anew are two steps, and between them agents would name nothing: a person takes both.
  if (before !== undefined) throw new Failure(`${key} is a name of ${before} already.`, { code: 'cli_alias_taken', fix: `svc models alias --remove ${key}   then add it again` });
  return saidAlias(cli, await daemon.call('createModelAlias', { body: { alias: name, model_id: model } }));
};

interface AliasAnswer {
  readonly alias: string;
  readonly model_id: string;
  readonly status: string;
  readonly warning?: string;
}

const saidAlias = async (cli: Cli, answer: AliasAnswer): Outcome => {
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} ${answer.alias} is a name of ${answer.model_id}`);
    if (answer.warning !== undefined) cli.out.note(cli.out.yellow(answer.warning));
  }
  return EXIT.ok;
};

const removeAlias = async (cli: Cli, daemon: DaemonClient, { custom }: Aliases, name: string): Outcome => {
  try {
    const answer = await daemon.call('deleteModelAlias', { alias: name });
    if (cli.json) cli.out.json(answer);
    else {
      cli.out.line(`${cli.out.green('✓')} ${answer.alias} is no longer an alias`);
      if (answer.used_by !== undefined) cli.out.note(cli.out.yellow(`These led through it, and lead nowhere now: ${answer.used_by.join(', ')}`));
    }
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    throw new Failure(error.message, {
      code: error.code,
      why: custom.length === 0 ? 'no custom aliases' : `custom aliases: ${custom.join(', ')}`,
      fix: 'svc models alias',
      requestId: error.requestId,
    });
  }
};

const update = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await watched(cli.out, 'fetching the catalog', daemon.call('updateCatalog', {}, { timeoutMs: UPDATE_WAIT_MS }));
  if (cli.json) {
    cli.out.json(found);
    return EXIT.ok;
  }
  const { green, yellow } = cli.out;
  cli.out.line(
    found.changed
      ? `${green('✓')} The catalog is of ${found.version} now (before: ${found.previous_version}), with ${found.models_count} models.`
      : `${green('✓')} Nothing is newer than the catalog of ${found.version}.`,
  );
  for (const { entry, why } of found.dropped) cli.out.note(yellow(`left out: ${entry}: ${why}`));
  if (found.dropped_count > found.dropped.length) cli.out.note(yellow(`and ${found.dropped_count - found.dropped.length} more`));
  return EXIT.ok;
};
