import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadDefinition } from '../src/installed/module-loader.js';

const API = { defineExtension: (definition: unknown) => definition };

describe('the module loader', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-loader-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const load = async (source: string, hostDependencies: readonly string[] = []) => {
    const file = join(dir, 'index.js');
    await writeFile(file, source);
    return loadDefinition(file, { api: API, hostDependencies });
  };
  const refusal = async (source: string, hostDependencies: readonly string[] = []): Promise<string> => {
    try {
      await load(source, hostDependencies);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it was loaded');
  };

  it("gives an extension the kernel's own @svc/api and the modules of Node", async () => {
    const definition = await load(`const api = require('@svc/api'); const { posix } = require('node:path'); require('crypto');
      exports.default = api.defineExtension({ activate() {}, api, joined: posix.join('a', 'b') });`);
    expect(definition).to.include({ api: API, joined: 'a/b' });
  });

  it('evaluates the code anew each time, so that two generations share nothing', async () => {
    const source = `let loads = 0; exports.default = { activate() { return ++loads; } };`;
    const [one, two] = [await load(source), await load(source)];
    expect(one).to.not.equal(two);
    const count = (definition: unknown): number => (definition as { activate(): number }).activate();
    expect([count(one), count(one), count(two)]).to.deep.equal([1, 2, 1]);
  });

  it('refuses a package that is neither in the bundle nor granted, and a file beside it', async () => {
    await writeFile(join(dir, 'beside.js'), 'module.exports = 1;');
    expect(await refusal(`require('left-pad'); exports.default = { activate() {} };`))
      .to.contain('"left-pad"')
      .and.to.contain('hostDependencies');
    expect(await refusal(`require('./beside.js'); exports.default = { activate() {} };`)).to.contain('"./beside.js"');
    expect(await refusal(`require('semver-else'); exports.default = { activate() {} };`, ['semver'])).to.contain('"semver-else"');
  });

  it("refuses the kernel's part of the API, whatever the manifest takes from the host", async () => {
    const source = `require('@svc/api/internal'); exports.default = { activate() {} };`;
    for (const granted of [[], ['@svc/api'], ['@svc/api/internal']])
      expect(await refusal(source, granted))
        .to.contain('"@svc/api/internal"')
        .and.to.contain('@svc/api alone');
  });

  it('gives a package that was granted, and what lies in it', async () => {
    await mkdir(join(dir, 'node_modules/granted'), { recursive: true });
    await writeFile(join(dir, 'node_modules/granted/index.js'), "module.exports = 'whole';");
    await writeFile(join(dir, 'node_modules/granted/part.js'), "module.exports = 'part';");
    const definition = await load(`exports.default = { activate() {}, got: [require('granted'), require('granted/part.js')] };`, ['other', 'granted']);
    expect((definition as unknown as { got: string[] }).got).to.deep.equal(['whole', 'part']);
  });

  it('refuses code without a definition', async () => {
    expect(await refusal('exports.default = {};')).to.contain('no default export');
    expect(await refusal('exports.activate = () => {};')).to.contain('no default export');
  });

  it('passes on what the code throws while it is evaluated', async () => {
    expect(await refusal(`throw new Error('not today');`)).to.equal('not today');
  });

  it('keeps nothing of code that nobody holds any more', async function () {
    const { gc } = globalThis;
    if (!gc) {
      // The runner always offers it; another one may not.
      if (this.test) Object.assign(this.test, { skipReason: 'this Node was started without --expose-gc' });
      this.skip();
      return;
    }
    const refs: Array<WeakRef<object>> = [];
    for (let n = 0; n < 5; n++) refs.push(new WeakRef(await load(`const heavy = new Array(100000).fill(${n}); exports.default = { activate() { return heavy; } };`)));
    for (let round = 0; round < 10 && refs.some((ref) => ref.deref()); round++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    expect(refs.filter((ref) => ref.deref())).to.have.length(0);
  });
});
