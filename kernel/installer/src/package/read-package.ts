/** What an unpacked package says of itself, validated before anything of it runs. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { capabilityNameFault, isTable } from '@svc/api';
import { grantFaults, inNewestForm, Manifest, MIGRATION_STEPS } from '@svc/api/internal';
import type { ErrorObject, ValidateFunction } from 'ajv';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import { faultsOfCommands, faultsOfForeignWords } from '../commands/declared-commands.js';
import { faultsOfCompletions } from '../commands/completions.js';
import { compileSchema } from '../compile-schema.js';
import { type AllContributions, faultsOfSlashCommands } from '../contributions.js';
import { installErrors } from '../errors.js';
import { faultsOfSchemas } from './declared-schemas.js';
import { hiddenCharacterFault } from './hidden-characters.js';
import { REQUIRED_FILES } from './package-files.js';

const MAX_JSON_BYTES = 4 * 1024 * 1024;
const MAX_REASONS = 5;

/** Of package.json. */
export interface PackageIdentity {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string | undefined;
}

export interface PackageContent {
  readonly package: PackageIdentity;
  readonly manifest: Manifest;
  readonly contributions: AllContributions;
}

/** Rejects with `install_incomplete` or `install_manifest`. */
export const readPackage = async (dir: string): Promise<PackageContent> => {
  for (const path of REQUIRED_FILES) if (!(await isFile(join(dir, path)))) throw installErrors.incomplete(path);
  const manifest = validatedManifest(inNewestForm(await readJson(dir, 'extension.json')));
  const identity = validatedIdentity(await readJson(dir, 'package.json'));
  const contributions = validatedContributions(await readJson(dir, 'contributions.json'), manifest.id);
  for (const { entry } of Object.values(manifest.workers ?? {})) if (!(await isFile(join(dir, entry)))) throw installErrors.incomplete(entry);
  return { package: identity, manifest, contributions };
};

/** What people write of a package. Rejects with `install_manifest`. */
export const readDeclared = async (dir: string): Promise<Pick<PackageContent, 'package' | 'manifest'>> => ({
  manifest: validatedManifest(inNewestForm(await readJson(dir, 'extension.json'))),
  package: validatedIdentity(await readJson(dir, 'package.json')),
});

const isFile = async (file: string): Promise<boolean> => (await stat(file).catch(() => undefined))?.isFile() === true;

const readJson = async (dir: string, path: string): Promise<unknown> => {
  const file = join(dir, path);
  if ((await stat(file)).size > MAX_JSON_BYTES) throw installErrors.archive_size(path, '4 MB');
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw installErrors.manifest(path, [error instanceof Error ? error.message : 'it is not JSON']);
  }
};

let manifestCheck: ValidateFunction | undefined;

const validatedManifest = (value: unknown): Manifest => {
  manifestCheck ??= compileSchema(Manifest, { allErrors: true });
  const faults = manifestCheck(value) ? [] : (manifestCheck.errors ?? []).filter((error) => !isOfList(error)).map(sentence);
  const hidden = hiddenCharacterFault(value);
  const all = [...new Set([...(hidden === undefined ? [] : [hidden]), ...faults, ...faultsOfLists(value)])];
  if (all.length > 0) throw installErrors.manifest('extension.json', all.slice(0, MAX_REASONS));
  // Validated by the schema that the type comes from.
  const manifest = value as Manifest;
  if (!manifest.id.includes('-')) throw installErrors.manifest('extension.json', [`/id is "${manifest.id}"; the id of an extension that does not come with svc is publisher-name`]);
  if (validRange(manifest.api) === null) throw installErrors.manifest('extension.json', [`/api is "${manifest.api}", which is not a version range`]);
  const outside = Object.values(manifest.workers ?? {}).find(({ entry }) => !/^dist\/[\w./-]+$/.test(entry) || entry.split('/').includes('..'));
  if (outside) throw installErrors.manifest('extension.json', [`/workers: the entry "${outside.entry}" is not a file in dist/`]);
  return manifest;
};

/** What a list says of itself is clearer than that a pattern does not match. */
const isOfList = (error: ErrorObject): boolean => error.keyword === 'pattern' && /^\/(grants\/\d+\/grant|capabilities\/\d+)$/.test(error.instancePath);

const faultsOfLists = (value: unknown): string[] => {
  if (!isTable(value)) return [];
  const grants = Array.isArray(value.grants) ? value.grants.filter((one): one is { grant: string } => isTable(one) && typeof one.grant === 'string') : [];
  const capabilities = Array.isArray(value.capabilities) ? value.capabilities.filter((one) => typeof one === 'string') : [];
  const hooks = Array.isArray(value.hooks) ? value.hooks.filter((one): one is { name: string } => isTable(one) && typeof one.name === 'string') : [];
  const replace = typeof value.replace === 'string' ? { replace: value.replace } : {};
  return [
    ...grantFaults({ grants, hooks, ...replace }).map((fault) => `/grants: ${fault}`),
    ...capabilities.flatMap((name) => (capabilityNameFault(name) === undefined ? [] : [`/capabilities: "${name}" ${capabilityNameFault(name)}`])),
  ];
};

const sentence = ({ instancePath, keyword, message, params }: ErrorObject): string => {
  const at = instancePath || '/';
  if (keyword === 'additionalProperties') return `${at} has the unknown field "${params.additionalProperty}"`;
  if (keyword === 'const') return `${at} must be ${JSON.stringify(params.allowedValue)}`;
  return `${at} ${message ?? 'does not fit'}`;
};

