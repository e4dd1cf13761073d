/**
 * A daemon as it ships, composed so that it can die at a numbered point. Says `ready <url>` when it is. It is loaded as the
 * product loads itself, through the code that an earlier life has compiled: there are hundreds of lives.
 */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Main from '../../kernel/daemon/src/main.js';
import { durableTimers } from '../reliability/durable-timers.js';
import { countableTools } from './countable-tools.js';
import { crashingFactories, createCrashPoints, type Watch } from './crash-points.js';

const { CRASH_POINTS: file = '', CRASH_AT: killAt, CRASH_EFFECTS: effects = '', CRASH_RELEASE: releaseFile = '', CRASH_LEASE_MS: leaseMs, ...env } = process.env;
const points = createCrashPoints({ file, killAt });
const { bootDaemon, code, standardFactories }: typeof Main = await import(pathToFileURL(join(dirname(releaseFile), 'daemon/main.js')).href);

const daemon = await bootDaemon({
  env,
  releaseFile,
  code,
  foreground: false,
  checkReplies: true,
  port: 0,
  extra: [countableTools(points, effects), durableTimers()],
  factories: {
    ...crashingFactories(points, standardFactories),
    ...(leaseMs === undefined ? {} : { createJournal: (options) => standardFactories.createJournal({ ...options, leaseMs: Number(leaseMs) }) }),
  },
});
process.on('message', (next: Watch) => {
  points.watch(next);
  process.send?.('watching');
});
process.once('SIGTERM', () => void daemon.stop('the test is over').then(() => process.exit(0)));
process.stdout.write(`ready ${daemon.url}\n`);
await code?.keep();
