/** Registries, indexes and statements of keys that lie: what is installed is what a person was shown, from where they asked for it. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Installer } from '../../kernel/installer/src/install/contract.js';
import { consentFor } from '../../kernel/installer/src/install/staged.js';
import { validateKey } from '../../kernel/installer/src/signing/validate-trust.js';
import { generateKey, keyIdOf, type SigningKey } from '../../kernel/installer/src/signing/keys.js';
import { type Rotation, rotate } from '../../kernel/installer/src/signing/rotation.js';
import type { TrustedKey } from '../../kernel/installer/src/signing/trust.js';
import { agentFor } from '../../kernel/installer/src/sources/reachable.js';
import { codeOf, type InstallRig, installRig, type MadePackage } from '../../kernel/installer/test/install/install-rig.js';

const NAME = '@acme/weather';
const SHA512 = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

type Answer = (req: IncomingMessage, res: ServerResponse, url: string) => void;

describe('a registry that lies', function () {
  this.timeout(60_000);
  let rig: InstallRig;
  let installer: Installer;
  const stops: Array<() => Promise<void>> = [];
  const listen = async (answer: Answer): Promise<{ url: string; asked: string[] }> => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(`${req.url} ${req.headers.authorization ?? ''}`.trim());
      answer(req, res, `http://127.0.0.1:${(server.address() as AddressInfo).port}`); // listening, so it has one
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    stops.push(() => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }; // as above
  };
  beforeEach(async () => {
    rig = await installRig();
    installer = await rig.open();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await rig.done();
  });
  const archive = async (made: MadePackage = {}): Promise<Buffer> => readFile(await rig.pack(made));
  /** One version, whose document and archive may be changed at any time. */
  const registry = async (given: { archive: Buffer; version?: string; document?: object; tarball?: (url: string) => string; moved?: string }) => {
    const now = { version: '1.0.0', document: {}, tarball: (url: string) => `${url}/a.tgz`, ...given };
    const server = await listen((req, res, url) => {
      if (req.url === '/a.tgz') {
        if (now.moved === undefined) return void res.end(now.archive);
        return void res.writeHead(302, { location: now.moved }).end();
      }
      const one = { name: NAME, version: now.version, dist: { tarball: now.tarball(url), integrity: SHA512(now.archive) } };
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: now.version }, versions: { [now.version]: one }, ...now.document }));
    });
    rig.policy = { ...rig.policy, registry: `${server.url}/` };
    return { ...server, now };
  };
  const stage = (source = `npm:${NAME}`) => installer.stage(source);
  const nothingLeft = async (): Promise<void> => {
    expect(await rig.stored()).to.deep.equal([]);
  };

  it('swaps the archive after it announced another', async () => {
    const first = await archive();
    const { now } = await registry({ archive: first, document: {} });
    now.document = { versions: { '1.0.0': { name: NAME, version: '1.0.0', dist: { tarball: `${rig.policy.registry}a.tgz`, integrity: SHA512(first) } } } };
    now.archive = await archive({ version: '1.0.0', key: await generateKey() });
    expect(await codeOf(stage())).to.equal('install_checksum');
    await nothingLeft();
  });

  it('gives another version, or another package, than it announced', async () => {
    const { now } = await registry({ archive: await archive({ version: '0.9.0' }) });
    expect(await codeOf(stage())).to.equal('install_checksum');
    now.archive = await archive();
    now.version = '1.0.0';
    expect(await codeOf(stage('npm:@acme/wether'))).to.equal('install_checksum');
    await nothingLeft();
    expect((await stage()).version).to.equal('1.0.0');
  });

  it('leads to another port of this machine, by the address of the archive or by a redirect', async () => {
    const inside = await listen((_, res) => void res.end('secret'));
    const { now } = await registry({ archive: await archive(), moved: `${inside.url}/admin` });
    expect(await codeOf(stage())).to.equal('install_source');
    delete now.moved;
    now.tarball = () => `${inside.url}/admin`;
    expect(await codeOf(stage())).to.equal('install_source');
    for (const address of ['https://localhost/a.tgz', 'https://169.254.169.254/a.tgz', 'https://0x7f.1/a.tgz', 'https://[::ffff:10.0.0.1]/a.tgz']) {
      now.tarball = () => address;
      expect(await codeOf(stage()), address).to.equal('install_source');
    }
    expect(inside.asked).to.deep.equal([]);
    await nothingLeft();
  });

  it('is known by a name whose address is of this machine', async () => {
    // The name is public in form; what it leads to is looked at when the connection is made.
    const agentOf = await agentFor('https://registry.example/', {});
    const agent: unknown = agentOf?.(new URL('https://cdn.example/a.tgz'));
    // Node's types do not say that an agent keeps what it was made with.
    const { options } = agent as { options: { lookup: (name: string, options: object, done: (error: Error | null, address: string) => void) => void } };
    const refused = await new Promise<string>((done) => options.lookup('localhost', {}, (error, address) => done(error ? error.message : address)));
    expect(refused).to.contain('registry.example leads to cdn.example, and its address is this machine');
  });

  it('announces no checksum, a weak one, or a document without end', async () => {
    const { now } = await registry({ archive: await archive() });
    for (const dist of [
      { tarball: `${rig.policy.registry}a.tgz` },
      { tarball: `${rig.policy.registry}a.tgz`, shasum: 'a'.repeat(40) },
      { tarball: `${rig.policy.registry}a.tgz`, integrity: 'sha1-AAAA' },
    ]) {
      now.document = { versions: { '1.0.0': { name: NAME, version: '1.0.0', dist } } };
      expect(await codeOf(stage())).to.equal('install_checksum');
    }
    now.document = { readme: 'x'.repeat(9 * 1_048_576) };
    expect(await codeOf(stage())).to.equal('install_archive_size');
    now.document = { versions: Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`1.0.${n}`, { name: NAME, version: `1.0.${n}`, dist: {} }])) };
    expect(await codeOf(stage())).to.equal('install_download');
    for (const versions of [
      null,
      [],
      'all',
      { '1.0.0': null },
      { '1.0.0': { version: '1.0.0', dist: { tarball: 'file:///etc/passwd', integrity: SHA512(Buffer.from('')) } } },
      JSON.parse('{"__proto__":{"version":"1.0.0"}}'),
    ]) {
      now.document = { versions };
      expect(await codeOf(stage()), JSON.stringify(versions)).to.match(/^install_(?:not_found|download|checksum|source)$/);
    }
    await nothingLeft();
  });

  it('announces what no registry would, and is refused in words', async () => {
    const bytes = await archive();
    const { now } = await registry({ archive: bytes });
    const one = (more: object): object => ({ versions: { '1.0.0': { name: NAME, version: '1.0.0', ...more } } });
    const integrity = SHA512(bytes);
    const documents: Record<string, object> = {
      'no address': one({ dist: { tarball: 'not an address', integrity } }),
      'a number for an address': one({ dist: { tarball: 7, integrity } }),
      'a list for an address': one({ dist: { tarball: ['http://127.0.0.1/'], integrity } }),
      'a file': one({ dist: { tarball: 'file:///etc/passwd', integrity } }),
      'a number for a checksum': one({ dist: { tarball: 'https://a.example/a.tgz', integrity: 7 } }),
      'a list for a checksum': one({ dist: { tarball: 'https://a.example/a.tgz', integrity: [integrity] } }),
      'a text for all of it': one({ dist: 'x' }),
      'nothing for it': one({ dist: null }),
      'no versions': { versions: null },
      'a list of versions': { versions: [1, 2] },
      'versions that are none': { versions: { '1.0.0': null } },
      'versions of other names': { versions: { __proto__: {}, 'x y': {} } },
      'a text for tags': { 'dist-tags': 'latest' },
      'a tag that is no text': { 'dist-tags': { latest: { toString: 'x' } } },
      'a version that is no text': one({ version: { a: 1 }, dist: { tarball: 'https://a.example/a.tgz', integrity } }),
      'a number for its version': one({ version: 1, dist: { tarball: 'https://a.example/a.tgz', integrity } }),
      'engines and times that are none': { ...one({ engines: 'x', dist: { tarball: 7, integrity } }), time: 'x' },
    };
    const answers: string[] = [];
    for (const [what, document] of Object.entries(documents)) {
      now.document = document;
      // A range asks for no tag.
      for (const range of 'dist-tags' in document ? [''] : ['', '@^1', '@1.0.0'])
        answers.push(
          await codeOf(stage(`npm:${NAME}${range}`)).then(
            (code) => (/^install_/.test(code) ? '' : `${what}${range}: ${code}`),
            (error: unknown) => `${what}${range}: ${String(error)}`,
          ),
        );
    }
    expect(answers.filter((answer) => answer !== '')).to.deep.equal([]);
  });

  it('changes its tag between what was shown and what is installed', async () => {
    const { now } = await registry({ archive: await archive() });
    const shown = consentFor(await stage());
    now.version = '1.0.1';
    now.archive = await archive({ version: '1.0.1' });
    const staged = await stage();
    expect(await codeOf(installer.commit(staged, { grants: 'all', digest: shown.digest }))).to.equal('install_changed');
  });

  it('changes the content of a version that is installed', async () => {
    const { now } = await registry({ archive: await archive() });
    await installer.commit(await stage(), { grants: 'all' });
    const key: SigningKey = await generateKey();
    now.archive = await archive({ key, files: { 'dist/index.js': 'module.exports = 1;' } });
    expect(await codeOf(installer.stage(`npm:${NAME}`, { expect: { id: 'acme-weather' } }))).to.equal('install_republished');
  });

  it('is an index that names another extension, this machine, or a repository of it', async () => {
    await registry({ archive: await archive() });
    let source = `npm:${NAME}`;
    const index = await listen((_, res) => void res.end(JSON.stringify({ format: 1, extensions: { 'acme-weather': { source }, 'acme-bank': { source } } })));
    rig.policy = { ...rig.policy, index: `${index.url}/index.json` };
    expect((await stage('acme-weather')).id).to.equal('acme-weather');
    expect(await codeOf(stage('acme-bank'))).to.equal('install_not_asked_for');
    for (const name of ['__proto__', 'constructor', 'toString']) expect(await codeOf(stage(name))).to.match(/^install_(?:not_found|source)$/);
    for (source of ['/etc', 'file:///etc', 'acme-weather', './x', 'git+ext::sh', 'npm:x@file:/etc']) expect(await codeOf(stage('acme-weather')), source).to.equal('install_source');
  });

  it('is an index of others that names a file or a repository of this machine or its network', async () => {
    let source = '';
    const index = await listen((_, res) => void res.end(JSON.stringify({ format: 1, extensions: { 'acme-weather': { source } } })));
    const inside = await listen((_, res) => void res.end('secret'));
    // An address of this machine that the daemon does not take for an own index.
    rig.policy = { ...rig.policy, index: `${index.url.replace('127.0.0.1', '127.1')}/index.json` };
    const { port } = new URL(inside.url);
    for (const host of ['127.0.0.1', 'localhost', '0x7f.1', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254'])
      for (source of [`git+https://${host}:${port}/a.git`, `https://${host}:${port}/a.tgz#sha256=${'0'.repeat(64)}`]) expect(await codeOf(stage('acme-weather')), source).to.equal('install_source');
    expect(inside.asked).to.deep.equal([]);
  });

  it('is a repository that leads to another port of this machine', async () => {
    const inside = await listen((_, res) => void res.end('secret'));
    const repository = await listen((req, res) => void res.writeHead(302, { location: `${inside.url}${req.url}` }).end());
    const refused = await stage(`git+${repository.url}/a.git`).catch((error: unknown) => error);
    expect(String(refused)).to.match(/it redirects, and redirects are not followed/);
    expect(repository.asked).to.have.length.at.least(1);
    expect(inside.asked).to.deep.equal([]);
  });
});

