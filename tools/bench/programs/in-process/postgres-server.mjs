/** The PostgreSQL server of the tests, which has no fsync. Prints the URLs of three empty databases, then serves until SIGTERM. */
import { startCluster } from '@svc/testing/postgres/cluster';

const cluster = await startCluster({ maxConnections: 200 });
process.once('SIGTERM', async () => {
  await cluster.stop();
  process.exit(0);
});
console.log(JSON.stringify([await cluster.fresh(), await cluster.fresh(), await cluster.fresh()]));
setInterval(() => undefined, 60_000);