const validatedIdentity = (value: unknown): PackageIdentity => {
  const fault = (reason: string): Error => installErrors.manifest('package.json', [reason]);
  if (!isTable(value)) throw fault('it is not an object');
  const { name, version, description, license } = value;
  if (typeof name !== 'string' || name === '' || name.length > 214) throw fault('/name is missing');
  if (typeof version !== 'string' || valid(version) !== version || version.length > 64) throw fault('/version is not a version such as 1.2.3');
  if (description !== undefined && typeof description !== 'string') throw fault('/description is not a text');
  if (!/^[\x21-\x7e]+$/.test(name)) throw fault('/name has other characters than those of ASCII, which may look like them');
  const hidden = hiddenCharacterFault({ description, license });
  if (hidden !== undefined) throw fault(hidden);
  return { name, version, description: (description ?? '').slice(0, 500), license: typeof license === 'string' ? license : undefined };
};

const isStep = (step: unknown): boolean => isTable(step) && MIGRATION_STEPS.some((known) => known === step.do) && Array.isArray(step.with);

const LISTS = ['routes', 'sockets', 'tools', 'declares', 'taps', 'migrations', 'timers', 'workers'] as const;

/** Of each list, at most: the daemon holds every entry against those of all others. */
const MOST: Readonly<Record<string, number>> = {
  routes: 500,
  sockets: 100,
  tools: 200,
  declares: 1_000,
  taps: 200,
  migrations: 1_000,
  timers: 50,
  workers: 50,
  commands: 500,
  commandWords: 20,
  slashCommands: 50,
  completions: 20,
};
const MIN_TIMER_MS = 50;

const isTimer = (timer: unknown): boolean =>
  isTable(timer) && typeof timer.name === 'string' && [timer.everyMs, timer.afterMs].every((ms, index) => ms === undefined || (typeof ms === 'number' && ms >= (index === 0 ? MIN_TIMER_MS : 0)));

/** Lists that packages from before they were there do not have. */
const LATER_LISTS = ['commands', 'commandWords', 'slashCommands', 'completions'] as const;

const validatedContributions = (value: unknown, id: string): AllContributions => {
  const fault = (reason: string): Error => installErrors.manifest('contributions.json', [reason]);
  if (!isTable(value)) throw fault('it is not an object');
  const rows = (name: string): unknown[] => (Array.isArray(value[name]) ? value[name] : []);
  const unclaimed = LISTS.find((name) => !Array.isArray(value[name]));
  const strange = unclaimed ?? LATER_LISTS.find((name) => value[name] !== undefined && !Array.isArray(value[name]));
  if (strange !== undefined) throw fault(`/${strange} is not a list; svc ext build writes the file`);
  const [long] = Object.entries(MOST).find(([name, most]) => rows(name).length > most) ?? [];
  if (long !== undefined) throw fault(`/${long} has more than ${MOST[long]} entries`);
  if (!isTable(value.config)) throw fault('/config is not an object; svc ext build writes the file');
  const hasTexts = (row: unknown, ...names: string[]): boolean => isTable(row) && names.every((name) => typeof row[name] === 'string');
  if (!rows('routes').every((row) => hasTexts(row, 'method', 'path'))) throw fault('a route has no method or no path');
  const hidden = hiddenCharacterFault(
    rows('routes').map((row) => isTable(row) && { method: row.method, path: row.path }),
    '/routes',
  );
  if (hidden !== undefined) throw fault(hidden);
  const unseen = hiddenCharacterFault({ commands: rows('commands'), commandWords: rows('commandWords'), slashCommands: rows('slashCommands'), completions: rows('completions') });
  if (unseen !== undefined) throw fault(unseen);
  if (![...rows('commands'), ...rows('commandWords'), ...rows('slashCommands'), ...rows('completions')].every(isTable)) throw fault('a command is not an object');
  if (!rows('sockets').every((row) => hasTexts(row, 'path'))) throw fault('a socket has no path');
  if (!rows('tools').every((row) => hasTexts(row, 'name', 'risk', 'replay'))) throw fault('a tool has no name, no risk or no replay');
  if (!rows('declares').every((row) => hasTexts(row, 'declares', 'name', 'version'))) throw fault('a declaration has no kind, name or version');
  if (!rows('taps').every((row) => hasTexts(row, 'name', 'version', 'kind'))) throw fault('a tap has no name, version or kind');
  if (!rows('migrations').every((row) => hasTexts(row, 'name') && isTable(row) && Array.isArray(row.steps) && row.steps.every(isStep))) throw fault('a migration has no name or no steps');
  if (!rows('migrations').every((row) => isTable(row) && (row.replaces === undefined || (Array.isArray(row.replaces) && row.replaces.every((name) => typeof name === 'string')))))
    throw fault('what a migration replaces is no list of names');
  if (!rows('timers').every(isTimer)) throw fault(`a timer has no name, or waits less than ${MIN_TIMER_MS} ms`);
  // Every member that the type names was looked at; what stands deeper is validated where it is used.
  const contributions = value as unknown as AllContributions;
  const [schema] = faultsOfSchemas(contributions);
  if (schema !== undefined) throw fault(schema.replace(/[.]$/, ''));
  const [command] = [
    ...faultsOfCommands(id, contributions),
    ...faultsOfForeignWords(contributions),
    ...faultsOfCompletions(contributions),
    ...faultsOfSlashCommands(contributions.slashCommands ?? []),
  ];
  if (command !== undefined) throw fault(command);
  return contributions;
};
