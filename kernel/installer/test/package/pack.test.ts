import { chmod, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { canonicalJson } from '../../src/package/canonical-json.js';
import { packFolder } from '../../src/package/pack.js';
import { allFilesIn, digestOf, hashFiles } from '../../src/package/package-files.js';
import { readPackage } from '../../src/package/read-package.js';
import { unpack } from '../../src/package/unpack.js';
import { packageFiles, type RigPackage, refusal, tempFolder, writeFiles } from '../package-rig.js';

describe('packing an extension', () => {
  let root: string;
  let done: () => Promise<void>;
  beforeEach(async () => {
    ({ dir: root, done } = await tempFolder());
  });
  afterEach(() => done());

  const folder = async (name: string, files: Record<string, string | Buffer> = packageFiles()): Promise<string> => {
    await writeFiles(join(root, name), files);
    return join(root, name);
  };

  it('makes the same bytes of the same files, whatever their order, times, owners and modes', async () => {
    const files = { ...packageFiles(), [`dist/${'long'.repeat(40)}.js`]: 'x', 'dist/größe.js': 'y' };
    const first = await folder('first', files);
    const second = await folder('second', Object.fromEntries(Object.entries(files).reverse()));
    await utimes(join(second, 'package.json'), 1, 1);
    await chmod(join(second, 'README.md'), 0o600);
    const [one, two] = [await packFolder(first), await packFolder(second)];
    expect(one.bytes.equals(two.bytes)).to.equal(true);
  });

  it('leaves no time, no owner and no system in it', async () => {
    const { bytes } = await packFolder(await folder('a'));
    expect([...bytes.subarray(4, 8), bytes[9]]).to.deep.equal([0, 0, 0, 0, 255]);
    const header = gunzipSync(bytes).subarray(0, 512);
    expect(header.subarray(108, 124).toString()).to.match(/^0*[ \0]+0*[ \0]+$/);
    expect(header.subarray(136, 148).toString()).to.match(/^0+[ \0]+$/);
    expect(header.subarray(265, 329).every((byte) => byte === 0)).to.equal(true);
  });

  it('takes what a package has and leaves the rest of the folder alone', async () => {
    const dir = await folder('a', { ...packageFiles(), 'src/index.ts': 'x', '.env': 'SECRET=1', 'node_modules/x/index.js': 'x', 'dist/panels/a.js': 'x', LICENSE: 'MIT', 'key.json': '{}' });
    await symlink('/etc', join(dir, 'node_modules', 'linked'));
    const { files } = await packFolder(dir);
    expect(files.map(({ path }) => path)).to.deep.equal(['LICENSE', 'README.md', 'contributions.json', 'dist/index.js', 'dist/panels/a.js', 'extension.json', 'package.json']);
  });

  it('unpacks to what was packed', async () => {
    const dir = await folder('a', { ...packageFiles(), 'dist/assets/large.bin': Buffer.alloc(300_000, 7) });
    await writeFile(join(root, 'a.tgz'), (await packFolder(dir)).bytes);
    await unpack(join(root, 'a.tgz'), join(root, 'out'));
    expect(await hashFiles(join(root, 'out'), await allFilesIn(join(root, 'out')))).to.deep.equal(await hashFiles(dir, await allFilesIn(dir)));
  });

  it('refuses a link in what it packs, and a folder that was not built', async () => {
    const dir = await folder('a');
    await symlink('/etc/passwd', join(dir, 'dist', 'data'));
    expect((await refusal(packFolder(dir))).code).to.equal('install_archive_link');
    const { 'dist/index.js': _index, ...unbuilt } = packageFiles();
    const error = await refusal(packFolder(await folder('b', unbuilt)));
    expect([error.code, error.message]).to.deep.equal(['install_incomplete', 'The package has no dist/index.js.']);
  });

  it('names content by a digest that no signature changes', async () => {
    const dir = await folder('a');
    const before = digestOf(await hashFiles(dir, await allFilesIn(dir)));
    await writeFile(join(dir, 'SIGNATURE.json'), '{}');
    expect(digestOf(await hashFiles(dir, await allFilesIn(dir)))).to.equal(before);
    await writeFile(join(dir, 'dist/index.js'), 'other');
    expect(digestOf(await hashFiles(dir, await allFilesIn(dir)))).to.not.equal(before);
  });

  const reading = async (given: RigPackage, files: Record<string, string> = {}) => readPackage(await folder('p', { ...packageFiles(given), ...files }));

  it('reads what a package says of itself', async () => {
    const content = await reading({ manifest: { grants: [{ grant: 'egress:tool', why: 'asks a weather service' }] } });
    expect(content.package).to.deep.equal({ name: '@acme/weather', version: '1.0.0', description: 'Tells the weather.', license: 'MIT' });
    expect(content.manifest.id).to.equal('acme-weather');
  });

  for (const [what, given, words] of [
    ['an unknown field', { manifest: { permissions: [] } }, 'unknown field "permissions"'],
    ['another version of manifests', { manifest: { manifest: 7 } }, 'must be 1'],
    ['a grant that there is not', { manifest: { grants: [{ grant: 'egress:tools', why: 'x' }] } }, 'did you mean egress:'],
    ['an id without a publisher', { id: 'weather' }, 'publisher-name'],
    ['an API range that is none', { manifest: { api: 'new please' } }, 'not a version range'],
    ['a worker outside of dist', { manifest: { workers: { w: { entry: 'dist/../../x.js', lane: 'quick', timeoutMs: 1 } } } }, 'not a file in dist/'],
    ['a version that is none', { identity: { version: 'latest' } }, '/version'],
    ['contributions without routes', { contributions: { routes: undefined } }, '/routes is not a list'],
    ['a tool without a name', { contributions: { tools: [{ risk: 'read' }] } }, 'a tool has no name'],
  ] as ReadonlyArray<[string, RigPackage, string]>)
    it(`refuses ${what}, and says so`, async () => {
      const error = await refusal(reading(given));
      expect(error.code).to.equal('install_manifest');
      expect(error.message).to.include(words);
    });

  it('refuses JSON that is none, and a worker that is not there', async () => {
    expect((await refusal(reading({}, { 'extension.json': '{' }))).code).to.equal('install_manifest');
    expect((await refusal(reading({ manifest: { workers: { w: { entry: 'dist/w.js', lane: 'quick', timeoutMs: 1 } } } }))).message).to.equal('The package has no dist/w.js.');
  });

  it('writes one canonical text for one value, and none for what programs read differently', () => {
    expect(canonicalJson({ b: [1, null, true], a: { z: 'ä', y: -5 } })).to.equal('{"a":{"y":-5,"z":"ä"},"b":[1,null,true]}');
    for (const value of [1.5, -0, 2 ** 53, Number.NaN, undefined, 'a\u0308', '\uD800', { 'a\u0308': 1 }, [() => 1]]) expect(() => canonicalJson(value), String(value)).to.throw(TypeError);
  });
});
