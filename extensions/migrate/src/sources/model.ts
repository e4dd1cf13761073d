/** What every source gives, whatever it is on disk. */
import type { ForeignDir } from '@svc/api';
import type { EntryDraft } from '@svc/ext-sessions/contract';

export const SOURCE_TYPES = ['openclaw', 'librefang', 'letta', 'hermes'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

export { isTable, tableOf } from '@svc/api';

export type Table = Readonly<Record<string, unknown>>;
export type TimedDraft = EntryDraft & { at: string };

/** One message of the source, as entries of a session; none where it says nothing that is stored. */
export interface SourceMessage {
  readonly entries: readonly TimedDraft[];
}

export interface SourceSession {
  /** The id there. */
  readonly key: string;
  /** Key of its agent. */
  readonly agent: string;
  readonly label: string | null;
  readonly createdAt: string;
  readonly isArchived?: boolean;
  /** The session that it goes on from, with the messages that both have. Those are not counted again. */
  readonly branch?: { readonly from: string; readonly messages: number };
  /** Lines of its log that cannot be read. */
  readonly unread?: number;
  /** Another branch of it goes on. */
  readonly isUnchosen?: boolean;
  /** All of them, in order. Throws where they cannot be read. */
  messages(): AsyncIterable<SourceMessage>;
}

export interface SourceMemory {
  readonly key: string;
  readonly content: string;
  readonly createdAt?: string;
  readonly category?: string;
}

export interface SourceFile {
  /** Below the home. */
  readonly path: string;
  /** Below the workspace of the agent. */
  readonly to: string;
}

export interface SourceAgent {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly format: string;
  readonly provider: string | null;
  readonly model: string | null;
  /** With the keys of agent.toml. */
  readonly manifest: Table;
  readonly tools: readonly string[];
  readonly files: readonly SourceFile[];
  readonly memories: readonly SourceMemory[];
  readonly pairs: ReadonlyArray<{ readonly key: string; readonly value: unknown }>;
}

export interface SourceSkill {
  readonly name: string;
  /** Its folder, below the home. */
  readonly path: string;
}

export interface SourceCron {
  readonly key: string;
  readonly name: string;
  readonly agent: string;
  readonly schedule: string;
  readonly tz?: string;
  readonly message: string;
  readonly isEnabled: boolean;
}

/** Of which there is nothing to do but to name it. */
export interface SourceRemark {
  readonly kind: 'Channel' | 'Tool' | 'Config' | 'Cron' | 'Memory' | 'Session' | 'Agent' | 'Skill' | 'Secret';
  readonly name: string;
  readonly reason: string;
}

export interface SourceSecret {
  readonly name: string;
  /** Provider of this daemon that it is a key of. */
  readonly provider: string | null;
  readonly value: string;
}

export interface Source {
  readonly type: SourceType;
  readonly dir: ForeignDir;
  readonly version: string | null;
  readonly hasConfig: boolean;
  readonly warnings: readonly string[];
  readonly agents: readonly SourceAgent[];
  readonly skills: readonly SourceSkill[];
  readonly channels: readonly string[];
  readonly crons: readonly SourceCron[];
  readonly remarks: readonly SourceRemark[];
  readonly secrets: readonly SourceSecret[];
  /** The sessions of one agent, a page in memory at most. A session whose branch is another one comes after it. */
  sessions(agent: string): AsyncIterable<SourceSession>;
  countSessions(): Promise<number>;
  close(): Promise<void>;
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const MIN_MS = Date.UTC(1990, 0, 1);
const MAX_MS = Date.UTC(2100, 0, 1);

/** ISO text, milliseconds or seconds; undefined for what is no time. */
export const timeOf = (value: unknown): string | undefined => {
  const ms =
    typeof value === 'number'
      ? value < 100_000_000_000
        ? value * 1_000
        : value
      : typeof value === 'string'
        ? Date.parse(/^\d{4}-\d\d-\d\d \d\d:/.test(value) ? `${value.replace(' ', 'T')}Z` : value)
        : Number.NaN;
  return ms >= MIN_MS && ms <= MAX_MS ? new Date(ms).toISOString() : undefined;
};