describe('statements that hand an extension on', () => {
  const now = new Date('2026-03-01T10:00:00Z');
  const ID = 'acme-weather';
  let [old, young, other, last]: SigningKey[] = [];
  const trusted = (key: SigningKey | undefined, more: Partial<TrustedKey> = {}): TrustedKey => ({ id: keyIdOf(key?.publicKey ?? ''), name: '', public: key?.publicKey ?? '', allow: [ID], ...more });
  const step = (from: SigningKey | undefined, to: SigningKey | undefined, id = ID): Promise<Rotation> => {
    if (!from || !to) throw new Error('no key');
    return rotate(id, from, to.publicKey, now);
  };
  const standing = (by: SigningKey | undefined, keys: readonly TrustedKey[], statements: readonly Rotation[]): Promise<string> =>
    validateKey({ id: ID, keyId: keyIdOf(by?.publicKey ?? ''), publicKey: by?.publicKey ?? '' }, keys, statements).catch((error: unknown) =>
      error instanceof Error && 'code' in error ? String(error.code) : String(error),
    );
  before(async () => {
    [old, young, other, last] = await Promise.all([generateKey(), generateKey(), generateKey(), generateKey()]);
  });

  it('lead to the first of two successors, and to no second one', async () => {
    const fork = [await step(old, young), await step(old, other)];
    expect(await standing(young, [trusted(old)], fork)).to.equal('handed-on');
    expect(await standing(other, [trusted(old)], fork)).to.equal('install_wrong_key');
    const late = [await step(old, young), await step(young, last), await step(old, other), await step(young, other)];
    expect(await standing(other, [trusted(old)], late)).to.equal('install_wrong_key');
    expect(await standing(last, [trusted(old)], late)).to.equal('handed-on');
  });

  it('lead nowhere once they were followed: a replay finds the old key no longer trusted', async () => {
    const after = [trusted(old, { allow: [] }), trusted(young)];
    expect(await standing(other, after, [await step(old, other)])).to.equal('install_wrong_key');
    expect(await standing(old, after, [await step(old, young)]), 'a package of before').to.equal('install_wrong_key');
  });

  it('may go round, and give nobody else anything', async () => {
    const cycle = [await step(old, young), await step(young, old), await step(old, young)];
    expect(await standing(young, [trusted(old)], cycle)).to.equal('handed-on');
    expect(await standing(other, [trusted(old)], cycle)).to.equal('install_wrong_key');
  });

  it('count for nothing from or through a revoked key, for another extension, or out of order', async () => {
    const chain = [await step(old, young), await step(young, last)];
    expect(await standing(young, [trusted(old, { revoked: '2026-02-01' })], chain)).to.equal('install_wrong_key');
    expect(await standing(last, [trusted(old), trusted(young, { allow: [], revoked: '2026-02-01' })], chain)).to.equal('install_wrong_key');
    expect(await standing(young, [trusted(old)], [await step(old, young, 'acme-bank')])).to.equal('install_wrong_key');
    expect(await standing(last, [trusted(old)], chain.toReversed())).to.equal('install_wrong_key');
    const [first] = chain;
    expect(await standing(other, [trusted(old)], first ? [{ ...first, to: other?.publicKey ?? '' }] : [])).to.equal('install_wrong_key');
  });
});
