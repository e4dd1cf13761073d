/** What reserving and settling costs a message without limits: the daemon as it is, against one that has no code for it. */
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleVariant } from '../../../build/bundler.mjs';
import { DIST, inRoot } from '../../../build/paths.mjs';
import { readManifest, runtimeTargets } from '../../../build/targets.mjs';
import { median, milliseconds, round } from '../../figures.mjs';
import { figureOf } from '../../load.mjs';
import { besides } from '../../ratios.mjs';
import { compareVariants } from '../../variants.mjs';

const CLIENTS = 32;
const LIMIT_PERCENT = 10;
const SERVICE = inRoot('extensions/llm/src/service.ts');
const QUOTA = inRoot('extensions/llm/src/money/quota.ts');

/** Nothing is asked, reserved or settled. What a call used is still stored, as it would be without budgets. */
const NO_QUOTA = `
const hold = { settle: () => [] };
export const createQuota = () => ({ admit: () => undefined, announce: () => [], hold: async () => hold, standing: async () => undefined, listenForUsed: () => undefined, size: () => 0 });`;
const CEILING = 'const ceiling = await ceilingOf(deps, request);';
const NO_CEILING = 'const ceiling = { ...nameOf(request), inputTokens: 0, outputTokens: 0, costMicros: 0, lastsMs: 0 };';

const withoutReservations = {
  name: 'without-reservations',
  setup(build) {
    build.onLoad({ filter: /[\\/]extensions[\\/]llm[\\/]src[\\/]money[\\/]quota\.ts$/ }, async () => {
      if (!(await readFile(QUOTA, 'utf8')).includes('export const createQuota')) throw new Error('createQuota is no longer in quota.ts');
      return { contents: NO_QUOTA, loader: 'ts' };
    });
    build.onLoad({ filter: /[\\/]extensions[\\/]llm[\\/]src[\\/]service\.ts$/ }, async () => {
      const source = await readFile(SERVICE, 'utf8');
      if (source.split(CEILING).length !== 2) throw new Error('the way llm reserves has changed: this measurement has to follow');
      return { contents: source.replace(CEILING, NO_CEILING), loader: 'ts' };
    });
  },
};

/** The built release with another `llm` in it. */
const releaseWithout = async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-bench-release-'));
  await cp(path.join(DIST, 'release.json'), path.join(dir, 'release.json'));
  for (const name of await readdir(DIST)) if (name !== 'ext' && name !== 'release.json') await symlink(path.join(DIST, name), path.join(dir, name));
  await cp(path.join(DIST, 'ext'), path.join(dir, 'ext'), { recursive: true });
  await symlink(inRoot('node_modules'), path.join(dir, 'node_modules'));
  const target = runtimeTargets().targets.find(({ id }) => id === 'llm');
  await bundleVariant(target, readManifest(target), path.join(dir, 'ext/llm'), withoutReservations);
  return { releaseFile: path.join(dir, 'release.json'), remove: () => rm(dir, { recursive: true, force: true }) };
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { clients: CLIENTS, windows: 4, seconds: 2, warmUpSeconds: 4 } : { clients: CLIENTS, windows: 9, seconds: 3, warmUpSeconds: 10 };
  const release = await releaseWithout();
  try {
    const seen = await compareVariants({ releaseFile: release.releaseFile }, plan);
    const rowOf = (what, field, whole, without, show, method) => {
      const [product, floor] = [figureOf(seen, field)[whole], figureOf(seen, field)[without]];
      const ratio = besides(product, floor, 'lower');
      const share = (1 - 1 / ratio.ratioValue) * 100;
      return {
        what: `reservation and settlement, share of ${what}`,
        value: `${round(share, 1)} %`,
        ...ratio,
        target: `≤ ${LIMIT_PERCENT} %`,
        met: share <= LIMIT_PERCENT,
        method: `${show(median(product))} against ${show(median(floor))} without; ${method}`,
      };
    };
    const method = `median ratio of ${plan.windows} pairs of windows of ${plan.seconds} s, no limit set; without: no ceiling is calculated, no row reserved and none deleted, usage is stored as ever`;
    return {
      rows: [
        rowOf('CPU of a message', 'cpuMsPerRequest', 'whole', 'without', (ms) => `${round(ms)} ms`, `${CLIENTS} clients, ${method}`),
        rowOf('time of a message', 'p50', 'wholeOne', 'withoutOne', milliseconds, `one client, p50, ${method}, half as long`),
      ],
      raw: seen,
    };
  } finally {
    await release.remove();
  }
};
