/** `svc agent new`, `spawn`, `clone` and `templates`: how agents begin. */
import { type Cli, type DaemonClient, EXIT, Failure, type Outcome, askText, choose, table, typed, usageFailure } from '@svc/cli/area';
import { findModel } from '@svc/ext-models/cli';
import { didYouMean } from '@svc/api';
import type { OutputOf } from '@svc/client';
import { findAgent, listAgents } from './agent-lookup.js';
import { readManifest } from './manifest-file.js';

type TemplateRow = OutputOf<'listTemplates'>['templates'][number];

interface Wish {
  readonly name?: string | undefined;
  readonly template?: string | undefined;
  /** As it was written; `default` leaves it to the daemon. */
  readonly model?: string | undefined;
}

interface Made {
  readonly agent_id: string;
  readonly name: string;
  readonly warnings?: readonly string[];
}

export const create = async (cli: Cli, name: string | undefined, flags: Wish): Outcome => {
  if (name?.endsWith('.toml')) throw usageFailure(`"${name}" looks like a manifest, and "agent new" takes the name of the agent.`, `svc agent spawn ${name}`);
  const daemon = await cli.daemon();
  const isAsking = cli.out.canAsk && !cli.yes && !cli.json;
  if (!isAsking && name === undefined && flags.template === undefined) throw usageFailure('An agent needs a name or a template.', 'svc agent new NAME --yes');
  const templates = isAsking || flags.template !== undefined ? (await daemon.call('listTemplates')).templates : [];
  if (flags.template !== undefined) refuseUnknown(flags.template, templates);
  const wish = isAsking ? await asked(daemon, { ...flags, name }, templates) : { ...flags, name };
  const chosen = wish.model === undefined || wish.model === 'default' ? undefined : await findModel(daemon, wish.model);
  const model = chosen === undefined ? wish.model : { provider: chosen.provider, model: chosen.id };
  const body = { ...given('name', wish.name), ...given('template', wish.template), ...given('model', model) };
  return say(cli, await daemon.call('spawnAgent', { body }));
};

const given = <K extends string, T>(key: K, value: T | undefined): { [key in K]?: T } => (value === undefined ? {} : ({ [key]: value } as { [key in K]?: T })); // one key, which TypeScript widens

const refuseUnknown = (name: string, templates: readonly TemplateRow[]): void => {
  const names = templates.map((one) => one.name);
  if (!names.includes(name)) throw new Failure(`There is no template "${name}".${didYouMean(name, names)}`, { code: 'template_not_found', fix: 'svc agent templates' });
};

/** What was not said is asked for, the template first: the others have their usual answers by it. */
const asked = async (daemon: DaemonClient, wish: Wish, templates: readonly TemplateRow[]): Promise<Wish> => {
  const template = wish.template ?? (templates.length === 0 ? undefined : await choose('Template', templateOptions(templates)));
  const taken = new Set((await listAgents(daemon)).map((agent) => agent.name));
  const name = wish.name ?? (await askText('Name', freeName(template ?? 'agent', taken), (text) => (taken.has(text) ? `There is already an agent ${text}.` : undefined)));
  return { name, template, model: wish.model ?? (await askModel(daemon)) };
};

const templateOptions = (templates: readonly TemplateRow[]): Array<{ value: string | undefined; label: string; hint: string }> => {
  const isUsual = ({ name }: TemplateRow): number => Number(name !== 'assistant');
  const sorted = [...templates].sort((a, b) => isUsual(a) - isUsual(b) || a.name.localeCompare(b.name));
  return [...sorted.map(({ name, description }) => ({ value: name, label: name, hint: description })), { value: undefined, label: '(nothing)', hint: 'an agent with default settings' }];
};

const freeName = (wanted: string, taken: ReadonlySet<string>): string => {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  return name;
};

/** Undefined leaves it to the template, else to the daemon. */
const askModel = async (daemon: DaemonClient): Promise<string | undefined> => {
  const { models } = await daemon.call('listModels', { available: true });
  if (models.length < 2) return undefined;
  const options = models.map(({ display_name, id, provider }) => ({ value: `${provider}/${id}`, label: `${provider} / ${id}`, hint: display_name }));
  return choose<string | undefined>('Model', [{ value: undefined, label: 'Default', hint: "the template's model, or the default model" }, ...options]);
};

export const spawn = async (cli: Cli, manifest: string, { dryRun, name }: { readonly dryRun?: boolean; readonly name?: string }): Outcome => {
  const manifest_toml = await readManifest(manifest);
  const daemon = await cli.daemon();
  if (dryRun === true) return checked(cli, await daemon.call('checkAgentManifest', { body: { manifest_toml } }));
  return say(cli, await daemon.call('spawnAgent', { body: { manifest_toml, ...given('name', name) } }));
};

const checked = async (cli: Cli, { problems, warnings = [] }: OutputOf<'checkAgentManifest'>): Outcome => {
  if (cli.json) cli.out.json({ valid: problems.length === 0, problems, warnings });
  else {
    for (const { message } of problems) cli.out.line(cli.out.red(message));
    for (const warning of warnings) cli.out.line(cli.out.yellow(warning));
    cli.out.line(problems.length === 0 ? 'The manifest is valid. Nothing was created.' : 'Nothing was created.');
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
};

export const clone = async (cli: Cli, wanted: string, name: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  const { id } = await findAgent(daemon, wanted);
  return say(cli, await daemon.call('cloneAgent', { id, body: given('new_name', name) }));
};

/** Also what `svc agent apply` ends with where it made one. */
export const say = async (cli: Cli, made: Made): Outcome => {
  if (cli.json) cli.out.json(made);
  else {
    cli.out.line(`${cli.out.green('✓')} ${cli.out.bold(made.name)} is ready  ${cli.out.dim(made.agent_id)}\n  ${typed(`try  svc chat ${made.name}`)}`);
    for (const warning of made.warnings ?? []) cli.out.note(cli.out.yellow(warning));
  }
  return EXIT.ok;
};

export const listTemplates = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('listTemplates');
  if (cli.json) {
    cli.out.json(found);
    return EXIT.ok;
  }
  const { bold, dim } = cli.out;
  const rows = found.templates.map(({ name, description, source, tags }) => [name, description, tags.join(', '), source === 'home' ? 'yours' : '']);
  const columns = [{ title: 'TEMPLATE' }, { title: 'WHAT', shrinks: true }, { title: 'TAGS', shrinks: true, givesWay: true }, { title: '' }];
  for (const line of table(columns, rows, cli.out.width, (text, column, row) => (row < 0 || column > 1 ? dim(text) : column === 0 ? bold(text) : text))) cli.out.line(line);
  for (const { file, error } of found.skipped) cli.out.note(cli.out.yellow(`${file} cannot be used: ${error}`));
  return EXIT.ok;
};
