/** One daemon in this process; an area is reloaded again and again. Input {id, home, releaseFile, warmUp, reloads}; prints {before, after, reloads} in bytes of heap. */
import { bootDaemon } from '@svc/daemon';

const { id, home, releaseFile, warmUp, reloads } = JSON.parse(process.argv[2]);
const daemon = await bootDaemon({ env: { SVC_HOME: home, PATH: process.env.PATH }, releaseFile, foreground: false, port: 0 });

/** Collected code is only gone after a few turns and collections. */
const heapBytes = async () => {
  for (let round = 0; round < 6; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
};

const reload = async (count) => {
  for (let n = 0; n < count; n += 1) await daemon.lifecycle.reload(id);
  await daemon.lifecycle.settled();
};

await reload(warmUp);
const before = await heapBytes();
await reload(reloads);
const after = await heapBytes();
await daemon.stop('measured');
console.log(JSON.stringify({ before, after, reloads }));
