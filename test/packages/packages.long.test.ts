/** What is packed here is installed and used elsewhere: by npm, from a registry, in a folder that knows nothing of this checkout. */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fixtureArea } from '@svc/testing';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import { ROOT } from './local-registry.js';
import { type OutsideFolder, outsideFolder, registryOfOurs } from './outside-folder.js';

const FILES = {
  'package.json': JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { strict: true, exactOptionalPropertyTypes: true, module: 'nodenext', target: 'es2023', types: ['node', 'mocha'], noEmit: true },
    files: ['uses.ts', 'uses.cts', 'uses.test.ts'],
  }),
  'uses.ts': `import { defineExtension, reply, routeGroup, SvcError, Type } from '@svc/api';
import { createClient } from '@svc/client';
import { streamMessage } from '@svc/client/stream';
const route = routeGroup({ area: 'greet' });
export const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
export const stream: typeof streamMessage = streamMessage;
export const error = new SvcError('a', 'b', { status: 400 });
export default defineExtension({
  activate: (ctx) => void ctx.routes.add(route({ id: 'greetWorld', method: 'GET', path: '/api/greet', summary: 'Greet', responses: { 200: Type.Object({ said: Type.String() }) }, handler: async () => reply(200, { said: 'hello' }) })),
});
`,
  'uses.cts': `import { Type } from '@svc/api';
export const schema = Type.Object({ said: Type.String() });
`,
  'uses.test.ts': `import { bootTestKernel, describeExtension, stopTestKernels } from '@svc/testing';
afterEach(stopTestKernels);
describeExtension('.', { config: '' });
it('boots', async () => {
  const { http } = await bootTestKernel({ extensions: ['.'] });
  const { status } = await http.get('/api/health');
  if (status !== 200) throw new Error(String(status));
});
`,
};

describe('the packages', function () {
  this.timeout(600_000);
  let registry: Awaited<ReturnType<typeof registryOfOurs>>;
  let place: OutsideFolder;
  before(async () => {
    registry = await registryOfOurs();
    place = await outsideFolder(registry.env);
    await place.write(FILES);
    await registry.npm(place.dir, 'install', '@svc/api', '@svc/client', '@svc/testing', 'typescript');
  });
  after(() => place?.clean());

  it('compile in a strict program, as modules and as CommonJS, with every declaration looked at', async () => {
    expect(await place.run('npx', 'tsc', '-p', '.')).to.deep.equal({ code: 0, output: '' });
  });

  it('@svc/api is one instance, whether it is imported or required', async () => {
    await place.write({
      'same.mjs': `import { createRequire } from 'node:module';
import * as imported from '@svc/api';
const required = createRequire(import.meta.url)('@svc/api');
console.log(Object.keys(imported).length > 100, Object.keys(required).every((name) => imported[name] === required[name]), imported.SvcError === required.SvcError);
`,
    });
    expect(await place.run(process.execPath, 'same.mjs')).to.deep.equal({ code: 0, output: 'true true true\n' });
  });

  it('@svc/client is required as well as imported', async () => {
    await place.write({ 'required.cjs': "const { createClient } = require('@svc/client');\nconsole.log(typeof createClient({ baseUrl: 'http://127.0.0.1:1' }).call);\n" });
    const { code, output } = await place.run(process.execPath, '--no-warnings', 'required.cjs');
    expect([code, output]).to.deep.equal([0, 'function\n']);
  });

  it('@svc/cli brings a command that starts a daemon, and stops it', async () => {
    const home = join(place.dir, 'home');
    await mkdir(home, { recursive: true });
    const svc = (...args: readonly string[]) => place.run('npx', 'svc', '--home', home, ...args);
    const started = await svc('--port', String(await freePort()), 'start');
    const listed = await svc('--json', 'ext', 'list');
    const stopped = await svc('stop');
    expect([started.code, stopped.code], started.output + stopped.output).to.deep.equal([0, 0]);
    expect(listed.output).to.contain('"extensions-admin"');
  });

  it('@svc/testing boots a daemon with an extension from a folder, and runs the suite on it', async () => {
    const { sources, bundle } = await fixtureArea('notes');
    for (const name of ['package.json', 'extension.json', 'contributions.json']) await cp(join(sources, name), join(place.dir, 'notes', name));
    await cp(bundle, join(place.dir, 'notes/dist/index.js'));
    await place.write({
      'suite.test.mjs': `import { bootTestKernel, describeExtension, stopTestKernels } from '@svc/testing';
import assert from 'node:assert/strict';
describeExtension('notes');
describe('notes, elsewhere', () => {
  afterEach(stopTestKernels);
  it('keeps a note', async () => {
    const kernel = await bootTestKernel({ extensions: ['notes'] });
    await kernel.http.expect(201, 'POST', '/api/notes', { topic: 'home', text: 'water the plants' });
    assert.equal((await kernel.http.expect(200, 'GET', '/api/notes')).body.notes.length, 1);
  });
});
`,
    });
    const { code, output } = await place.run('npx', 'mocha', '--expose-gc', '--timeout', '30000', 'suite.test.mjs');
    expect(code, output).to.equal(0);
    expect(output)
      .to.match(/\b\d+ passing/)
      .and.not.contain('pending');
  });

  it('hold what they need and nothing of this checkout', async () => {
    const { output } = await place.run('grep', '-rlF', ROOT, 'node_modules/@svc');
    expect(output).to.equal('');
  });
});
