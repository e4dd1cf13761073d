/** What capabilities declares to other areas: how a command line is read, so that all policies read it alike. */
export { wordsRefusal } from './shell-command.js';
export { startedPrograms, type StartedPrograms, withoutAssignments } from './started-programs.js';
