/** A channel as it is set up, and how its settings are read. */
import type { SidecarEntry } from './config.js';

export type FieldValue = string | number | boolean | readonly string[];

/** A channel with its settings, without its secrets. */
export interface Account {
  readonly name: string;
  /** The adapter. */
  readonly type: string;
  readonly ownerId: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly isInConfig: boolean;
  readonly startedFrom: string;
  readonly sidecar?: SidecarEntry;
}

export const textField = ({ fields }: Pick<Account, 'fields'>, key: string): string => (typeof fields[key] === 'string' ? String(fields[key]) : '');
export const numberField = ({ fields }: Pick<Account, 'fields'>, key: string, usual: number): number => (typeof fields[key] === 'number' ? Number(fields[key]) : usual);
export const listField = ({ fields }: Pick<Account, 'fields'>, key: string): readonly string[] => (Array.isArray(fields[key]) ? fields[key].map(String) : []);

/** Where a value of the environment of a sidecar is stored. */
export const envSecret = (channel: string, key: string): string => `channels.${channel}.env.${key}`;
