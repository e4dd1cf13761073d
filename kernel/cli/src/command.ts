/** What a command's module is. */
import type { Command } from 'commander';
import type { Cli, Outcome } from './cli.js';

/** Wraps an action: builds the Cli from the global flags, runs, and keeps the exit code. */
export type Action = <A extends unknown[]>(work: (cli: Cli, ...args: A) => Outcome) => (...args: A) => Promise<void>;

export interface CommandModule {
  /** Adds the command and its options to the program. `whole` makes a program with every command, to look at. */
  define(program: Command, action: Action, whole: () => Promise<Command>): void;
}
