/** Extensions as their authors make them: created, built, and refused with the place that is wrong. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isSvcError } from '@svc/api';
import { type Built, buildExtension, createExtension, TEMPLATE_NAMES } from '@svc/installer/author';
import { readPackage } from '@svc/installer/package';
import { expect } from 'chai';
import * as esbuild from 'esbuild';

const ADDS: Readonly<Record<string, (built: Built) => unknown>> = {
  route: ({ contributions }) => contributions.routes.map(({ path }) => path),
  tool: ({ contributions }) => contributions.tools.map(({ name }) => name),
  hook: ({ contributions }) => contributions.taps.map(({ name }) => name),
  provider: ({ contributions }) => contributions.declares.map(({ declares, name }) => `${declares} ${name}`),
  panel: ({ contributions, manifest }) => [contributions.routes.map(({ id }) => id).sort(), manifest.panels?.map(({ permission }) => permission)],
  channel: ({ contributions }) => contributions.routes.map(({ id }) => id),
};
const EXPECTED: Readonly<Record<string, unknown>> = {
  route: ['/api/acme-thing/greetings/{name}'],
  tool: ['acme_thing_roll'],
  hook: ['run.context'],
  provider: ['service model-driver:replicate'],
  // The panel asks for what its routes ask for, hyphen included.
  panel: [['createAcmeThingTask', 'deleteAcmeThingTask', 'getAcmeThingTask', 'listAcmeThingTasks', 'updateAcmeThingTask'], ['acme-thing.read']],
  channel: ['getAcmeThingAnswer', 'sendAcmeThingMessage'],
};

/** As `npm install` puts it beside the sources. */
const CLIENT = resolve('node_modules/@svc/client');

