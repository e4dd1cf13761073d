/** The fields of the form, and the keys of a manifest that they stand for. All are texts and flags, so that what was touched is plain to see. */
import type { AgentDetail } from './agent-badge.js';
import { c } from './capability-words.js';
import { e } from './edit-words.js';
import { t } from './words.js';

export const LISTED_GRANTS = ['network', 'shell', 'agent_message', 'memory_read', 'memory_write'] as const;
export const FLAG_GRANTS = ['file_system', 'agent_spawn'] as const;
export type ListedGrant = (typeof LISTED_GRANTS)[number];
export type FlagGrant = (typeof FLAG_GRANTS)[number];

export type ToolChoice = 'all' | 'chosen' | 'none';

/** A type, not an interface: a record to whoever compares field by field. Lists are lines. */
export type AgentFields = {
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly prompt: string;
  /** `PROVIDER MODEL`. */
  readonly model: string;
  readonly temperature: string;
  readonly max_tokens: string;
  readonly tool_choice: ToolChoice;
  readonly tools: string;
  readonly cost_hour: string;
  readonly cost_day: string;
} & { readonly [Grant in ListedGrant]: string } & { readonly [Grant in FlagGrant]: boolean };

export const DEFAULT_MODEL = 'default default';

export const EMPTY: AgentFields = {
  name: '',
  description: '',
  tags: '',
  prompt: '',
  model: DEFAULT_MODEL,
  temperature: '0.7',
  max_tokens: '4096',
  tool_choice: 'all',
  tools: '',
  network: '',
  shell: '',
  agent_message: '',
  memory_read: '',
  memory_write: '',
  file_system: true,
  agent_spawn: false,
  cost_hour: '0',
  cost_day: '0',
};

export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

export const modelText = ({ provider, model }: { readonly provider: string; readonly model: string }): string => `${provider} ${model}`;

export const modelOf = (text: string): { provider: string; model: string } => {
  const [provider = 'default', ...model] = text.split(' ');
  return { provider, model: model.join(' ') || 'default' };
};

const isEverything = (tools: readonly string[]): boolean => tools.length === 0 || tools.includes('*');

export const fieldsOf = ({ name, description, tags, system_prompt, model, capabilities, tools_disabled, resources }: AgentDetail): AgentFields => ({
  name,
  description,
  tags: tags.join('\n'),
  prompt: system_prompt,
  model: modelText(model.asked),
  temperature: String(model.temperature),
  max_tokens: String(model.max_tokens),
  tool_choice: tools_disabled ? 'none' : isEverything(capabilities.tools) ? 'all' : 'chosen',
  tools: isEverything(capabilities.tools) ? '' : capabilities.tools.join('\n'),
  network: capabilities.network.join('\n'),
  shell: capabilities.shell.join('\n'),
  agent_message: capabilities.agent_message.join('\n'),
  memory_read: capabilities.memory_read.join('\n'),
  memory_write: capabilities.memory_write.join('\n'),
  file_system: capabilities.file_system,
  agent_spawn: capabilities.agent_spawn,
  cost_hour: String(resources.max_cost_per_hour_usd),
  cost_day: String(resources.max_cost_per_day_usd),
});

type Table = Record<string, unknown>;
/** Where each field stands in a manifest, and what of it. */
const PLACES: { readonly [Field in keyof AgentFields]: (fields: AgentFields) => readonly [section: string | undefined, values: Table] } = {
  name: ({ name }) => [undefined, { name: name.trim() }],
  description: ({ description }) => [undefined, { description }],
  tags: ({ tags }) => [undefined, { tags: linesOf(tags) }],
  prompt: ({ prompt }) => ['model', { system_prompt: prompt }],
  model: ({ model }) => ['model', modelOf(model)],
  temperature: ({ temperature }) => ['model', { temperature: Number(temperature) }],
  max_tokens: ({ max_tokens }) => ['model', { max_tokens: Number(max_tokens) }],
  tool_choice: ({ tool_choice }) => [undefined, { tools_disabled: tool_choice === 'none' }],
  tools: (fields) => ['capabilities', { tools: grantedTools(fields) }],
  network: ({ network }) => ['capabilities', { network: linesOf(network) }],
  shell: ({ shell }) => ['capabilities', { shell: linesOf(shell) }],
  agent_message: ({ agent_message }) => ['capabilities', { agent_message: linesOf(agent_message) }],
  memory_read: ({ memory_read }) => ['capabilities', { memory_read: linesOf(memory_read) }],
  memory_write: ({ memory_write }) => ['capabilities', { memory_write: linesOf(memory_write) }],
  file_system: ({ file_system }) => ['capabilities', { file_system }],
  agent_spawn: ({ agent_spawn }) => ['capabilities', { agent_spawn }],
  cost_hour: ({ cost_hour }) => ['resources', { max_cost_per_hour_usd: Number(cost_hour) }],
  cost_day: ({ cost_day }) => ['resources', { max_cost_per_day_usd: Number(cost_day) }],
};

