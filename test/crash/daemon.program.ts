/** A daemon as it ships, composed so that it can die at a numbered point. Says `ready <url>` when it is. */
import { bootDaemon } from '@svc/daemon';
import { releaseFile } from '@svc/testing';
import { countableTools } from './countable-tools.js';
import { crashingFactories, createCrashPoints } from './crash-points.js';

const { CRASH_POINTS: file = '', CRASH_AT: killAt, CRASH_EFFECTS: effects = '', ...env } = process.env;
const points = createCrashPoints(file, killAt);

const daemon = await bootDaemon({
  env,
  releaseFile: releaseFile(),
  foreground: false,
  checkReplies: true,
  port: 0,
  extra: [countableTools(points, effects)],
  factories: crashingFactories(points),
});
process.once('SIGTERM', () => void daemon.stop('the test is over').then(() => process.exit(0)));
process.stdout.write(`ready ${daemon.url}\n`);
