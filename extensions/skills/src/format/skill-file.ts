/**
 * SKILL.md, as people write it: front matter in YAML, then instructions in Markdown.
 *
 * F1  A byte order mark, CRLF, blank lines and HTML comments may precede the front matter, and there may be none.
 * F2  Front matter that is no YAML is read line by line, with a warning that names the line.
 * F3  Only what leaves no instructions or no name is an error; it names the line.
 * F4  A key without effect here is named, and an unknown one is kept.
 */
import { isTable } from '@svc/api';
import { parseDocument } from 'yaml';
import { listOf, MAX_ALIASES, readLines, textOf } from './loose-lines.js';

export const MAX_SKILL_BYTES = 1024 * 1024;
const MAX_DESCRIPTION = 1_024;
const FENCE = /^---[ \t]*$/;
const PLATFORM_TAGS = new Set(['macos', 'macos-only', 'linux', 'linux-only', 'windows', 'windows-only']);
const WITHOUT_EFFECT = ['model', 'context', 'agent', 'hooks', 'paths', 'globs'];
const HOST_KEYS = ['requires', 'primaryEnv', 'envVars', 'os', 'install', 'emoji'];
const KNOWN = new Set([
  ...['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools', 'version', 'author', 'tags', 'homepage', 'category', 'when_to_use', 'when-to-use'],
  ...['argument-hint', 'user-invocable', 'disable-model-invocation', ...WITHOUT_EFFECT],
]);

export interface Note {
  readonly line: number;
  readonly message: string;
}

export interface Requirements {
  readonly bins: readonly string[];
  readonly anyBins: readonly string[];
  readonly env: readonly string[];
  readonly config: readonly string[];
  readonly os: readonly string[];
  /** What installs the programs, as the author wrote it. */
  readonly installs: readonly string[];
}

/** What a file says of a skill. */
export interface SkillText {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly author: string;
  readonly license: string;
  readonly homepage: string;
  readonly emoji: string;
  readonly tags: readonly string[];
  readonly category: string;
  readonly allowedTools: readonly string[];
  readonly argumentHint: string;
  readonly isUserInvocable: boolean;
  readonly isModelInvocable: boolean;
  readonly requires: Requirements;
  readonly body: string;
  readonly warnings: readonly Note[];
}

export class SkillFault extends Error {
  override readonly name = 'SkillFault';
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** `folder`: the name where the file has none. Throws `SkillFault`. */
export const readSkillFile = (whole: string, folder: string): SkillText => {
  const { front, body, line } = split(whole);
  const warnings: Note[] = [];
  const values = front === undefined ? {} : valuesOf(front, line, warnings);
  const given = textOf(values.name) || folder;
  const name = nameOf(given);
  if (name === '') throw new SkillFault(line, given === '' ? 'it has no name' : `the name ${JSON.stringify(given)} has no letter from a to z and no digit`);
  if (textOf(values.name) !== '' && name !== textOf(values.name)) warnings.push({ line, message: `the name ${JSON.stringify(given)} became "${name}"` });
  const description = (textOf(values.description) || firstParagraph(body)).trim();
  if (description === '') throw new SkillFault(line, 'it has no description and no text that could be one');
  if (description.length > MAX_DESCRIPTION) warnings.push({ line, message: `the description has more than ${MAX_DESCRIPTION} characters` });
  const without = WITHOUT_EFFECT.filter((key) => values[key] !== undefined);
  if (without.length > 0) warnings.push({ line, message: `${without.join(', ')}: without effect in svc` });
  const unknown = Object.keys(values).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) warnings.push({ line, message: `not a key of skills: ${unknown.join(', ')}` });
  const claw = clawOf(values.metadata, line, warnings);
  const metadata = isTable(values.metadata) ? values.metadata : {};
  const tags = listOf(values.tags ?? metadata.tags);
  return {
    ...{ name, description, tags, body, warnings },
    version: textOf(values.version ?? metadata.version) || '0.1.0',
    author: textOf(values.author ?? metadata.author),
    license: textOf(values.license),
    homepage: textOf(values.homepage ?? claw.homepage),
    emoji: textOf(claw.emoji),
    category: textOf(values.category) || (tags.find((tag) => !PLATFORM_TAGS.has(tag.toLowerCase())) ?? 'general'),
    allowedTools: listOf(values['allowed-tools']),
    argumentHint: textOf(values['argument-hint']),
    isUserInvocable: textOf(values['user-invocable']) !== 'false',
    isModelInvocable: textOf(values['disable-model-invocation']) !== 'true',
    requires: requirementsOf(claw, tags),
  };
};

/** The form of a name in addresses and tools: lower case letters, digits, `_` and `-`, at most 64. Empty where nothing is left. */
export const nameOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .slice(0, 64)
    .replace(/^[-_]+|[-_]+$/g, '');

