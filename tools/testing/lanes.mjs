/**
 * Which files a run takes. Claims about whole daemons (describeDaemonOnEngines of @svc/testing) run on SQLite in the
 * short run and on PostgreSQL in the long one; a run of named areas has both.
 */
import { readFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';

const MARKED = /^\s*describeDaemonOnEngines\(/m;

/** Behind the name of a file: its claims about daemons, on PostgreSQL. */
export const ON_POSTGRES = ' on PostgreSQL';

/** The long run's share of the files that are not long themselves. */
export const onPostgres = (files) => files.filter((file) => MARKED.test(readFileSync(inRoot(file), 'utf8'))).map((file) => `${file}${ON_POSTGRES}`);

/** What a process is sent for a name. */
export const taskOf = (name, options) =>
  name.endsWith(ON_POSTGRES) ? { files: [name.slice(0, -ON_POSTGRES.length)], options: { ...options, grep: options.grep ?? ON_POSTGRES.trim() } } : { files: [name], options };

/** The engine on which the processes of a run boot daemons. */
export const engineOf = (isLongRun) => (isLongRun ? 'PostgreSQL' : 'SQLite');
