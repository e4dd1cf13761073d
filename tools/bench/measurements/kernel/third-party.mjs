/** Extensions of others as their operator meets them: installed, switched on, and beside one that takes all it can get. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { inRoot } from '../../../build/paths.mjs';
import { call, makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { median, milliseconds, percentile } from '../../figures.mjs';
import { figureOf, loadWindow } from '../../load.mjs';
import { against } from '../../ratios.mjs';

const INSTALL_MS = 1_000;
const ENABLE_OWN_MS = 100;
const ENABLE_OTHER_MS = 400;
const CLIENTS = 8;
/** So much longer a read may take beside one that takes all it can get. */
const BESIDE = 1.2;
const ID = 'acme-bench';
/** Does not compress: the archive has as many bytes. */
const BALLAST_BYTES = 1_048_576;

/** What an extension can do to its neighbours, each as a route that takes some seconds. */
const TROUBLES = {
  hog: { what: 'keeps a processor busy', does: 'while (Date.now() < end);' },
  flood: {
    what: 'floods its channel',
    does: "const line = 'x'.repeat(1_000); while (Date.now() < end) { for (let i = 0; i < 1_000; i++) ctx.log.info(line); await new Promise((resolve) => setImmediate(resolve)); }",
  },
  reader: {
    what: 'holds a reader',
    does: `while (Date.now() < end) await ctx.db.system('an escape').read('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) AS n FROM n').catch(() => undefined);`,
  },
};

const troubleRoute = ([name, { what, does }]) =>
  `defineRoute({ ...common, id: '${name}Bench', method: 'GET', path: '/api/${ID}/${name}', summary: '${what}', handler: async () => { const end = Date.now() + 3_000; ${does} return reply(200, {}); } }),`;

const SOURCE = `import { Type, defineExtension, defineRoute, reply } from '@svc/api';
export default defineExtension({
  activate(ctx) {
    const common = { auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: Type.Any() } } as const;
    ctx.routes.add(
      defineRoute({ ...common, id: 'getBench', method: 'GET', path: '/api/${ID}/bench', summary: 'Answers', handler: async () => reply(200, { ok: true }) }),
      ${Object.entries(TROUBLES).map(troubleRoute).join('\n      ')}
    );
  },
});
`;

const svc = (...args) => promisify(execFile)(process.execPath, [inRoot('kernel/cli/bin/svc.mjs'), ...args]);

/** A signed package of one megabyte. */
const makePackage = async (folder) => {
  const sources = path.join(folder, ID);
  await svc('ext', 'create', sources, '--template', 'route');
  await writeFile(path.join(sources, 'src/index.ts'), SOURCE);
  const manifest = path.join(sources, 'extension.json');
  await writeFile(manifest, JSON.stringify({ manifest: 1, id: ID, api: JSON.parse(await readFile(manifest, 'utf8')).api, grants: [{ grant: 'db:sql', why: 'it holds a reader' }] }));
  await svc('ext', 'build', sources);
  await mkdir(path.join(sources, 'dist/assets'), { recursive: true });
  await writeFile(path.join(sources, 'dist/assets/ballast.bin'), randomBytes(BALLAST_BYTES));
  const [key, archive] = [path.join(folder, 'key'), path.join(folder, 'package.tgz')];
  await svc('ext', 'keygen', key);
  await svc('ext', 'pack', sources, '--key', key, '--out', archive);
  const { name, version } = JSON.parse(await readFile(path.join(sources, 'package.json'), 'utf8'));
  return { archive, name, version };
};

const timed = async (work) => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const installs = async (url, source, times) => {
  const seen = [];
  for (let index = 0; index < times; index += 1) {
    seen.push(await timed(() => call(url, 'POST', '/api/extensions/install', { source, grants: 'all', trust_key: true })));
    if (index < times - 1) await call(url, 'POST', '/api/extensions/uninstall', { name: ID });
  }
  return seen;
};

const enabling = async (url, id, times) => {
  const seen = [];
  for (let index = 0; index < times; index += 1) {
    await call(url, 'POST', `/api/extensions/${id}/disable`);
    seen.push(await timed(() => call(url, 'POST', `/api/extensions/${id}/enable`)));
  }
  return seen;
};

/** Windows of reads, in turn without and beside each kind of trouble: {alone: [window, …], hog: …}. */
const besideTroubles = async (daemon, windows, seconds) => {
  const [agent] = await makeAgents(daemon.url, 1);
  const paths = Array.from({ length: CLIENTS }, () => `/api/agents/${agent}`);
  const look = () => loadWindow(daemon, paths, seconds, { method: 'GET' });
  const seen = { alone: [], ...Object.fromEntries(Object.keys(TROUBLES).map((name) => [name, []])) };
  await look();
  for (let index = 0; index < windows; index += 1) {
    seen.alone.push(await look());
    for (const name of Object.keys(TROUBLES)) {
      let isOver = false;
      const trouble = (async () => {
        while (!isOver) await fetch(`${daemon.url}/api/${ID}/${name}`).then((response) => response.arrayBuffer());
      })();
      seen[name].push(await look());
      isOver = true;
      await trouble;
    }
  }
  return seen;
};

const besideRow = (name, values, alone) => {
  const ratio = against(values, alone, 'lower');
  return {
    what: `p99 of a GET beside an extension that ${TROUBLES[name].what}`,
    value: milliseconds(median(values)),
    floor: milliseconds(median(alone)),
    ...ratio,
    target: `≤ ${BESIDE} ×`,
    met: ratio.ratioValue <= BESIDE,
    method: `median of windows in turn, ${CLIENTS} clients; floor: the same without it`,
  };
};

const row = (what, values, limit, method) => ({
  what,
  value: milliseconds(median(values)),
  target: `≤ ${limit} ms`,
  met: median(values) <= limit,
  method: `${method}, slowest ${milliseconds(percentile(values, 100))}`,
});

export const run = async ({ isQuick }) => {
  const times = isQuick ? 5 : 15;
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-bench-'));
  const home = await makeHome('http://127.0.0.1:9');
  const stops = [];
  try {
    const { archive, name, version } = await makePackage(folder);
    const registry = await startServer('tools/bench/programs/servers/npm-registry.mjs', [archive, name, version]);
    stops.push(registry.stop);
    await appendFile(path.join(home.home, 'config.toml'), `\n[extensions]\nregistry = "${registry.url}"\n`);
    const daemon = await startDaemon(home);
    stops.push(daemon.stop);
    const installed = await installs(daemon.url, `npm:${name}@^${version}`, times);
    const other = await enabling(daemon.url, ID, times);
    const own = await enabling(daemon.url, 'templates', times);
    const seen = await besideTroubles(daemon, isQuick ? 3 : 7, isQuick ? 2 : 4);
    const { alone, ...beside } = figureOf(seen, 'p99');
    return {
      rows: [
        row('install of a signed archive of 1 MB from a local registry', installed, INSTALL_MS, `median of ${times}: fetched, unpacked, hashed, verified, stored, taken in`),
        row('enable of an isolated extension', other, ENABLE_OTHER_MS, `median of ${times}: its process is started and looked at`),
        row('enable of an area of the daemon', own, ENABLE_OWN_MS, `median of ${times}, templates`),
        ...Object.entries(beside).map(([name, values]) => besideRow(name, values, alone)),
      ],
      raw: { installed, other, own, seen },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
    await home.remove();
    await rm(folder, { recursive: true, force: true });
  }
};
