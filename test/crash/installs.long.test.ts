/** A skill that is installed and updated, killed at every point: the version before or the one after, whole. Beside it a paused hand, which stays paused. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { linesOf } from './countable-tools.js';
import type { Watch } from './crash-points.js';
import { beginLife, createPlace, endLives, httpOf, type Place } from './daemon-life.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';

const FILES = ['SKILL.md', 'references/one.md', 'scripts/two.sh'] as const;

describe('an install that is killed with SIGKILL, and a paused hand', function () {
  this.timeout(240_000);
  let model: PlannedModel;
  before(async () => {
    model = await startPlannedModel();
  });
  after(() => model.close());
  afterEach(endLives);

  const begin = async (place: Place, number: number) => {
    const life = beginLife(place, number);
    const url = await life.url;
    if (url === undefined) throw new Error((await life.gone).errors);
    return { life, http: httpOf(url) };
  };
  type Living = Awaited<ReturnType<typeof begin>>;

  /** Each file says its version. */
  const write = (root: string, version: number): string => {
    const folder = join(root, `source-${version}`);
    for (const path of FILES) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), path === 'SKILL.md' ? `---\nname: grown\ndescription: Grows.\nversion: "${version}.0.0"\n---\nVersion ${version}.\n` : `Version ${version}.\n`);
    }
    return folder;
  };
  /** What is there: `0` nothing, else the one version of all its files. */
  const found = async ({ http }: Living, place: Place): Promise<string> => {
    const { skills } = (await http.expect(200, 'GET', '/api/skills')).body;
    const listed = skills.find(({ name }: { name: string }) => name === 'grown');
    const folders = readdirSync(join(place.home, 'skills'));
    if (!listed) return folders.length === 0 ? '0' : `not listed, but there: ${folders.join()}`;
    const { path, version, error, evolution } = (await http.expect(200, 'GET', '/api/skills/grown')).body;
    const texts = FILES.map((file) => /Version (\d+)\./.exec(readFileSync(join(path, file), 'utf8'))?.[1] ?? '?');
    const whole = `${texts[0]}.0.0` === version && texts.every((text) => text === texts[0]) && error === null && folders.length === evolution.versions.length;
    return whole ? (texts[0] ?? '') : `${version} with ${texts.join()} in ${folders.join()}: ${error}`;
  };
  const handOf = async ({ http }: Living): Promise<string> => {
    const { instances } = (await http.expect(200, 'GET', '/api/hands/active')).body;
    const { jobs } = (await http.expect(200, 'GET', '/api/cron/jobs')).body;
    return `${instances.map(({ status }: { status: string }) => status).join()} ${jobs.filter(({ enabled }: { enabled: boolean }) => enabled).length} of ${jobs.length}`;
  };
  const update = async ({ life, http }: Living, source: string, watch: Watch): Promise<void> => {
    await life.watch(watch);
    await Promise.race([http.post('/api/skills/install', { source, replace: true }).catch(() => undefined), life.gone]);
    life.kill();
    await life.gone;
  };

  it('leaves nothing half there, and the hand paused', async () => {
    const place = await createPlace(model.url);
    let next = await begin(place, 1);
    const { instance_id: hand } = (await next.http.expect(200, 'POST', '/api/hands/folder-watcher/activate', {})).body;
    await next.http.expect(200, 'POST', `/api/hands/instances/${hand}/pause`);
    const paused = await handOf(next);
    expect(paused).to.match(/^paused 0 of [1-9]/);
    await update(next, write(place.home, 1), { file: place.points(98) });
    next = await begin(place, 2);
    expect(await found(next, place)).to.equal('1');
    await update(next, write(place.home, 2), { file: place.points(99) });
    // The first lives die in an install, the others in an update.
    const installs = linesOf(place.points(98)).filter((point) => /file write #[13]$|commit skills/.test(point));
    const points = [...installs, ...linesOf(place.points(99)).filter((point) => /commit skills/.test(point))];
    // An update keeps the version before, so it removes no file.
    expect([installs.length, points.length], points.join('\n')).to.deep.equal([6, 8]);
    const wrong: string[] = [];
    const seen = new Set<string>();
    next = await begin(place, 3);
    let before = await found(next, place);
    expect(before).to.equal('2');
    for (const [index, point] of points.entries()) {
      const version = index + 3;
      if (index < installs.length) {
        if (before !== '0') await next.http.expect(200, 'POST', '/api/skills/uninstall', { name: 'grown' });
        before = '0';
      }
      await update(next, write(place.home, version), { file: place.points(version), killAt: point });
      next = await begin(place, version + 1);
      const after = await found(next, place);
      if (after !== before && after !== String(version)) wrong.push(`${point}: ${before} became ${after}`);
      seen.add(after === '0' ? 'nothing' : after === before ? 'the version before' : 'the version after');
      if ((await handOf(next)) !== paused) wrong.push(`${point}: the hand is ${await handOf(next)}`);
      before = after;
    }
    next.life.kill();
    await next.life.gone;
    place.clean();
    expect(wrong).to.deep.equal([]);
    expect([...seen].sort()).to.deep.equal(['nothing', 'the version after', 'the version before']);
  });
});
