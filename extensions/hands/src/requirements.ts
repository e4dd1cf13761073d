/**
 * What a hand needs of this machine, and whether it is there.
 *
 * Q1  A program is looked for on the PATH of the daemon; it is never started to find out, but for `python3`, which must be of version 3.
 * Q2  Of a variable svc learns whether it has a value, never the value.
 */
import type { Clock, ExecOptions, ExecResult, Secrets } from '@svc/api';
import type { Hand, Requirement, Setting } from './hand-file.js';

export type Exec = (program: string, args: readonly string[], options: ExecOptions) => Promise<ExecResult>;

export interface RequirementDeps {
  readonly exec: Exec;
  readonly secrets: Pick<Secrets, 'where'>;
  readonly clock: Pick<Clock, 'mono'>;
  /** A folder of the extension, where programs start. */
  readonly folder: () => Promise<string>;
}

export type Checked = Requirement & { readonly optional: boolean; readonly satisfied: boolean };

export interface Requirements {
  of(hand: Hand): Promise<Checked[]>;
  hasProgram(name: string): Promise<boolean>;
  hasVariable(name: string): Promise<boolean>;
  /** Forgets what was found. */
  forget(): void;
}

const FOUND_MS = 10_000;
const LOOK_MS = 5_000;
/** Other names of a program. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  chromium: ['chromium', 'chromium-browser', 'chromium-headless-shell', 'google-chrome', 'google-chrome-stable', 'chrome', 'msedge'],
  python: ['python3', 'python'],
};
const PROGRAM = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const createRequirements = (deps: RequirementDeps): Requirements => {
  const programs = new Map<string, { readonly at: number; readonly found: Promise<boolean> }>();
  const hasProgram = (name: string): Promise<boolean> => {
    const known = programs.get(name);
    if (known && deps.clock.mono() - known.at < FOUND_MS) return known.found;
    const found = lookUp(deps, name);
    programs.set(name, { at: deps.clock.mono(), found });
    return found;
  };
  const hasVariable = async (name: string): Promise<boolean> => VARIABLE.test(name) && (await deps.secrets.where({ secret: `hands.${name}`, env: name })) !== undefined;
  const isMet = async ({ requirement_type: type, check_value: value }: Requirement): Promise<boolean> => {
    if (type === 'binary') return anyOf(NAMES[value] ?? [value], hasProgram);
    return anyOf(type === 'any_env_var' ? value.split(',').map((one) => one.trim()) : [value], hasVariable);
  };
  return {
    of: (hand) => Promise.all(hand.requires.map(async (one) => ({ ...one, optional: one.optional ?? false, satisfied: await isMet(one) }))),
    hasProgram,
    hasVariable,
    forget: () => programs.clear(),
  };
};

const anyOf = async (names: readonly string[], has: (name: string) => Promise<boolean>): Promise<boolean> => {
  for (const name of names) if (await has(name)) return true;
  return false;
};

const lookUp = async ({ exec, folder }: RequirementDeps, name: string): Promise<boolean> => {
  if (!PROGRAM.test(name)) return false;
  const options = { cwd: await folder(), timeoutMs: LOOK_MS };
  // The name is an argument, and never part of the script.
  const found = await exec('sh', ['-c', 'command -v -- "$0"', name], options);
  if (found.exitCode !== 0) return false;
  return name !== 'python3' || (await exec('python3', ['-c', 'import sys; sys.exit(sys.version_info[0] != 3)'], options)).exitCode === 0;
};

export const isMetAll = (checked: readonly Checked[]): boolean => checked.every(({ optional, satisfied }) => optional || satisfied);

export interface ShownOption {
  readonly value: string;
  readonly label: string;
  readonly provider_env?: string;
  readonly binary?: string;
  readonly available: boolean;
}

/** Which values of a setting can be used here. */
export const optionsOf = async ({ hasProgram, hasVariable }: Requirements, { options = [] }: Setting): Promise<ShownOption[]> =>
  Promise.all(
    options.map(async (option) => ({
      ...option,
      label: option.label ?? option.value,
      available: (option.binary === undefined || (await hasProgram(option.binary))) && (option.provider_env === undefined || (await hasVariable(option.provider_env))),
    })),
  );
