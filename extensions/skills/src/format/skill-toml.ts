/** skill.toml: a skill with programs that its agent calls as tools. */
import { parse } from '@iarna/toml';
import { isTable } from '@svc/api';
import { listOf, textOf } from './loose-lines.js';
import { MAX_FUEL } from '../wasm/meter.js';
import { nameOf, SkillFault } from './skill-file.js';

export const RUNTIMES = ['PromptOnly', 'Python', 'Node', 'Wasm', 'Shell'] as const;
export type Runtime = (typeof RUNTIMES)[number];

const RUNTIME_WORDS: ReadonlyMap<string, Runtime> = new Map<string, Runtime>(
  Object.entries({
    ...{ promptonly: 'PromptOnly', prompt_only: 'PromptOnly', 'prompt-only': 'PromptOnly', builtin: 'PromptOnly' },
    ...{ python: 'Python', node: 'Node', 'node.js': 'Node', nodejs: 'Node', wasm: 'Wasm', shell: 'Shell', bash: 'Shell' },
  }),
);
const DEFAULT_SECS = 120;
const MAX_SECS = 600;
const WASM_SECS = 30;
const DEFAULT_FUEL = 1_000_000;
const DEFAULT_MB = 16;
const MAX_MB = 256;
const MAX_TOOLS = 50;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

export interface ScriptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface SkillProgram {
  readonly runtime: Runtime;
  readonly entry: string;
  readonly tools: readonly ScriptTool[];
  readonly timeoutSecs: number;
  /** Of a module of WebAssembly: some instructions each. */
  readonly fuel: number;
  readonly memoryMb: number;
  readonly env: readonly string[];
  /** Free-form settings that go into each call. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly needsTools: readonly string[];
}

export interface TomlSkill {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly author: string;
  readonly license: string;
  readonly tags: readonly string[];
  /** Undefined where it stands in prompt_context.md. */
  readonly promptContext: string | undefined;
  readonly program: SkillProgram;
}

/** Throws `SkillFault`. */
export const readSkillToml = (text: string, folder: string): TomlSkill => {
  const whole = parsed(text);
  const skill = isTable(whole.skill) ? whole.skill : {};
  const name = nameOf(textOf(skill.name) || folder);
  if (name === '') throw new SkillFault(1, '[skill] name is missing');
  return {
    name,
    description: textOf(skill.description),
    version: textOf(skill.version) || '0.1.0',
    author: textOf(skill.author),
    license: textOf(skill.license),
    tags: listOf(skill.tags),
    promptContext: typeof whole.prompt_context === 'string' ? whole.prompt_context : undefined,
    program: programOf(whole),
  };
};

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const { line, message } = error as Error & { line?: number };
    throw new SkillFault((line ?? 0) + 1, `it is no TOML: ${message.split('\n')[0] ?? ''}`);
  }
};

const programOf = (whole: Readonly<Record<string, unknown>>): SkillProgram => {
  const table = isTable(whole.runtime) ? whole.runtime : {};
  const word = textOf(table.type) || 'promptonly';
  const runtime = RUNTIME_WORDS.get(word.toLowerCase());
  if (runtime === undefined) throw new SkillFault(1, `[runtime] type = "${word}" is none of python, node, shell, wasm and promptonly`);
  const entry = textOf(table.entry);
  if (runtime !== 'PromptOnly' && entry === '') throw new SkillFault(1, '[runtime] entry is missing');
  const needs = isTable(whole.requirements) ? whole.requirements : {};
  const tools = isTable(whole.tools) && Array.isArray(whole.tools.provided) ? whole.tools.provided.slice(0, MAX_TOOLS).map(toolOf) : [];
  const [defaultSecs, maxSecs] = runtime === 'Wasm' ? [WASM_SECS, WASM_SECS] : [DEFAULT_SECS, MAX_SECS];
  return {
    ...{ runtime, entry, tools },
    timeoutSecs: bounded(needs.timeout_secs, defaultSecs, maxSecs),
    fuel: Math.floor(bounded(needs.fuel, DEFAULT_FUEL, MAX_FUEL)),
    memoryMb: Math.ceil(bounded(needs.memory_mb, DEFAULT_MB, MAX_MB)),
    env: listOf(whole.env_passthrough).filter((name) => VARIABLE.test(name)),
    config: isTable(whole.config) ? whole.config : {},
    needsTools: listOf(needs.tools),
  };
};

/** Zero and what is no number stand for the default. */
const bounded = (given: unknown, fallback: number, most: number): number => {
  const value = Number(given ?? 0);
  return Math.min(most, value > 0 ? value : fallback);
};

const toolOf = (entry: unknown): ScriptTool => {
  const table = isTable(entry) ? entry : {};
  const name = textOf(table.name);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new SkillFault(1, `[[tools.provided]] name = ${JSON.stringify(name)} is no name of a tool`);
  const schema = isTable(table.input_schema) ? table.input_schema : {};
  return { name, description: textOf(table.description), schema: { properties: {}, ...schema, type: 'object' } };
};
