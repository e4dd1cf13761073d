/** Somebody who has the published packages and the command svc writes an extension; three that somebody wrote are built, tested and published. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './local-registry.js';
import { type OutsideFolder, outsideFolder, registryOfOurs } from './outside-folder.js';

const TEMPLATES = ['route', 'tool', 'hook', 'provider', 'channel'];
const THIRD_PARTIES = ['orbit-weather', 'orbit-house-style', 'orbit-bookmarks'];

describe('an author', function () {
  this.timeout(180_000);
  let registry: Awaited<ReturnType<typeof registryOfOurs>>;
  let place: OutsideFolder;
  const svc = (...args: readonly string[]) => place.run(join(place.dir, 'node_modules/.bin/svc'), ...args);
  before(async () => {
    registry = await registryOfOurs();
    place = await outsideFolder(registry.env);
    await place.write({ 'package.json': JSON.stringify({ name: 'workbench', private: true }) });
    await registry.npm(place.dir, 'install', '@svc/api', '@svc/cli', '@svc/testing', 'typescript');
  });
  after(() => place?.clean());

  /** The types hold, and the contract suite and its own tests pass. */
  const isSound = async (folder: string): Promise<void> => {
    expect(await place.run(join(place.dir, 'node_modules/.bin/tsc'), '-p', folder)).to.deep.equal({ code: 0, output: '' });
    const { code, output } = await svc('ext', 'test', folder);
    expect(code, output).to.equal(0);
    expect(output)
      .to.match(/\b\d+ passing/)
      .and.not.match(/pending|failing/);
  };

  for (const template of TEMPLATES)
    it(`gets an extension from the template ${template} that passes the contract suite as it comes`, async () => {
      const { code, output } = await svc('ext', 'create', `acme-${template}`, '--template', template);
      expect(code, output).to.equal(0);
      await isSound(`acme-${template}`);
    });

  it('needs no registry where svc runs from a checkout: the template panel builds, and passes the contract suite, with nothing fetched', async () => {
    const { code, output } = await place.run(process.execPath, join(ROOT, 'kernel/cli/bin/svc.mjs'), 'ext', 'create', 'apart/acme-panel', '--template', 'panel');
    expect(code, output).to.equal(0);
    const inFolder = (command: string) => place.run('npm', '--prefix', 'apart/acme-panel', '--offline', '--registry', 'http://127.0.0.1:9', ...command.split(' '));
    for (const command of ['install', 'run check', 'test']) {
      const done = await inFolder(command);
      expect(done.code, `npm ${command}\n${done.output}`).to.equal(0);
    }
  });

  it('is told by the suite what an extension does wrong', async () => {
    await svc('ext', 'create', 'acme-wrong');
    const source = await readFile(join(place.dir, 'acme-wrong/src/index.ts'), 'utf8');
    await place.write({ 'acme-wrong/src/index.ts': source.replace("id: 'getAcmeWrongGreeting'", "id: 'acme_wrong_greeting'") });
    const suite = await svc('ext', 'test', 'acme-wrong');
    expect([suite.code, suite.output]).to.satisfy(([code, output]: [number, string]) => code === 1 && output.includes('acme_wrong_greeting') && /[1-9]\d* failing/.test(output));
    await place.write({ 'acme-wrong/src/index.ts': source.replace('activate(ctx) {', 'activate(ctx) {\n    setInterval(() => undefined, 1000);') });
    const built = await svc('ext', 'build', 'acme-wrong');
    expect([built.code, built.output]).to.satisfy(([code, output]: [number, string]) => code === 1 && output.includes('a timer'));
  });

  for (const id of THIRD_PARTIES)
    it(`${id} is sound, its contributions.json is what its code says, and it is published`, async () => {
      await cp(join(ROOT, 'fixtures/third-party', id), join(place.dir, id), { recursive: true });
      await isSound(id);
      const [kept, derived] = await Promise.all([ROOT, place.dir].map((root) => readFile(join(root, root === ROOT ? 'fixtures/third-party' : '', id, 'contributions.json'), 'utf8')));
      expect(derived, `run \`svc ext build\` in fixtures/third-party/${id} and commit what it writes`).to.equal(kept);
      await registry.npm(join(place.dir, id), 'publish');
      const published = JSON.parse(await registry.npm(place.dir, 'view', id, '--json', 'name', 'version', 'dependencies'));
      expect(published).to.deep.equal({ name: id, version: '1.0.0' });
    });
});
