/** @svc/installer/commands: what the command line needs of the commands that extensions declare. */
export { CLI_WORDS, type CliWord } from './cli-words.js';
export { type AreaWord, areaWordsOf } from './area-words.js';
export { type Completion, completionsOf } from './completions.js';
export { type CommandInput, type ResolvedCommand, resolveCommand } from './resolved-command.js';
