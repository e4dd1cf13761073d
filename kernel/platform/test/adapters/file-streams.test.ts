import { mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dir } from '@svc/api';
import { expect } from 'chai';
import { openDir } from '../../src/adapters/files/files-adapter.js';

const MIB = 1_048_576;

describe('adapters: streamed files', () => {
  let base: string;
  let dir: Dir;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'svc-file-streams-')));
    dir = openDir(join(base, 'root'));
    await writeFile(join(base, 'secret'), 'outside');
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  const textOf = async (source: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of source) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  async function* from(...parts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) {
      if (part instanceof Error) throw part;
      yield Buffer.from(part);
    }
  }
  const openFiles = async (): Promise<number> => (process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : 0);

  it('are read piece by piece, whole or a part of them', async () => {
    const text = 'abcdefghij'.repeat(30_000);
    await dir.write('big', text);
    let largest = 0;
    for await (const piece of dir.readStream('big')) largest = Math.max(largest, piece.byteLength);
    expect(largest).to.be.at.most(65_536);
    expect(await textOf(dir.readStream('big'))).to.equal(text);
    expect(await textOf(dir.readStream('big', { start: 100_000, end: 100_005 }))).to.equal('abcde');
    expect(await textOf(dir.readStream('big', { start: 299_995 }))).to.equal('fghij');
    expect(await textOf(dir.readStream('big', { start: 400_000 }))).to.equal('');
  });

  it('are bounded where the reader says so, and validate where they begin', async () => {
    await dir.write('ten', '0123456789');
    expect(await codeOf(textOf(dir.readStream('ten', { maxBytes: 9 })))).to.equal('file_too_large');
    expect(await codeOf(textOf(dir.readStream('ten', { start: 5, maxBytes: 5 })))).to.equal('none');
    for (const range of [{ start: -1 }, { start: 1.5 }, { start: 5, end: 4 }]) expect(await codeOf(textOf(dir.readStream('ten', range))), JSON.stringify(range)).to.equal('file_bad_range');
  });

  it('leave nothing open when the reader leaves in the middle', async () => {
    await dir.write('big', 'x'.repeat(5 * MIB));
    const before = await openFiles();
    for (let round = 0; round < 20; round++) {
      for await (const piece of dir.readStream('big')) if (piece.byteLength > 0) break;
    }
    expect(await openFiles()).to.equal(before);
  });

  it('are kept within their folder like any other', async () => {
    await dir.write('file', 'x');
    await symlink(join(base, 'secret'), join(base, 'root/link'));
    for (const path of ['../secret', '/etc/passwd', 'link']) expect(await codeOf(textOf(dir.readStream(path))), path).to.match(/^file_(bad_path|outside)$/);
    expect(await codeOf(dir.writeStream('../new', from('x'), { maxBytes: 10 }))).to.equal('file_bad_path');
    expect(await codeOf(dir.writeStream('link', from('x'), { maxBytes: 10 }))).to.match(/^file_(outside|link_denied)$/);
    expect(await codeOf(textOf(dir.readStream('none')))).to.equal('file_missing');
    expect(await codeOf(textOf(dir.readStream('')))).to.match(/^file_/);
  });

  it('are written whole, with their mode, and say how much it was', async () => {
    expect(await dir.writeStream('deep/film', from('abc', 'def', ''), { maxBytes: 6, mode: 0o600 })).to.equal(6);
    expect(await readFile(join(base, 'root/deep/film'), 'utf8')).to.equal('abcdef');
    expect((await stat(join(base, 'root/deep/film'))).mode & 0o777).to.equal(0o600);
    expect(await readdir(join(base, 'root/deep'))).to.deep.equal(['film']);
  });

  it('leave the old file and no other when the source fails, or gives too much', async () => {
    await dir.write('film', 'old');
    expect(await codeOf(dir.writeStream('film', from('new', new Error('the sender left')), { maxBytes: 100 }))).to.equal('the sender left');
    expect(await codeOf(dir.writeStream('film', from('new', 'more'), { maxBytes: 6 }))).to.equal('file_too_much');
    expect(await readdir(join(base, 'root'))).to.deep.equal(['film']);
    expect(await dir.readText('film')).to.equal('old');
  });

  it('end a source that gives too much', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(1_000);
      } finally {
        isEnded = true;
      }
    }
    expect(await codeOf(dir.writeStream('film', endless(), { maxBytes: 5_000 }))).to.equal('file_too_much');
    expect(isEnded).to.equal(true);
  });
});
