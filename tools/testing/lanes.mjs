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

/** Tests of these make something dear once for all of their process: a registry with everything that is published. */
const TOGETHER = ['dist/test/test/packages/'];
const groupOf = (file) => TOGETHER.find((folder) => file?.startsWith(folder));

/** Hands out files in their order; those of a group all go to the process that was given the first of them. */
export const queueOf = (files) => {
  const left = [...files];
  const begun = new Set();
  return {
    /** For a process whose last file was `last`; undefined when nothing is left for it. */
    next: (last) => {
      const mine = groupOf(last);
      const same = mine === undefined ? -1 : left.findIndex((file) => groupOf(file) === mine);
      const at = same >= 0 ? same : left.findIndex((file) => !begun.has(groupOf(file)));
      if (at < 0) return undefined;
      const [file] = left.splice(at, 1);
      if (groupOf(file) !== undefined) begun.add(groupOf(file));
      return file;
    },
    clear: () => {
      left.length = 0;
    },
  };
};

/** What a process is sent for a name. */
export const taskOf = (name, options) =>
  name.endsWith(ON_POSTGRES) ? { files: [name.slice(0, -ON_POSTGRES.length)], options: { ...options, grep: options.grep ?? ON_POSTGRES.trim() } } : { files: [name], options };

/** The engine on which the processes of a run boot daemons. */
export const engineOf = (isLongRun) => (isLongRun ? 'PostgreSQL' : 'SQLite');
