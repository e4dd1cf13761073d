/** code_search over real files and real worker threads. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DirEntry } from '@svc/api';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import searchLines from '../src/workers/search-lines.js';
import siftEntries from '../src/workers/sift-entries.js';
import { walk } from '../src/code-search/walk.js';

const NEVER = new AbortController().signal;
/** The functions themselves, without their threads. */
const workers = { run: async (worker: { name: string }, input: never) => (worker.name === 'tools.sift-entries' ? siftEntries(input) : searchLines(input)) } as never;

describe('the files that code_search looks at', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-walk-'));
  });
  afterEach(() => rm(root, { recursive: true }));
  const put = async (files: Record<string, string>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  };
  const found = async (folder = '.', glob: string | null = null, limits = { maxEntries: 1_000, maxFiles: 1_000 }) => {
    const walked = await walk({ dir: openDir(root), workers, signal: NEVER, glob }, folder, limits);
    return { ...walked, files: [...walked.files].sort() };
  };

  it('are those that no ignore file names, the innermost of them deciding, and .ignore after .gitignore', async () => {
    await put({
      '.gitignore': '*.log\n!keep.log\nbuild/\n/only-here.txt\nsecret\n',
      'a.log': '',
      'keep.log': '',
      'only-here.txt': '',
      'sub/only-here.txt': '',
      'sub/.gitignore': '!b.log\n*.tmp\n',
      'sub/a.log': '',
      'sub/b.log': '',
      'sub/x.tmp': '',
      'build/out.js': '',
      'sub/build/out.js': '',
      'sub/secret/x': '',
      'other/.gitignore': '*.md\n',
      'other/.ignore': '!read.md\n',
      'other/read.md': '',
      'other/more.md': '',
      '.git/config': '',
    });
    expect((await found()).files).to.deep.equal(['.gitignore', 'keep.log', 'other/.gitignore', 'other/.ignore', 'other/read.md', 'sub/.gitignore', 'sub/b.log', 'sub/only-here.txt'].sort());
    // What stands above holds below.
    expect((await found('sub')).files).to.deep.equal(['sub/.gitignore', 'sub/b.log', 'sub/only-here.txt']);
  });

  it('bring no file back from a folder that is left out', async () => {
    await put({ '.gitignore': 'out/\n!out/keep.txt\n', 'out/keep.txt': '', 'in.txt': '' });
    expect((await found()).files).to.deep.equal(['.gitignore', 'in.txt']);
  });

  it('fit the glob, where there is one', async () => {
    await put({ 'a.ts': '', 'src/b.ts': '', 'src/c.md': '' });
    expect((await found('.', '*.ts')).files).to.deep.equal(['a.ts', 'src/b.ts']);
    expect((await found('.', 'src/**/*.md')).files).to.deep.equal(['src/c.md']);
  });

  it('are never behind a link, in or out', async () => {
    await put({ 'in/a.txt': '' });
    await symlink(join(root, 'in'), join(root, 'link'));
    await symlink('/etc', join(root, 'out'));
    await symlink('/etc/hostname', join(root, 'file'));
    expect((await found()).files).to.deep.equal(['in/a.txt']);
  });

  it('are counted up to a bound, which is said', async () => {
    await put(Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}/x.txt`, ''])));
    expect(await found('.', null, { maxEntries: 1_000, maxFiles: 10 })).to.satisfy(({ files, isCut }: { files: string[]; isCut: boolean }) => files.length === 10 && isCut);
    expect((await found('.', null, { maxEntries: 40, maxFiles: 1_000 })).isCut).to.equal(true);
    expect((await found('.', null, { maxEntries: 61, maxFiles: 30 })).isCut).to.equal(false);
  });

  it('of a hundred thousand in one folder, and of ten thousand folders, are the first', async () => {
    const entry = (name: string, kind: 'file' | 'dir'): DirEntry => ({ name, kind, sizeBytes: 1, modifiedAt: '', changedAt: '' });
    let asked = 0;
    const flat = {
      list: async (_path: string | undefined, { limit = 0 } = {}) => Array.from({ length: Math.min(limit, 100_000) }, (_, at) => entry(`f${at}`, 'file')),
      read: async () => new Uint8Array(),
    };
    const deep = {
      list: async () => {
        asked += 1;
        return [entry('x', 'file'), ...Array.from({ length: 10 }, (_, at) => entry(`d${at}`, 'dir'))];
      },
      read: async () => new Uint8Array(),
    };
    const first = await walk({ dir: flat, workers, signal: NEVER, glob: null }, '.');
    expect([first.files.length, first.isCut]).to.deep.equal([20_000, true]);
    const second = await walk({ dir: deep, workers, signal: NEVER, glob: null }, '.');
    expect(second.isCut).to.equal(true);
    expect(asked).to.be.below(11_000);
  });
});

describe('code_search', () => {
  let kernel: TestKernel;
  let agent: string;
  before(async () => {
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["code_search"]\n` });
    agent = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "reader"\n[capabilities]\nfile_system = true\n' })).body.agent_id;
    await put('src/a.ts', 'one\ntwo\nneedle(1)\nfour\nNEEDLE\nsix');
    await put('src/b.md', 'a needle\r\nin hay');
    await put('bytes.bin', Buffer.from([0x6e, 0, 0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65]));
    await put('long.txt', `${'a'.repeat(1_048_576)}!`);
    await put('wide.txt', `${'x'.repeat(5_000)} needle ${'y'.repeat(5_000)}`);
    await put('large.txt', 'needle\n'.repeat(400_000));
    await put('many.txt', Array.from({ length: 500 }, (_, at) => `hit ${at}`).join('\n'));
  });
  after(stopTestKernels);
  const put = async (path: string, text: string | Buffer): Promise<void> => {
    const file = join(kernel.home, 'workspaces', agent, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const search = async (args: object) => {
    const { status, body } = await kernel.http.post(`/api/tools/code_search/invoke?agent_id=${agent}`, args);
    return { status, text: String(body.content ?? body.error) };
  };

  it('shows file, number and line, with what stands around', async () => {
    const { text } = await search({ query: 'needle', path: 'src' });
    expect(text).to.equal(
      [
        ...['src/a.ts-2-two', 'src/a.ts:3:needle(1)', 'src/a.ts-4-four', '--'],
        ...['src/a.ts-4-four', 'src/a.ts:5:NEEDLE', 'src/a.ts-6-six', '--'],
        ...['src/b.md:1:a needle', 'src/b.md-2-in hay'],
      ].join('\n'),
    );
    expect((await search({ query: '^needle\\(\\d\\)$', case_sensitive: true, context: 0, path: 'src' })).text).to.equal('src/a.ts:3:needle(1)');
    expect((await search({ query: 'needle', glob: '*.md', context: 0 })).text).to.equal('src/b.md:1:a needle');
    expect((await search({ query: 'needle', path: 'src/b.md', context: 0 })).text).to.equal('src/b.md:1:a needle');
  });

  it('says what it did not search, cuts wide lines around the match, and tells how many more there are', async () => {
    const all = (await search({ query: 'needle', context: 0 })).text;
    expect(all).to.match(/\[not searched: 1 larger than 2097152 bytes, 1 that are no text\]/);
    const wide = all.split('\n').find((line) => line.startsWith('wide.txt')) ?? '';
    expect(wide).to.match(/^wide\.txt:1:…x+ needle y+…$/);
    expect(wide.length).to.be.below(330);
    const hits = (await search({ query: 'hit', max_results: 3, context: 0 })).text;
    expect(hits).to.equal(
      'many.txt:1:hit 0\nmany.txt:2:hit 1\nmany.txt:3:hit 2\n[497 more lines match: narrow the query, or give a path or glob]\n[not searched: 1 larger than 2097152 bytes, 1 that are no text]',
    );
    expect((await search({ query: 'nowhere', path: 'src' })).text).to.equal('[nothing matches in 2 files]');
  });

  it('bears patterns that would hang another engine', async () => {
    for (const query of ['(a+)+$', '(a|a)*b', '(.*)*c', '(a{1,100}){1,10}z']) {
      const { status, text } = await search({ query, path: 'long.txt' });
      expect([status, text], query).to.deep.equal([200, '[nothing matches in 1 files]']);
    }
  });

  it('refuses what is no pattern, and what leads out or is not there', async () => {
    for (const [query, why] of [
      ['(', /query is not a valid regular expression/],
      ['(?=a)', /query is not a valid regular expression/],
      ['(a)\\1', /query is not a valid regular expression/],
      ['((a{1000}){1000}){1000}', /query is not a valid regular expression/],
    ] as const) {
      const { status, text } = await search({ query });
      expect([status, why.test(text)], `${query}: ${text}`).to.deep.equal([400, true]);
    }
    for (const path of ['..', '../x', '/etc']) expect((await search({ query: 'a', path })).text, path).to.match(/Path traversal denied/);
    expect((await search({ query: 'a', path: 'none' })).text).to.match(/no file "none"/);
    for (const args of [{}, { query: '' }, { query: 'x'.repeat(1_001) }, { query: 'a', max_results: 0 }, { query: 'a', max_results: 201 }, { query: 'a', context: 11 }])
      expect((await search(args)).status).to.equal(400);
  });

  it('ends an ignore file that is built to take for ever, and says so', async function () {
    this.timeout(60_000);
    await put(`trap/${'a/'.repeat(60)}x`, '');
    await put('trap/.gitignore', `${'**/a/'.repeat(30)}z\n`);
    const { status, text } = await search({ query: 'x', path: 'trap' });
    expect(status, text).to.equal(400);
    expect(text).to.match(/The search was stopped: .* ignore file/);
  });

  it('needs the grant of files', async () => {
    const { body } = await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "blind"\n[capabilities]\nfile_system = false\n' });
    const refused = await kernel.http.post(`/api/tools/code_search/invoke?agent_id=${body.agent_id}`, { query: 'x' });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'capability_denied']);
  });
});
