import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { recordedFiles } from '../build/index.mjs';
import { ROOT } from '../build/paths.mjs';
import { lookAt, stands } from '../build/standing.mjs';

describe('what was found fresh', () => {
  let folder: string;
  let source: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-standing-'));
    source = join(folder, 'source.ts');
    writeFileSync(source, 'export {};\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const look = () => lookAt([relative(ROOT, source), relative(ROOT, join(folder, 'absent.ts'))]);

  it('stands while nothing changes', () => {
    expect(stands(look())).to.equal(true);
  });

  for (const [what, change] of [
    ['is written again', () => writeFileSync(source, 'export {};;\n')],
    ['has another time', () => utimesSync(source, 1, 1)],
    ['is removed', () => rmSync(source)],
    ['appears', () => writeFileSync(join(folder, 'absent.ts'), '')],
  ] as const)
    it(`no longer stands when a file ${what}`, () => {
      const before = look();
      change();
      expect(stands(before)).to.equal(false);
    });

  it('is looked at by its sources, its products, these tools and the folders where areas appear', () => {
    const seen = lookAt(recordedFiles()).stamps.map(([file]: [string]) => file);
    expect(seen).to.include.members([
      'kernel/daemon/src/main.ts',
      'dist/daemon/program.cjs',
      'extensions/agents/extension.json',
      'tools/build/standing.mjs',
      'package-lock.json',
      'extensions',
      'dist/release.json',
    ]);
  });
});
