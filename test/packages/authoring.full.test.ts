/** Somebody who has the published packages and the command svc writes an extension; three that somebody wrote are built, tested and published. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './local-registry.js';
import { type OutsideFolder, outsideFolder, registryOfOurs } from './outside-folder.js';

const TEMPLATES = ['route', 'tool', 'hook', 'provider', 'channel'];
const THIRD_PARTIES = ['orbit-weather', 'orbit-house-style', 'orbit-bookmarks'];

describe('an author', function () {
  this.timeout(600_000);
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

  /** As with `tsc -p` in each folder, whose options are the same: the compiler reads what they share once. */
  const areTyped = async (folders: readonly string[]): Promise<void> => {
    const configs = await Promise.all(folders.map(async (folder) => JSON.parse(await readFile(join(place.dir, folder, 'tsconfig.json'), 'utf8'))));
    for (const config of configs) expect(config).to.deep.equal(configs[0]);
    await place.write({ 'tsconfig.json': JSON.stringify({ ...configs[0], include: folders.map((folder) => `${folder}/src`) }) });
    expect(await place.run(join(place.dir, 'node_modules/.bin/tsc'), '-p', '.')).to.deep.equal({ code: 0, output: '' });
  };

  /** The contract suite and its own tests pass. */
  const isSound = async (folder: string): Promise<void> => {
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

  it('gets templates whose types hold', async () => {
    for (const template of TEMPLATES) await svc('ext', 'create', `typed-${template}`, '--template', template);
    await areTyped(TEMPLATES.map((template) => `typed-${template}`));
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

  it('writes extensions of several kinds whose types hold', async () => {
    for (const id of THIRD_PARTIES) await cp(join(ROOT, 'fixtures/third-party', id), join(place.dir, 'typed', id), { recursive: true });
    await areTyped(THIRD_PARTIES.map((id) => `typed/${id}`));
  });

  for (const id of THIRD_PARTIES)
    it(`${id} is sound, its contributions.json is what its code says, and it is published`, async () => {
      await cp(join(ROOT, 'fixtures/third-party', id), join(place.dir, id), { recursive: true });
      await isSound(id);
      const [kept, derived] = await Promise.all([ROOT, place.dir].map((root) => readFile(join(root, root === ROOT ? 'fixtures/third-party' : '', id, 'contributions.json'), 'utf8')));
      expect(derived, `run \`svc ext build\` in fixtures/third-party/${id} and commit what it writes`).to.equal(kept);
      await registry.npm(join(place.dir, id), 'publish');
      const { versions } = (await (await fetch(`${registry.url}/${id}`)).json()) as { versions: Record<string, { name: string; dependencies?: object }> };
      expect(Object.entries(versions).map(([version, { dependencies, name }]) => [name, version, dependencies])).to.deep.equal([[id, '1.0.0', undefined]]);
    });
});
