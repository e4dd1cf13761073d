/** `svc agent set`: one thing of an agent, by the operation it belongs to. */
import { type Cli, type DaemonClient, EXIT, Failure, type Outcome, loadToml, usageFailure } from '@svc/cli/area';
import { isTable, nearest } from '@svc/api';
import { type AgentRow, findAgent } from './agent-lookup.js';

interface Answer {
  readonly revision: number;
  readonly warnings?: readonly string[];
  /** Of a model: what the daemon took. */
  readonly provider?: string;
  readonly model?: string;
}

type Setter = (daemon: DaemonClient, id: string, value: string) => Promise<Answer>;

const text =
  (key: 'name' | 'description' | 'system_prompt'): Setter =>
  (daemon, id, value) =>
    daemon.call('patchAgent', { id, body: { [key]: value } });
const look =
  (key: 'emoji' | 'avatar_url' | 'color' | 'archetype' | 'vibe' | 'greeting_style'): Setter =>
  (daemon, id, value) =>
    daemon.call('patchAgentIdentity', { id, body: { [key]: value } });
const number =
  (key: 'temperature' | 'max_tokens'): Setter =>
  (daemon, id, value) => {
    if (value.trim() === '' || !Number.isFinite(Number(value))) throw usageFailure(`${key} must be a number, not "${value}" is none.`);
    return daemon.call('patchAgentConfig', { id, body: { [key]: Number(value) } });
  };

const SETTERS: Readonly<Record<string, Setter>> = {
  model: (daemon, id, model) => daemon.call('setAgentModel', { id, body: { model } }),
  provider: (daemon, id, provider) => daemon.call('patchAgentConfig', { id, body: { provider } }),
  mode: (daemon, id, mode) => daemon.call('setAgentMode', { id, body: { mode } }),
  name: text('name'),
  description: text('description'),
  system_prompt: text('system_prompt'),
  temperature: number('temperature'),
  max_tokens: number('max_tokens'),
  emoji: look('emoji'),
  avatar_url: look('avatar_url'),
  color: look('color'),
  archetype: look('archetype'),
  vibe: look('vibe'),
  greeting_style: look('greeting_style'),
};

export const set = async (cli: Cli, wanted: string, key: string, value: string): Outcome => {
  const daemon = await cli.daemon();
  const agent = await findAgent(daemon, wanted);
  const own = Object.hasOwn(SETTERS, key) ? SETTERS[key] : undefined;
  const answer = own === undefined ? await setManifestKey(daemon, agent, key, value) : await own(daemon, agent.id, value);
  const { revision, warnings = [] } = answer;
  if (cli.json) cli.out.json({ status: 'updated', agent_id: agent.id, name: key === 'name' ? value : agent.name, key, value, revision, warnings });
  else {
    cli.out.line(`${cli.out.green('✓')} ${agent.name}: ${key} is ${key === 'model' && answer.model !== undefined ? `${answer.provider} / ${answer.model}` : shown(value)}`);
    for (const warning of warnings) cli.out.note(cli.out.yellow(warning));
  }
  return EXIT.ok;
};

const MAX_SHOWN_CHARS = 60;
const shown = (value: string): string => {
  const flat = value.replace(/\s+/g, ' ').trim();
  return flat === '' ? 'empty' : flat.length > MAX_SHOWN_CHARS ? `${flat.slice(0, MAX_SHOWN_CHARS)}…` : flat;
};

/** Any key of agent.toml, a dot between a section and what is in it. */
const setManifestKey = async (daemon: DaemonClient, { id }: AgentRow, key: string, value: string): Promise<Answer> => {
  const names = key.split('.');
  if (names.includes('') || names.some((name) => ['manifest_toml', 'revision', '__proto__'].includes(name))) throw unknownKey(key, []);
  const patch = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), await tomlValue(value));
  try {
    const answer = await daemon.call('updateAgent', { id, body: isTable(patch) ? patch : {} });
    // Deeper keys that nobody knows are left out with a warning; of the one thing that was asked for that is a refusal.
    if (answer.warnings?.some((warning) => warning.startsWith(`${key} is not a key`))) throw unknownKey(key, []);
    return answer;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'agents_unknown_field') throw error;
    throw unknownKey(key, [/Did you mean ([^?]+)\?/.exec(error.message)?.[1] ?? []].flat());
  }
};

const unknownKey = (key: string, ofManifest: readonly string[]): Failure => {
  const near = [...new Set([...nearest(key, Object.keys(SETTERS)), ...ofManifest])];
  return new Failure(`"${key}" is not a key of an agent.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`, { code: 'cli_unknown_key', fix: 'svc agent set --help' });
};

/** A number, flag or list where it reads as one, else the text. */
const tomlValue = async (value: string): Promise<unknown> => {
  try {
    return (await loadToml())(`value = ${value}`).value;
  } catch {
    return value; // no TOML: a text that needs no quotes here
  }
};