const FIELDS = Object.keys(PLACES) as Array<keyof AgentFields>; // the keys of that very object

const grantedTools = ({ tool_choice, tools }: AgentFields): string[] => (tool_choice === 'all' ? [] : linesOf(tools));

/** The keys of agent.toml that differ: as a change of a manifest, and, from an empty form, as a manifest. */
export const changedKeys = (base: AgentFields, fields: AgentFields): Table => {
  const out: Record<string, Table> & Table = {};
  const touched = FIELDS.filter((field) => base[field] !== fields[field]);
  // Whether all tools are meant stands in the list itself.
  if (touched.includes('tool_choice') && !touched.includes('tools')) touched.push('tools');
  for (const field of touched) {
    const [section, values] = PLACES[field](fields);
    if (section === undefined) Object.assign(out, values);
    else out[section] = { ...out[section], ...values };
  }
  return out;
};

/** What is wrong with each field, in words; empty where nothing is. */
export type Faults = Partial<Record<keyof AgentFields, string>>;

export const faultsOf = (fields: AgentFields): Faults => {
  const faults: Faults = {};
  const isNumber = (text: string, min: number, max: number): boolean => text.trim() !== '' && Number(text) >= min && Number(text) <= max;
  if (fields.name.trim() === '') faults.name = t('name_missing');
  if (!isNumber(fields.temperature, 0, 2)) faults.temperature = e('temperature_wrong');
  if (!isNumber(fields.max_tokens, 1, 10_000_000) || !Number.isInteger(Number(fields.max_tokens))) faults.max_tokens = e('max_tokens_wrong');
  for (const field of ['cost_hour', 'cost_day'] as const) if (!isNumber(fields[field], 0, 1_000_000_000)) faults[field] = e('cost_wrong');
  if (fields.tool_choice === 'chosen' && linesOf(fields.tools).length === 0) faults.tools = c('tools_empty');
  return faults;
};

const inWords = (text: string): string => linesOf(text).join(', ') || '–';

/** All of it as lines, to be compared. */
export const textOfFields = (fields: AgentFields): string => {
  const { provider, model } = modelOf(fields.model);
  const tools = { all: c('tools_all'), none: c('tools_none'), chosen: inWords(fields.tools) }[fields.tool_choice];
  return [
    `${t('name')}: ${fields.name}`,
    `${e('description')}: ${fields.description}`,
    `${e('tags')}: ${inWords(fields.tags)}`,
    `${e('model')}: ${fields.model === DEFAULT_MODEL ? e('model_default') : `${model} · ${provider}`}`,
    `${e('temperature')}: ${fields.temperature}`,
    `${e('max_tokens')}: ${fields.max_tokens}`,
    `${e('cost_hour')}: ${fields.cost_hour}`,
    `${e('cost_day')}: ${fields.cost_day}`,
    ...FLAG_GRANTS.map((grant) => `${c(grant)}: ${fields[grant] ? '✓' : '–'}`),
    ...LISTED_GRANTS.map((grant) => `${c(grant)}: ${inWords(fields[grant])}`),
    `${c('tools')}: ${tools}`,
    `${e('prompt')}:`,
    fields.prompt,
  ].join('\n');
};