const split = (whole: string): { front: string | undefined; body: string; line: number } => {
  const lines = whole
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  let start = 0;
  for (; start < lines.length; start += 1) {
    const text = (lines[start] ?? '').trim();
    if (text === '') continue;
    if (!text.startsWith('<!--')) break;
    while (start < lines.length && !(lines[start] ?? '').includes('-->')) start += 1;
  }
  if (!FENCE.test(lines[start] ?? '')) return { front: undefined, body: lines.join('\n').trim(), line: 1 };
  const end = lines.findIndex((text, index) => index > start && FENCE.test(text));
  if (end < 0) throw new SkillFault(start + 1, 'the front matter has no closing ---');
  return {
    front: lines.slice(start + 1, end).join('\n'),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
    line: start + 2,
  };
};

type Values = Readonly<Record<string, unknown>>;

const valuesOf = (front: string, line: number, warnings: Note[]): Values => {
  const document = parseDocument(front, { schema: 'core', version: '1.2', uniqueKeys: true, prettyErrors: true, logLevel: 'silent' });
  const [fault] = document.errors;
  try {
    const values: unknown = fault ? undefined : document.toJS({ maxAliasCount: MAX_ALIASES });
    if (isTable(values)) return { ...values, ...sourceTexts(document) };
    if (values === null) return {};
  } catch (error) {
    warnings.push({ line, message: `the front matter was read line by line: ${String((error as Error).message).split('\n')[0]}` });
    return readLines(front);
  }
  const at = fault?.linePos?.[0].line ?? 1;
  warnings.push({ line: line + at - 1, message: `the front matter is not YAML and was read line by line: ${fault?.message.split('\n')[0] ?? 'it has no keys'}` });
  return readLines(front);
};

/** `version: 1.10` is a text: its number would be 1.1. */
const sourceTexts = (document: ReturnType<typeof parseDocument>): Values => {
  const node: unknown = document.get('version', true);
  return isTable(node) && typeof node.source === 'string' ? { version: node.source } : {};
};

const firstParagraph = (body: string): string =>
  body
    .split(/\n\s*\n/)
    .map((part) => part.replace(/^#{1,6} .*$/gm, '').trim())
    .find((part) => part !== '' && !part.startsWith('```'))
    ?.replace(/\s+/g, ' ')
    .slice(0, MAX_DESCRIPTION) ?? '';

/** What other hosts of skills read below `metadata`: a map, or the same as JSON text. */
const clawOf = (metadata: unknown, line: number, warnings: Note[]): Values => {
  const whole = tableIn(metadata, line, warnings);
  for (const name of ['openclaw', 'clawdbot', 'clawdis']) {
    const found = tableIn(whole[name], line, warnings);
    if (Object.keys(found).length > 0) return found;
  }
  // Other hosts say the same below their own names.
  return Object.values(whole).find((value): value is Values => isTable(value) && HOST_KEYS.some((key) => value[key] !== undefined)) ?? {};
};

const tableIn = (value: unknown, line: number, warnings: Note[]): Values => {
  if (isTable(value)) return value;
  if (typeof value !== 'string' || value.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isTable(parsed) ? parsed : {};
  } catch {
    warnings.push({ line, message: 'metadata is text that is no JSON, and was left out' });
    return {};
  }
};

const requirementsOf = (claw: Values, tags: readonly string[]): Requirements => {
  const requires = isTable(claw.requires) ? claw.requires : {};
  const primary = textOf(claw.primaryEnv);
  const variables = Array.isArray(claw.envVars) ? claw.envVars.map((one) => (isTable(one) ? textOf(one.name) : textOf(one))) : [];
  const byTag = tags.map((tag) => /^(macos|linux|windows)(-only)?$/i.exec(tag)?.[1]?.toLowerCase()).filter((os) => os !== undefined);
  return {
    bins: listOf(requires.bins),
    anyBins: listOf(requires.anyBins),
    env: [...new Set([...listOf(requires.env), ...variables, primary].filter((name) => /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name)))],
    config: listOf(requires.config),
    os: [...new Set([...listOf(claw.os).map(systemOf), ...byTag])],
    installs: Array.isArray(claw.install) ? claw.install.map(installLine).filter((text) => text !== '') : [],
  };
};

const systemOf = (name: string): string => ({ darwin: 'macos', win32: 'windows' })[name.toLowerCase()] ?? name.toLowerCase();

const installLine = (entry: unknown): string => {
  if (!isTable(entry)) return textOf(entry);
  const what = textOf(entry.formula ?? entry.package ?? entry.module ?? entry.url);
  const by: Readonly<Record<string, string>> = { brew: 'brew install', node: 'npm install -g', go: 'go install', uv: 'uv tool install', apt: 'apt install' };
  const how = by[textOf(entry.kind)];
  return what === '' ? textOf(entry.label) : how === undefined ? what : `${how} ${what}`;
};
