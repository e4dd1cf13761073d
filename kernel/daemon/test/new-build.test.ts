/** A new build of an extension, taken by a reload: what it adds is there without a restart, and one that fails changes nothing. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

/** One generation of the area `notes`: its routes, and the greeting its setting has by default. */
interface Build {
  readonly routes: readonly string[];
  readonly setting?: string;
  readonly code?: string;
}

describe('a new build', () => {
  let folder: string;
  let kernel: TestKernel;

  beforeEach(async () => {
    // Beside the real one: what bundles leave outside is found from there.
    folder = await mkdtemp(join(dirname(releaseFile()), 'new-build-'));
    await mkdir(join(folder, 'ext', 'notes'), { recursive: true });
    const { extensions } = JSON.parse(await readFile(releaseFile(), 'utf8')) as { extensions: Array<{ id: string }> };
    for (const { id } of extensions) await symlink(join(dirname(releaseFile()), 'ext', id), join(folder, 'ext', id));
    await write({ routes: ['/api/notes'] });
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["notes"]\n[notes]\ngreeting = "from the file"\n`, releaseFile: join(folder, 'release.json') });
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  /** Writes bundle and index as `npm run build` does. */
  const write = async ({ routes, setting, code }: Build): Promise<void> => {
    const release = JSON.parse(await readFile(releaseFile(), 'utf8')) as { extensions: unknown[] };
    const schema = { type: 'object', additionalProperties: false, properties: { greeting: { type: 'string', default: setting } }, default: {} };
    const operations = routes.map((path) => ({ method: 'GET', path, id: `notes${path.replaceAll('/', '.')}`, auth: 'bearer', permission: 'notes.read', cost: 1 }));
    const notes = {
      id: 'notes',
      version: '1.0.0',
      description: 'notes',
      bundle: 'ext/notes/index.js',
      workers: {},
      manifest: { manifest: 1, id: 'notes', api: '^0.1.0', ...(setting === undefined ? {} : { config: [{ section: 'notes' }] }) },
      contributions: { routes: routes.map((path) => `GET ${path}`), sockets: [], tools: [], migrations: [], capabilities: [], config: setting === undefined ? {} : { notes: schema } },
    };
    await writeFile(
      join(folder, 'ext', 'notes', 'index.js'),
      `const { defineConfig, defineRoute, reply, Type } = require('@svc/api');
const Section = defineConfig('notes', ${JSON.stringify(schema)});
module.exports.default = { ${setting === undefined ? '' : 'config: [Section],'} activate(ctx) { ${code ?? ''}
  for (const one of ${JSON.stringify(operations)}) ctx.routes.add(defineRoute({ ...one, summary: 'notes', responses: { 200: Type.Object({}, { additionalProperties: true }) },
    handler: async () => reply(200, { path: one.path, greeting: ${setting === undefined ? 'null' : 'ctx.config.get(Section).greeting'} }) }));
} };`,
    );
    await writeFile(join(folder, 'release.json'), JSON.stringify({ ...release, extensions: [...release.extensions, notes] }));
  };
  const reload = () => kernel.http.post('/api/extensions/notes/reload');
  const problems = () => kernel.daemon.kernel.configProblems().map((problem) => problem.key);

  it('brings its new route and its new setting with a reload', async () => {
    expect(problems()).to.deep.equal(['notes']);
    await kernel.http.expect(404, 'GET', '/api/notes/more');
    await write({ routes: ['/api/notes', '/api/notes/more'], setting: 'by default' });
    expect((await reload()).status).to.equal(200);
    expect((await kernel.http.expect(200, 'GET', '/api/notes/more')).body).to.deep.equal({ path: '/api/notes/more', greeting: 'from the file' });
    expect(problems()).to.deep.equal([]);
  });

  it('takes away what it no longer has', async () => {
    await write({ routes: ['/api/notes/other'] });
    await reload();
    await kernel.http.expect(404, 'GET', '/api/notes');
    await kernel.http.expect(200, 'GET', '/api/notes/other');
  });

  it('that fails leaves the one before in place, its routes and its settings', async () => {
    await write({ routes: ['/api/notes', '/api/notes/more'], setting: 'by default', code: "throw new Error('broken build');" });
    const answer = await reload();
    expect(answer.status).to.equal(409);
    expect(JSON.stringify(answer.body)).to.contain('broken build');
    expect((await kernel.http.expect(200, 'GET', '/api/notes')).body).to.deep.equal({ path: '/api/notes', greeting: null });
    await kernel.http.expect(404, 'GET', '/api/notes/more');
    expect(problems()).to.deep.equal(['notes']);
  });
});
