/**
 * The daemon as it is built, with or without a part of it. Prints its port when it is ready; its home is in the environment.
 *
 *   node composed-daemon.mjs <release.json> <"" | no-journal>
 *
 * `no-journal`: runs are in memory alone. The journal does the same work, and none of its rows is written: what others put
 * into its commits is. A daemon of that kind has lost its runs when it ends.
 */
import { inRoot } from '../../../build/paths.mjs';

const [releaseFile, part] = process.argv.slice(2);
const { bootDaemon, code, standardFactories } = await import(inRoot('dist/daemon/main.js'));

const withoutRows = (db) => {
  const own = new WeakSet();
  const makers = ['insert', 'update', 'upsert', 'remove', 'sql'].map((verb) => [
    verb,
    (...args) => {
      const write = db[verb](...args);
      own.add(write);
      return write;
    },
  ]);
  const commit = async (writes) => {
    const others = writes.filter((write) => !own.has(write));
    const done = others.length === 0 ? [] : [...(await db.commit(others)).changes];
    return { changes: writes.map((write) => (own.has(write) ? 1 : (done.shift() ?? 0))) };
  };
  return { ...db, ...Object.fromEntries(makers), commit };
};

const factories = part === 'no-journal' ? { createJournal: (options) => standardFactories.createJournal({ ...options, db: withoutRows(options.db) }) } : {};
const daemon = await bootDaemon({ env: process.env, releaseFile, code, foreground: false, port: 0, factories });
process.once('SIGTERM', () => void daemon.stop('the measurement is over').then(() => process.exit(0)));
console.log(daemon.port);