describe('an extension that is written', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-author-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const created = (template = 'route', id = 'acme-thing') => createExtension({ dir, id, template, apiVersion: '0.1.0' });
  const built = () => buildExtension(dir, esbuild);
  const refusal = async (work: Promise<unknown>): Promise<{ code: string; message: string }> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!isSvcError(error)) throw new Error(`it was not refused: ${String(error)}`);
    return { code: error.code, message: error.message };
  };
  const change = async (file: string, from: string | RegExp, to: string): Promise<void> => {
    const text = await readFile(join(dir, file), 'utf8');
    expect(text).to.match(typeof from === 'string' ? new RegExp(from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')) : from);
    await writeFile(join(dir, file), text.replace(from, to));
  };

  for (const template of TEMPLATE_NAMES)
    it(`from the template ${template} is whole as soon as it is built: its package is one that can be installed`, async () => {
      await created(template);
      await mkdir(join(dir, 'node_modules/@svc'), { recursive: true });
      await symlink(CLIENT, join(dir, 'node_modules/@svc/client'));
      const result = await built();
      expect(ADDS[template]?.(result)).to.deep.equal(EXPECTED[template]);
      const { package: identity, manifest } = await readPackage(dir);
      expect([identity.name, identity.version, manifest.id]).to.deep.equal(['acme-thing', '0.1.0', 'acme-thing']);
      expect((await built()).isRewritten, 'the second time it says the same').to.equal(false);
    });

  it('has its panels as one module each, with their style beside it; one that has no source is refused by its file', async () => {
    await created();
    const declared = JSON.stringify([{ id: 'thing', title: { en: 'Thing', zh: '物' }, icon: 'box', hub: 'more', permission: 'acme_thing.read' }]);
    await change('extension.json', /\}\s*$/, `, "panels": ${declared}}`);
    expect(await refusal(built())).to.deep.include({ code: 'author_no_extension' });
    await mkdir(join(dir, 'panels'));
    await writeFile(join(dir, 'panels/words.ts'), "export const word: string = 'a word of the panel';\n");
    await writeFile(join(dir, 'panels/look.css'), '.word { color: green; }\n');
    await writeFile(join(dir, 'panels/thing.panel.ts'), "import './look.css';\nimport { word } from './words.js';\ndocument.body.append(word);\n");
    const { sources } = await built();
    expect(sources).to.include.members(['panels/thing.panel.ts', 'panels/words.ts', 'panels/look.css']);
    expect(await readFile(join(dir, 'dist/panels/thing.js'), 'utf8'))
      .to.contain('a word of the panel')
      .and.not.match(/\bimport\b/);
    expect(await readFile(join(dir, 'dist/panels/thing.css'), 'utf8')).to.contain('.word');
  });

  it('is not made where something is, nor under an id without a publisher, nor from a template that nobody knows; nothing is written then', async () => {
    expect((await refusal(created('route', 'thing'))).code).to.equal('author_id');
    expect((await refusal(created('route', 'Acme-Thing'))).code).to.equal('author_id');
    expect((await refusal(created('route', `acme-${'x'.repeat(40)}`))).code).to.equal('author_id');
    expect((await refusal(created('toString'))).code).to.equal('author_template');
    await writeFile(join(dir, 'kept.txt'), 'mine');
    expect((await refusal(created())).code).to.equal('author_not_empty');
    expect(await readFile(join(dir, 'kept.txt'), 'utf8')).to.equal('mine');
  });

  it('with an error in its sources is refused by file and line, and the bundle of before stays', async () => {
    await created();
    const { bundleBytes } = await built();
    await change('src/index.ts', 'ctx.routes.add(', 'ctx.routes.add((');
    const { code, message } = await refusal(built());
    expect(code).to.equal('author_bundle');
    expect(message).to.match(/src\/index\.ts:\d+ /);
    expect((await readFile(join(dir, 'dist/index.js'))).length).to.equal(bundleBytes);
  });

  it('that needs a package which is not installed is told its name', async () => {
    await created();
    await writeFile(join(dir, 'src/index.ts'), `import 'left-pad-of-nobody';\n${await readFile(join(dir, 'src/index.ts'), 'utf8')}`);
    expect((await refusal(built())).message).to.contain('left-pad-of-nobody');
  });

  it('with a manifest that is none is told each fault', async () => {
    await created();
    await change('extension.json', '"manifest": 1,', '"manifest": 1, "colour": "red", "grants": [{ "grant": "egress:everything", "why": "because" }],');
    const { code, message } = await refusal(built());
    expect(code).to.equal('install_manifest');
    expect(message).to.contain('colour').and.contain('egress:everything');
  });

  it('that registers what extension.json does not name is told so', async () => {
    await created();
    await change('extension.json', /"config": \[[^\]]*\]/, '"config": []');
    expect(await refusal(built())).to.deep.equal({
      code: 'author_contributions',
      message: 'acme-thing has contributions that cannot be read: the code gives a schema for the config section "acme_thing", which extension.json does not claim',
    });
  });

  it('that opens something while it is activated is told what; what others do meanwhile is not its doing', async () => {
    await created();
    const ours = setInterval(() => void setTimeout(() => undefined, 50), 1);
    await built().finally(() => clearInterval(ours));
    await change('src/index.ts', 'activate(ctx) {', 'activate(ctx) {\n    clearTimeout(setTimeout(() => undefined, 5000));\n    setTimeout(() => undefined, 5000).unref();');
    await built();
    await change('src/index.ts', 'activate(ctx) {', 'activate(ctx) {\n    setTimeout(() => undefined, 200);');
    expect(await refusal(built())).to.deep.equal({ code: 'author_leaks', message: 'acme-thing leaves something open after activate(): a timer.' });
  });

  it('without an entry, or in a folder without an extension, is told which file is missing', async () => {
    expect((await refusal(built())).message).to.contain('package.json');
    await created();
    await rm(join(dir, 'src'), { recursive: true });
    expect((await refusal(built())).message).to.contain('src/index.ts');
  });
});
