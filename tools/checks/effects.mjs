/**
 * Effects happen behind the adapters only: each has one place where it is limited, counted and replaced in tests.
 *
 * Everything outside the rows below takes clock, timers, ids, files, network and processes from what it is handed.
 */
import { isOfCommandLine, lineAt } from './sources.mjs';

const RULE = 'effect';

const EFFECTS = {
  disk: { modules: ['fs', 'fs/promises'], use: 'ctx.files' },
  process: { modules: ['child_process', 'worker_threads', 'cluster', 'vm', 'piscina'], use: 'ctx.exec or ctx.workers' },
  network: { modules: ['net', 'http', 'https', 'http2', 'tls', 'dgram', 'dns', 'dns/promises', 'undici', 'ws'], globals: [/(?<![.\w$])fetch\(/g, /\bnew WebSocket\(/g], use: 'ctx.fetch' },
  database: { modules: ['sqlite3', 'knex', 'pg'], use: 'ctx.db' },
  time: { globals: [/\bDate\.now\(/g, /\bnew Date\(\s*\)/g], use: 'ctx.clock' },
  chance: { globals: [/\bMath\.random\(/g, /\brandom(UUID|Bytes|Int)\(/g, /\bgetRandomValues\(/g], use: 'ctx.ids' },
  timers: { modules: ['timers', 'timers/promises'], globals: [/(?<![.\w$])set(Timeout|Interval|Immediate)\(/g], use: 'ctx.timers or ctx.clock.sleep' },
  environment: { globals: [/\bprocess\.(env|exit|kill|chdir)\b/g], use: 'ctx.config' },
  console: { globals: [/\bconsole\.\w+\(/g], use: 'ctx.log' },
};

const ALL = Object.keys(EFFECTS);

/** The longest prefix that fits decides. Whoever is not named may do nothing of the kind. */
const ALLOWED = [
  ['kernel/core/src/', ['timers']], // budgets and drains are about real time
  ['kernel/core/src/installed/code-cache.ts', ['disk', 'process', 'time']], // the age of files is real time
  ['kernel/core/src/installed/module-loader.ts', ['disk', 'process']],
  ['kernel/platform/src/backup/', ['disk']],
  ['kernel/platform/src/bus/', ['network', 'timers', 'database']],
  ['kernel/platform/src/clock/', ['time', 'chance', 'timers']],
  ['kernel/platform/src/config/', ['disk', 'environment']],
  ['kernel/platform/src/adapters/', ['disk', 'process', 'network', 'timers', 'environment', 'chance']],
  ['kernel/platform/src/choices/', ['disk', 'timers']],
  ['kernel/platform/src/http/', ['network', 'timers']],
  ['kernel/platform/src/log/', ['disk', 'environment', 'timers', 'console']],
  ['kernel/platform/src/process/', ['disk', 'process', 'timers', 'environment']], // the process of the daemon itself
  ['kernel/platform/src/storage/', ['disk', 'process', 'database', 'timers']],
  ['kernel/platform/src/streams/', ['timers']], // frames are joined by real time
  ['kernel/platform/src/workers/', ['disk', 'process', 'timers']],
  ['kernel/client/', ['network', 'timers', 'chance']], // it is a client: nothing of it runs in the daemon
  ['kernel/client/src/live.ts', ['timers', 'time']], // only the time of day goes on while a computer sleeps
  ['kernel/isolation/src/', ['disk', 'process', 'network', 'timers', 'environment', 'chance', 'time']], // another process, and the watch over it
  ['kernel/third-party/src/', ['disk', 'timers']],
  ['kernel/sandbox/src/', ['disk', 'process']], // what the system has, and whether it works
  ['extensions/checkpoints/src/repository/', ['disk']], // runs in a thread of the pool: snapshots of thousands of files
  ['extensions/checkpoints/src/workers/', ['disk']],
  ...['kernel/daemon/', 'kernel/cli/', 'kernel/testing/', 'kernel/installer/', 'runtimes/', 'test/', 'tools/', 'bench/'].map((room) => [room, ALL]),
];

const allowedFor = (source) => {
  // What runs in a browser has the browser's own walls.
  if (source.isTest || source.isPage || isOfCommandLine(source)) return ALL;
  const rows = ALLOWED.filter(([prefix]) => source.file.startsWith(prefix));
  return rows.sort((a, b) => b[0].length - a[0].length)[0]?.[1] ?? [];
};

/** `fetch` handed in as a parameter or a constant is not the global one. */
const isHandedIn = (source, called) => called === 'fetch(' && /\bfetch\s*[,:}=)]|[{,]\s*fetch\b\s*(?!\()/.test(source.bare);

const moduleFindings = (source, name, effect) =>
  source.imports
    .filter((entry) => !entry.type && effect.modules?.includes(entry.to.replace(/^node:/, '')))
    .map((entry) => ({ file: source.file, line: entry.line, rule: RULE, message: `"${entry.to}" (${name}) is an effect behind an adapter; use ${effect.use}` }));

const globalFindings = (source, name, effect) =>
  (effect.globals ?? []).flatMap((pattern) =>
    [...source.bare.matchAll(pattern)]
      .filter((match) => !isHandedIn(source, match[0]) && !/^\s*(async\s+)?fetch\(/.test(lineOf(source.bare, match.index)))
      .map((match) => ({ file: source.file, line: lineAt(source.bare, match.index), rule: RULE, message: `${match[0].replace('(', '')} (${name}) is an effect behind an adapter; use ${effect.use}` })),
  );

const lineOf = (text, index) => text.slice(text.lastIndexOf('\n', index) + 1, (text.indexOf('\n', index) + 1 || text.length + 1) - 1);

export const checkEffects = (sources) =>
  sources.flatMap((source) => {
    const allowed = allowedFor(source);
    return Object.entries(EFFECTS)
      .filter(([name]) => !allowed.includes(name))
      .flatMap(([name, effect]) => [...moduleFindings(source, name, effect), ...globalFindings(source, name, effect)]);
  });
