/** The settings that hold as a file. Secrets are named in comments, and are not in it. */
import type { SettingShown } from '@svc/api/internal';
import { printKey, printValue } from '../file/toml-print.js';
import { NOT_SET, SET } from './secrecy.js';

const HEAD = ['# The settings of svc as they hold, defaults and environment included.', '# Secrets are not in it: a comment stands where one is set. Put them back by hand before you use the file.'];

export const exportedSettings = (settings: readonly SettingShown[]): string => {
  const tops = settings.filter(({ keys }) => keys.length === 1);
  const tables = new Map<string, SettingShown[]>();
  for (const setting of settings) {
    if (setting.keys.length === 1) continue;
    const table = printKey(setting.keys.slice(0, -1));
    tables.set(table, [...(tables.get(table) ?? []), setting]);
  }
  const blocks = [...tables].map(([table, rows]) => [`[${table}]`, ...rows.map(lineOf)]);
  return `${[HEAD, tops.map(lineOf), ...blocks].map((lines) => lines.join('\n')).join('\n\n')}\n`;
};

const lineOf = ({ keys, value, source, variable }: SettingShown): string => {
  const key = printKey(keys.slice(-1));
  if (value === null) return `# ${key} is not set`;
  if (value === SET || value === NOT_SET) return `# ${key} is a secret, and is ${value === SET ? 'set' : 'not set'}`;
  if (isSummary(value)) return `# ${key} has ${value.count}${value.count === 0 ? '' : `: ${value.names.map((name) => JSON.stringify(name)).join(', ')}`}`;
  const from = source === 'environment' ? `  # from ${variable}` : source === 'kept' ? '  # an earlier value: what the file says does not hold' : '';
  return `${key} = ${printValue(value, keys)}${from}`;
};

/** What stands for a list that holds secrets (secrecy.ts). */
const isSummary = (value: unknown): value is { count: number; names: readonly string[] } =>
  typeof value === 'object' && value !== null && 'count' in value && typeof value.count === 'number' && 'names' in value && Array.isArray(value.names);
