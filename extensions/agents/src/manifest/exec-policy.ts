/**
 * The key `exec_policy` of a manifest: a word, or a table with the keys of `[exec_policy]` in config.toml.
 * It narrows what `[capabilities] shell` grants and never adds to it.
 */
import type { ExecLimits } from '@svc/api';
import { textsOf } from './texts.js';

type Mode = ExecLimits['mode'];
type Table = Readonly<Record<string, unknown>>;
type Fail = (path: readonly string[], what: string) => never;

const WORDS: Readonly<Record<string, Mode>> = {
  ...{ deny: 'deny', none: 'deny', disabled: 'deny' },
  ...{ allowlist: 'allowlist', restricted: 'allowlist' },
  ...{ full: 'full', allow: 'full', all: 'full', unrestricted: 'full' },
};
const LISTS = ['allowed_commands', 'safe_bins', 'allowed_env_vars'];
const NUMBERS: Readonly<Record<string, number>> = { timeout_secs: 86_400, no_output_timeout_secs: 86_400, max_output_bytes: 1_073_741_824 };
/** They speak of asking a person first, which is another area's; nothing is allowed because of them. */
const ABOUT_APPROVAL = ['safe_bins_skip_approval', 'full_mode_skips_approval'];

export interface ReadExecPolicy {
  readonly limits: ExecLimits;
  readonly warnings: readonly string[];
}

/** Undefined where the manifest has no such key. `fail` throws, naming the key. */
export const readExecPolicy = (raw: unknown, shell: readonly string[], fail: Fail): ReadExecPolicy | undefined => {
  if (raw === undefined || raw === null) return undefined;
  const table: Table = typeof raw === 'string' ? { mode: raw } : typeof raw === 'object' && !Array.isArray(raw) ? (raw as Table) : fail(['exec_policy'], 'must be a word such as "deny" or a table');
  for (const key of Object.keys(table)) {
    if (![...LISTS, ...Object.keys(NUMBERS), ...ABOUT_APPROVAL, 'mode'].includes(key)) fail(['exec_policy', key], 'is not a key of exec_policy');
  }
  const list = (key: string): readonly string[] => textsOf(table[key] ?? []) ?? fail(['exec_policy', key], 'must be a list of texts');
  const number = (key: string): number | null => numberOf(table[key], NUMBERS[key] ?? 0) ?? fail(['exec_policy', key], `must be a whole number from 1 to ${NUMBERS[key]}`);
  // `allowed_commands = ["git *"]` names git.
  const programs = [...list('allowed_commands'), ...list('safe_bins')].map((command) => command.trim().split(/\s+/)[0] ?? '');
  const names = table.allowed_commands !== undefined || table.safe_bins !== undefined;
  const mode = table.mode === undefined ? (names ? 'allowlist' : 'full') : modeOf(table.mode, fail);
  const limits: ExecLimits = {
    mode,
    programs: mode === 'allowlist' && names ? programs : null,
    env: table.allowed_env_vars === undefined ? null : list('allowed_env_vars'),
    timeout_secs: table.timeout_secs === undefined ? null : number('timeout_secs'),
    no_output_timeout_secs: table.no_output_timeout_secs === undefined ? null : number('no_output_timeout_secs'),
    max_output_bytes: table.max_output_bytes === undefined ? null : number('max_output_bytes'),
  };
  return { limits, warnings: warningsOf(table, limits, shell) };
};

const modeOf = (word: unknown, fail: Fail): Mode => {
  const mode = typeof word === 'string' && Object.hasOwn(WORDS, word.toLowerCase()) ? WORDS[word.toLowerCase()] : undefined;
  return mode ?? fail(['exec_policy'], `must be one of ${Object.keys(WORDS).join(', ')}`);
};

const warningsOf = (table: Table, { mode, programs }: ExecLimits, shell: readonly string[]): string[] => {
  const warnings = ABOUT_APPROVAL.filter((key) => table[key] !== undefined).map((key) => `exec_policy.${key} changes nothing: [approval] in config.toml says which commands wait for an approval.`);
  if (mode === 'full' && table.mode !== undefined && !shell.includes('*')) warnings.push('exec_policy "full" adds nothing: what may be run is granted in [capabilities] shell.');
  if (programs !== null && programs.length > 0 && shell.length === 0) warnings.push('exec_policy.allowed_commands only narrows: [capabilities] shell grants no command.');
  return warnings;
};

const numberOf = (value: unknown, max: number): number | undefined => {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= max ? number : undefined;
};
