/**
 * Loaded into a daemon before anything of its own (`node --import`): counts what each message costs it. At SIGUSR2 the
 * counts since the last one go to the file that SVC_COUNTS names, and begin anew.
 */
import { createHook } from 'node:async_hooks';
import { renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type sqlite3 from 'sqlite3';

const counts = { promises: 0, timers: 0, parsed: 0, serialised: 0, commits: 0, statements: 0, reads: 0, drivers: 0 };
export type Counts = typeof counts;

const OF_TYPE: Readonly<Record<string, keyof Counts>> = { PROMISE: 'promises', Timeout: 'timers', 'sqlite3.Database.Exec': 'commits', 'sqlite3.Statement.All': 'reads' };

createHook({
  init: (_id, type) => {
    const name = OF_TYPE[type];
    if (name) counts[name] += 1;
  },
}).enable();

const { parse, stringify } = JSON;
JSON.parse = (...args: Parameters<typeof parse>): unknown => {
  counts.parsed += 1;
  return parse(...args);
};
// Overloads cannot be named together; what is called is the original.
JSON.stringify = ((...args: [unknown]) => {
  counts.serialised += 1;
  return stringify(...args);
}) as typeof stringify;

/** Statements of a script: semicolons outside of texts, but for what begins, ends and guards it. */
const statementsIn = (script: string): number =>
  script
    .replaceAll(/'(?:[^']|'')*'/g, '')
    .split(';')
    .filter((text) => /^\s*(?:insert|update|delete|replace)/i.test(text)).length;

const required = createRequire(join(process.cwd(), 'package.json'));
const { Database }: typeof sqlite3 = required('sqlite3');
const { exec } = Database.prototype;
Database.prototype.exec = function (this: sqlite3.Database, script, then) {
  counts.statements += statementsIn(script);
  return exec.call(this, script, then);
};

process.on('SIGUSR2', () => {
  const file = process.env.SVC_COUNTS ?? '';
  // Modules that speak to a server, and those of rare uses.
  counts.drivers = Object.keys(required.cache).filter((loaded) => /node_modules\/(?:pg|nats|@nats-io|re2js|diff|tar-stream|yauzl|json5|@msgpack)\//.test(loaded)).length;
  writeFileSync(`${file}.new`, stringify(counts));
  for (const name of Object.keys(counts) as Array<keyof Counts>) counts[name] = 0; // the keys of that very object
  renameSync(`${file}.new`, file);
});
