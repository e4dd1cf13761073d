import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dir } from '@svc/api';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { expect } from 'chai';
import { createLineSearch, SEARCH_STEPS, type Sameness } from '../src/builtin/line-search.js';
import { parsePatch } from '../src/builtin/patch-format.js';
import { applyHunks } from '../src/builtin/patch-hunks.js';
import { carryOut, planPatch } from '../src/builtin/patch-plan.js';

const patchOf = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

const patched = (text: string, ...hunk: string[]): string => {
  const [section] = parsePatch(patchOf('*** Update File: x', ...hunk));
  if (section?.kind !== 'update') throw new Error('an update was expected');
  const result = applyHunks(text, section.hunks, { left: SEARCH_STEPS });
  return 'text' in result ? result.text : `problem: ${result.problem}`;
};

describe('apply_patch', () => {
  let home: string;
  let dir: Dir;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-patch-'));
    dir = openDir(home);
  });
  afterEach(() => rm(home, { recursive: true }));
  const apply = async (patch: string): Promise<void> => carryOut(dir, await planPatch(dir, parsePatch(patch)));
  const text = (path: string): Promise<string> => readFile(join(home, path), 'utf8');

  it('adds, updates, moves and deletes files', async () => {
    await dir.write('old.txt', 'one\ntwo\nthree\n');
    await dir.write('gone.txt', 'x');
    await apply(
      patchOf('*** Add File: sub/new.md', '+# New', '+', '+text', '*** Update File: old.txt', '*** Move to: sub/moved.txt', '@@', ' one', '-two', '+2', ' three', '*** Delete File: gone.txt'),
    );
    expect(await text('sub/new.md')).to.equal('# New\n\ntext\n');
    expect(await text('sub/moved.txt')).to.equal('one\n2\nthree\n');
    expect((await dir.list('.')).map(({ name }) => name)).to.deep.equal(['sub']);
  });

  it('leaves a file of UTF-16 in its encoding', async () => {
    await dir.write('win.txt', Buffer.from('\uFEFFeins\nzwei ü\n', 'utf16le'));
    await apply(patchOf('*** Update File: win.txt', '@@', ' eins', '-zwei ü', '+drei ß'));
    expect((await readFile(join(home, 'win.txt'))).equals(Buffer.from('\uFEFFeins\ndrei ß\n', 'utf16le'))).to.equal(true);
  });

  it('P1 changes nothing when one of several files does not fit', async () => {
    await dir.write('a.txt', 'a\n');
    await dir.write('b.txt', 'b\n');
    const failure = await apply(patchOf('*** Update File: a.txt', '@@', '-a', '+A', '*** Update File: b.txt', '@@', '-not there', '+B')).catch((error: Error) => error);
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/Nothing was changed: b\.txt: hunk 1 of 1: its lines were not found.*"not there"/);
    expect(await text('a.txt')).to.equal('a\n');
  });

  it('P2 takes back what it wrote when a later write fails', async () => {
    await dir.write('a.txt', 'a\n');
    const failing: Dir = { ...dir, write: (path, data) => (path === 'b.txt' && data === 'B\n' ? Promise.reject(new Error('disk full')) : dir.write(path, data)) };
    await dir.write('b.txt', 'b\n');
    const changes = await planPatch(dir, parsePatch(patchOf('*** Update File: a.txt', '@@', '-a', '+A', '*** Update File: b.txt', '@@', '-b', '+B')));
    const failure = await carryOut(failing, changes).catch((error: Error) => error.message);
    expect(failure).to.equal('disk full');
    expect(await text('a.txt')).to.equal('a\n');
    expect(await text('b.txt')).to.equal('b\n');
  });

  it('P3 refuses a path that leads out, in any section', async () => {
    for (const section of [['*** Add File: ../x', '+x'], ['*** Delete File: /etc/passwd'], ['*** Update File: a', '*** Move to: ../b', '@@', '-a', '+b']]) {
      await dir.write('a', 'a\n');
      const failure = await apply(patchOf(...section)).catch((error: Error) => error);
      expect(failure, section[0])
        .to.be.an('error')
        .with.property('message')
        .that.matches(/Path traversal denied/);
    }
  });

  it('will not add over a file, nor move onto one, nor change one that is not there', async () => {
    await dir.write('a.txt', 'a\n');
    await dir.write('b.txt', 'b\n');
    const problem = (...lines: string[]) => apply(patchOf(...lines)).catch((error: Error) => error.message);
    expect(await problem('*** Add File: a.txt', '+x')).to.match(/exists already/);
    expect(await problem('*** Update File: a.txt', '*** Move to: b.txt', '@@', '-a', '+x')).to.match(/b\.txt: a file is there already/);
    expect(await problem('*** Update File: c.txt', '@@', '-a', '+x')).to.match(/the file does not exist/);
  });

  it('finds a hunk by its anchor among equal lines', () => {
    expect(patched('f:\n  x\ng:\n  x\n', '@@ g:', '-  x', '+  y')).to.equal('f:\n  x\ng:\n  y\n');
    expect(patched('f:\n  x\ng:\n  x\n', '@@ g: @@', ' g:', '-  x', '+  y')).to.equal('f:\n  x\ng:\n  y\n');
  });

  it('applies several hunks from top to bottom', () => {
    expect(patched('a\nb\na\nb\n', '@@', '-a', '+1', ' b', '@@', '-a', '+2')).to.equal('1\nb\n2\nb\n');
  });

  it('keeps the line ends of the file, and a missing last one', () => {
    expect(patched('a\r\nb\r\n', '@@', '-a', '+x', '+y', ' b')).to.equal('x\r\ny\r\nb\r\n');
    expect(patched('a\nb', '@@', ' a', '-b', '+c')).to.equal('a\nc');
  });

  it("forgives spaces at the end of lines, and keeps the file's own", () => {
    expect(patched('keep  \nold\n', '@@', ' keep', '-old', '+new')).to.equal('keep  \nnew\n');
  });

  it('puts additions after their anchor, or at the end of the file', () => {
    expect(patched('a\nb\n', '@@ a', '+x')).to.equal('a\nx\nb\n');
    expect(patched('a\nb\n', '@@', '+x')).to.equal('a\nb\nx\n');
    expect(patched('b\na\nb\n', '@@', '-b', '+c', '*** End of File')).to.equal('b\na\nc\n');
  });

  it('says at which line of the patch it cannot go on', () => {
    const problem = (patch: string): string => {
      try {
        parsePatch(patch);
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return 'it was read';
    };
    expect(problem('hello')).to.match(/line 1: "\*\*\* Begin Patch" was expected/);
    expect(problem('*** Begin Patch\n*** Add File: x\n+a')).to.match(/line 4: "\*\*\* End Patch" is missing/);
    expect(problem(patchOf('*** Add File: x', 'a'))).to.match(/line 3: each line of an added file begins with \+/);
    expect(problem(patchOf('*** Update File: x', '@@', '*a'))).to.match(/line 4: each line of a hunk begins with/);
    expect(problem(patchOf('*** Rename File: x'))).to.match(/line 2/);
    expect(problem(patchOf())).to.match(/changes nothing/);
  });

  it('finds the same places as a comparison of every line at every place', () => {
    const trim: Record<Sameness, (line: string) => string> = { exact: (line) => line, 'spaces at end': (line) => line.trimEnd(), 'spaces around': (line) => line.trim() };
    const slowly = (lines: string[], wanted: string[], from: number, same: Sameness): number => {
      for (let at = from; at + wanted.length <= lines.length; at++) if (wanted.every((line, offset) => trim[same](lines[at + offset] ?? '') === trim[same](line))) return at;
      return -1;
    };
    let seed = 7;
    const below = (limit: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % limit;
    };
    const draw = (count: number): string[] => Array.from({ length: count }, () => ['a', 'b', 'a ', ' b', ''][below(5)] ?? '');
    let found = 0;
    for (let round = 0; round < 2_000; round++) {
      const lines = draw(below(14));
      const search = createLineSearch(lines, { left: SEARCH_STEPS });
      for (const same of ['exact', 'spaces at end', 'spaces around'] as const) {
        const wanted = draw(1 + below(4));
        const from = below(8);
        const expected = slowly(lines, wanted, from, same);
        if (expected >= 0) found++;
        expect(search.find(wanted, from, same), JSON.stringify({ lines, wanted, from, same })).to.equal(expected);
      }
    }
    expect(found).to.be.above(500);
  });

  it('looks for a hunk of thousands of equal lines once, not at every place', () => {
    const text = `${'a\n'.repeat(100_000)}`;
    const hunk = [...Array.from({ length: 20_000 }, () => ' a'), '-b', '+c'];
    expect(patched(`${text}b\na\n`, ...hunk)).to.equal(`${text}c\na\n`);
    expect(patched(`b\n${text}`, ...hunk)).to.match(/its lines were not found/);
  });

  it('does not look farther than one patch may cost, and then changes nothing', async () => {
    await dir.write('long.txt', `${'a \n'.repeat(50_000)}${'a\nb\n'.repeat(25_000)}`);
    // Each is tried to the letter over the whole file before spaces at the end are forgiven.
    const hunks = Array.from({ length: 10_000 }, () => ['@@', ' a', '-a', '+c']).flat();
    const failure = await apply(patchOf('*** Update File: long.txt', ...hunks)).catch((error: Error) => error);
    expect(failure).to.include({ code: 'tools_patch_too_costly' });
    expect(await text('long.txt')).to.match(/^a \na \n/);
  });
});
