/** What a slash command is. */
import type { Actor, Clock, Db, Logger } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { CommandAnswer, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { commandErrors } from './errors.js';

export interface CommandDeps {
  readonly agents: AgentsService;
  readonly sessions: SessionsService;
  readonly runs: RunsService;
  readonly llm: LlmService;
  readonly models: ModelsService;
  readonly providers: ProvidersService;
  commit: Db['commit'];
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
  readonly log: Logger;
}

export interface Asked {
  readonly actor: Actor;
  readonly agent: Agent;
  readonly sessionId: string;
  /** What stands behind the name, without spaces around it. */
  readonly args: string;
}

/** `message` for people, `data` for programs. */
export type Answered = Omit<CommandAnswer, 'command'>;

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** As a person types it. */
  readonly usage: string;
  readonly summary: string;
  /** What whoever sends it must be allowed to, as routes say it. */
  readonly permission: string;
  /** Left out, it takes no words behind its name. `words`: one of these, or none. */
  readonly takes?: 'text' | { readonly words: readonly string[] };
  /** It concerns what the client shows: the daemon only says so. */
  readonly isOfClient?: boolean;
  run(deps: CommandDeps, asked: Asked): Promise<Answered>;
}

/** Throws `command_bad_argument`. */
export const checkArgs = ({ name, takes }: Pick<Command, 'name' | 'takes'>, args: string): void => {
  if (takes === 'text' || args === '') return;
  if (takes === undefined) throw commandErrors.bad_argument(name, args, 'nothing behind its name');
  if (!takes.words.includes(args.toLowerCase())) throw commandErrors.bad_argument(name, args, `${takes.words.join(', ')} or nothing`);
};

export const usd = (micros: number): string => (micros / 1_000_000).toFixed(4);
