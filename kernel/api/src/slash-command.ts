/** Slash commands: what a person types in a conversation, answered before anything is queued. A command lives with the area whose effect it is. */
import type { Actor } from './actor.js';
import type { Plain } from './declare/plain.js';
import { Type } from './schema/schema.js';

/** Who sends a command, and where. */
export interface SlashCall {
  readonly actor: Actor;
  /** Whose conversation it was typed in. */
  readonly agentId: string;
  readonly sessionId: string;
  /** What follows the name, without spaces around it. */
  readonly args: string;
  /** Aborted when the time of the command is used up: 10 s for all of it. */
  readonly signal: AbortSignal;
}

/** `message` for people, `data` for programs. */
export const SlashAnswer = Type.Object({ message: Type.String({ maxLength: 100_000 }), data: Type.Optional(Type.Record(Type.String(), Type.Unknown())) });
export type SlashAnswer = Plain<typeof SlashAnswer>;

export interface SlashCommand {
  /** Lower-case letters, digits and single hyphens, without the slash. A name or alias belongs to one extension alone. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** As a person types it, with what may follow: `/model [NAME]`. */
  readonly usage: string;
  /** A few words for the help, without a full stop. */
  readonly summary: string;
  /** What whoever sends it must be allowed to do, as for routes: `sessions.read`. */
  readonly permission: string;
  /** Left out, nothing may follow the name. `words`: one of these, or nothing. */
  readonly takes?: 'text' | { readonly words: readonly string[] };
  /** Where it stands in the help, lower first; default 50. */
  readonly order?: number;
  run(call: SlashCall): Promise<SlashAnswer>;
}

export const defineSlashCommand = (command: SlashCommand): SlashCommand => command;

/** What contributions.json says of a command: all of it but `run`. */
export type SlashCommandFacts = Omit<SlashCommand, 'run'>;

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_NAME_CHARS = 32;
const MAX_TEXT_CHARS = 200;
const MAX_ALIASES = 8;
const MAX_WORDS = 50;

/** The name and the aliases, as they are typed after the slash. */
export const namesOfSlashCommand = ({ name, aliases = [] }: Pick<SlashCommandFacts, 'name' | 'aliases'>): string[] => [name, ...aliases];

/** What is wrong with a command; undefined for one that can be used. `command` may have any shape: packages from elsewhere are read with this. */
export const faultOfSlashCommand = (command: object): string | undefined => {
  const { name, aliases = [], usage, summary, permission, takes, order }: Partial<Record<keyof SlashCommand, unknown>> = command;
  const isName = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_NAME_CHARS && NAME.test(value);
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARS && !/[\r\n]/.test(value);
  const isList = (value: unknown, most: number, isOne: (one: unknown) => boolean): boolean => Array.isArray(value) && value.length <= most && value.every(isOne);
  if (!isName(name)) return `the slash command ${JSON.stringify(name)?.slice(0, MAX_TEXT_CHARS)} is not named in lower-case letters, digits and single hyphens, ${MAX_NAME_CHARS} at most`;
  const fault = (reason: string): string => `the slash command /${String(name)} ${reason}`;
  if (!isList(aliases, MAX_ALIASES, isName)) return fault(`has aliases that are not names, or more than ${MAX_ALIASES}`);
  if (![usage, summary, permission].every(isText)) return fault(`needs usage, summary and permission, each one line of at most ${MAX_TEXT_CHARS} characters`);
  const words = typeof takes === 'object' && takes !== null && 'words' in takes ? takes.words : undefined;
  const isWord = (one: unknown): boolean => isText(one) && one === String(one).toLowerCase();
  if (takes !== undefined && takes !== 'text' && !isList(words, MAX_WORDS, isWord)) return fault('has "takes" that is neither "text" nor a list of words in lower case');
  return order === undefined || (typeof order === 'number' && Number.isFinite(order)) ? undefined : fault('has an order that is not a number');
};
