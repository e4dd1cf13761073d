import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Installer } from '../../src/install/contract.js';
import { parseSource } from '../../src/sources/source.js';
import { codeOf, type InstallRig, installRig, type MadePackage } from '../install/install-rig.js';
import { packageFiles, refusal, writeFiles } from '../package-rig.js';
import { type PublishedVersion, type Served, serveFiles, serveGit, serveRegistry } from './servers.js';

const run = promisify(execFile);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a source of an extension', () => {
  let rig: InstallRig;
  let installer: Installer;
  const servers: Served[] = [];
  beforeEach(async () => {
    rig = await installRig();
    installer = await rig.open();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    await rig.done();
  });
  const serving = async (server: Promise<Served>): Promise<Served> => {
    servers.push(await server);
    return server;
  };
  const archive = async (made: MadePackage = {}): Promise<Buffer> => readFile(await rig.pack(made));
  const versionOf = async (source: string): Promise<string> => (await installer.stage(source)).version;
  const nothingLeft = async (): Promise<void> => {
    expect(await rig.stored()).to.deep.equal([]);
  };

  it('is told by how it is written', async () => {
    const dir = await rig.folder();
    const packed = await rig.pack();
    const hash = 'A'.repeat(64);
    const cases: ReadonlyArray<[string, object]> = [
      ['npm:@acme/weather@^1.0', { kind: 'npm', name: '@acme/weather', range: '^1.0' }],
      ['@acme/weather', { kind: 'npm', name: '@acme/weather', range: 'latest' }],
      ['acme-weather@1.x', { kind: 'npm', name: 'acme-weather', range: '1.x' }],
      ['acme-weather', { kind: 'id', id: 'acme-weather' }],
      [` https://x.org/a.tgz#sha256=${hash} `, { kind: 'url', url: 'https://x.org/a.tgz', sha256: hash.toLowerCase() }],
      ['git+https://x.org/a.git#v1.0', { kind: 'git', url: 'https://x.org/a.git', ref: 'v1.0' }],
      ['git+ssh://git@x.org/a.git', { kind: 'git', url: 'ssh://git@x.org/a.git', ref: undefined }],
      [dir, { kind: 'folder', path: dir }],
      [`file://${packed}`, { kind: 'archive', path: packed }],
    ];
    for (const [text, source] of cases) expect(await parseSource(text), text).to.deep.equal(source);
  });

  for (const [text, code] of [
    ['', 'install_source'],
    ['./weather', 'install_source'],
    ['weather.tgz', 'install_source'],
    ['/nowhere/weather', 'install_not_found'],
    ['ftp://x.org/a.tgz', 'install_source'],
    ['http://x.org/a.tgz#sha256=00', 'install_source'],
    ['https://x.org/a.tgz', 'install_checksum'],
    ['https://x.org/a.tgz#sha256=00', 'install_checksum'],
    ['git+http://x.org/a.git', 'install_source'],
    ['git+ext::sh -c id', 'install_source'],
    ['git+https://x.org/a.git#--upload-pack=id', 'install_source'],
    ['git+https://x.org/a.git#a..b', 'install_source'],
    ['npm:weather@file:/etc', 'install_source'],
    ['npm:weather@https://x.org/a.tgz', 'install_source'],
    ['npm:../weather', 'install_source'],
    ['Weather', 'install_source'],
    ['a\u0000b', 'install_source'],
  ] as const)
    it(`is none that is written ${JSON.stringify(text)}`, async () => {
      expect(await codeOf(parseSource(text))).to.equal(code);
    });

  describe('of npm', () => {
    const publish = async (versions: Record<string, Partial<PublishedVersion>>, tags?: Record<string, string>): Promise<Served> => {
      const all = await Promise.all(Object.entries(versions).map(async ([version, given]) => [version, { archive: await archive({ version }), ...given }] as const));
      const server = await serving(serveRegistry({ '@acme/weather': { versions: Object.fromEntries(all), ...(tags ? { tags } : {}) } }));
      rig.policy = { ...rig.policy, registry: `${server.url}/` };
      return server;
    };

    it('is the newest version in the range, or the one of the tag', async () => {
      const server = await publish({ '1.0.0': {}, '1.4.0': {}, '2.0.0': {} }, { next: '2.0.0', latest: '1.4.0' });
      expect([await versionOf('npm:@acme/weather@^1.0.0'), await versionOf('@acme/weather@1.0.0'), await versionOf('@acme/weather'), await versionOf('@acme/weather@next')]).to.deep.equal([
        '1.4.0',
        '1.0.0',
        '1.4.0',
        '2.0.0',
      ]);
      expect(server.asked[0]).to.equal('GET /@acme%2fweather');
    });

    it('is refused when its archive is not the one that the registry announces', async () => {
      const other = await archive({ version: '1.0.0', files: { 'dist/index.js': 'evil()' } });
      await publish({ '1.0.0': { dist: { integrity: `sha512-${createHash('sha512').update(other).digest('base64')}` } } });
      const error = await refusal(installer.stage('npm:@acme/weather'));
      expect([error.code, error.message]).to.deep.equal(['install_checksum', '@acme/weather@1.0.0 is not what the source announced: its checksum is another.']);
      await nothingLeft();
    });

    it('is refused when the registry announces no checksum, or a weak one', async () => {
      await publish({ '1.0.0': { dist: { integrity: undefined as never } }, '1.1.0': { dist: { integrity: `sha1-${Buffer.alloc(20).toString('base64')}` } } });
      for (const range of ['1.0.0', '1.1.0']) expect(await codeOf(installer.stage(`@acme/weather@${range}`))).to.equal('install_checksum');
    });

    it('is refused by the name of what is missing', async () => {
      await publish({ '1.0.0': {} });
      expect((await refusal(installer.stage('npm:@acme/weather@^9'))).message).to.match(/^There is no @acme\/weather@\^9 at http/);
      expect((await refusal(installer.stage('npm:@acme/wether'))).code).to.equal('install_not_found');
      rig.policy = { ...rig.policy, registry: 'http://127.0.0.1:1/' };
      const error = await refusal(installer.stage('npm:@acme/weather'));
      expect([error.code, error.retry]).to.deep.equal(['install_download', true]);
    });

    it('runs none of its scripts', async () => {
      const marker = join(rig.root, 'ran');
      const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepare', 'prepack'].map((name) => [name, `touch ${marker}`]));
      const packed = await archive({ identity: { scripts } });
      await publish({ '1.0.0': { archive: packed } });
      await installer.commit(await installer.stage('npm:@acme/weather'), { grants: 'all' });
      expect(await access(marker).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
    });

    it('is asked for with the login of the registry, which no message names', async () => {
      const server = await publish({ '1.0.0': {} });
      rig.policy = { ...rig.policy, registry: server.url.replace('//', '//me:pass%40word@') };
      expect(await versionOf('@acme/weather')).to.equal('1.0.0');
      expect(server.headers.map(({ authorization }) => authorization)).to.deep.equal(Array(2).fill(`Basic ${Buffer.from('me:pass@word').toString('base64')}`));
      expect((await refusal(installer.stage('@acme/none'))).message).to.not.include('pass');
    });
  });

  describe('at an address', () => {
    it('is taken with its checksum, also where it was moved', async () => {
      const packed = await archive();
      const server = await serving(serveFiles({ '/new/a.tgz': packed }, { '/a.tgz': '/new/a.tgz' }));
      const staged = await installer.stage(`${server.url}/a.tgz?token=secret#sha256=${sha256(packed)}`);
      expect([staged.version, staged.source]).to.deep.equal(['1.0.0', `${server.url}/a.tgz?…#sha256=${sha256(packed)}`]);
    });

    it('is refused with another checksum, and when it is not there', async () => {
      const server = await serving(serveFiles({ '/a.tgz': await archive() }));
      expect(await codeOf(installer.stage(`${server.url}/a.tgz#sha256=${'0'.repeat(64)}`))).to.equal('install_checksum');
      expect(await codeOf(installer.stage(`${server.url}/b.tgz#sha256=${'0'.repeat(64)}`))).to.equal('install_not_found');
      await nothingLeft();
    });

    it('is refused where the archive is hostile', async () => {
      const hostile = Buffer.from('not an archive');
      const server = await serving(serveFiles({ '/a.tgz': hostile }));
      expect(await codeOf(installer.stage(`${server.url}/a.tgz#sha256=${sha256(hostile)}`))).to.equal('install_archive_broken');
      await nothingLeft();
    });
  });

  describe('by its id', () => {
    it('is what the configured index names, and nothing else', async () => {
      const packed = await archive();
      const files: Record<string, string | Buffer> = { '/a.tgz': packed };
      const server = await serving(serveFiles(files));
      const entry = (source: string) => ({ source });
      files['/index.json'] = JSON.stringify({
        format: 1,
        extensions: { 'acme-weather': entry(`${server.url}/a.tgz#sha256=${sha256(packed)}`), 'acme-folder': entry('/etc'), 'acme-ring': entry('acme-ring') },
      });
      rig.policy = { ...rig.policy, index: `${server.url}/index.json`, registry: 'http://127.0.0.1:1' };
      expect(await versionOf('acme-weather')).to.equal('1.0.0');
      expect((await refusal(installer.stage('acme-storm'))).message).to.include('in the index');
      expect(await codeOf(installer.stage('constructor'))).to.equal('install_not_found');
      for (const id of ['acme-folder', 'acme-ring']) expect(await codeOf(installer.stage(id))).to.equal('install_source');
      files['/index.json'] = '[]';
      expect(await codeOf(installer.stage('acme-weather'))).to.equal('install_download');
    });

    it('is a name of npm where no index is configured', async () => {
      const server = await serving(serveRegistry({ 'acme-weather': { versions: { '1.0.0': { archive: await archive({ identity: { name: 'acme-weather' } }) } } } }));
      rig.policy = { ...rig.policy, registry: server.url };
      expect(await versionOf('acme-weather')).to.equal('1.0.0');
    });
  });

  describe('in a git repository', () => {
    let repo: string;
    const git = async (...args: string[]): Promise<string> =>
      (
        await run('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'init.defaultBranch=main', ...args], {
          cwd: repo,
          env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
        })
      ).stdout.trim();
    const commit = async (made: MadePackage, tag?: string): Promise<string> => {
      await writeFiles(repo, packageFiles(made));
      await git('add', '-A');
      await git('commit', '-q', '--allow-empty', '-m', 'x');
      if (tag) await git('tag', tag);
      return git('rev-parse', 'HEAD');
    };
    beforeEach(async () => {
      repo = join(rig.root, 'repos', 'weather');
      await mkdir(repo, { recursive: true });
      await git('init', '-q');
      await git('config', 'uploadpack.allowReachableSHA1InWant', 'true');
    });
    const served = async (): Promise<string> => `git+${(await serving(serveGit(join(rig.root, 'repos')))).url}/weather/.git`;

    it('is what a branch, a tag or a commit holds', async () => {
      const first = await commit({}, 'v1.0.0');
      await commit({ version: '2.0.0' });
      const url = await served();
      expect([await versionOf(url), await versionOf(`${url}#v1.0.0`), await versionOf(`${url}#main`), await versionOf(`${url}#${first}`)]).to.deep.equal(['2.0.0', '1.0.0', '2.0.0', '1.0.0']);
    });

    it('leaves what is not the package alone', async () => {
      await symlink('/etc', join(repo, 'docs'));
      await mkdir(join(repo, 'src'));
      await writeFile(join(repo, 'src', 'index.ts'), 'x');
      await commit({});
      const record = await installer.commit(await installer.stage(await served()), { grants: 'all' });
      expect((await rig.stored()).filter((path) => path.startsWith(record.folder))).to.have.length(5);
    });

    it('is refused with a link in the package, and without a built package', async () => {
      await mkdir(join(repo, 'dist'));
      await symlink('/etc/passwd', join(repo, 'dist', 'data'));
      await commit({});
      const url = await served();
      expect(await codeOf(installer.stage(url))).to.equal('install_archive_link');
      await git('rm', '-q', '-r', 'dist');
      await git('commit', '-q', '-m', 'x');
      expect(await codeOf(installer.stage(url))).to.equal('install_incomplete');
      await nothingLeft();
    });

    it('is refused by the name of what is missing', async () => {
      await commit({});
      const url = await served();
      expect((await refusal(installer.stage(`${url}#v9`))).message).to.match(/^There is no "v9" in http/);
      expect((await refusal(installer.stage(url.replace('weather', 'storm')))).message).to.include('could not be fetched');
    });

    it('runs nothing of the repository', async () => {
      const marker = join(rig.root, 'ran');
      const script = `#!/bin/sh\ntouch ${marker}\n`;
      await writeFiles(repo, { '.gitattributes': '* filter=evil export-subst\n', '.gitmodules': `[submodule "x"]\n path = x\n url = ext::sh -c "touch ${marker}"\n`, 'dist/hook': script });
      for (const hook of ['post-checkout', 'pre-commit', 'post-merge', 'reference-transaction']) {
        await mkdir(join(repo, '.githooks'), { recursive: true });
        await writeFile(join(repo, '.githooks', hook), script);
        await chmod(join(repo, '.githooks', hook), 0o755);
      }
      await commit({ identity: { scripts: { prepare: `touch ${marker}` } } });
      await installer.commit(await installer.stage(await served()), { grants: 'all' });
      expect(await access(marker).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
    });
  });
});
