/** What `svc dev` is told of changes. */
import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchSources } from '@svc/installer/author';
import { expect } from 'chai';

describe('watching sources', () => {
  let dir: string;
  let reported: string[][];
  let release: () => void;
  let watching: { close(): void };
  const until = async (ready: () => boolean): Promise<void> => {
    while (!ready()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const start = (work: () => Promise<void> = async () => undefined): void => {
    watching = watchSources(dir, async (paths) => {
      reported.push([...paths]);
      await work();
    });
  };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-watch-'));
    for (const folder of ['src/deep', 'dist', 'node_modules']) await mkdir(join(dir, folder), { recursive: true });
    reported = [];
    release = () => undefined;
  });
  afterEach(async () => {
    watching.close();
    release();
    await rm(dir, { recursive: true, force: true });
  });

  it('tells once of changes that come together, however an editor writes them', async () => {
    start();
    writeFileSync(join(dir, 'src/deep/.one.swp'), 'draft');
    renameSync(join(dir, 'src/deep/.one.swp'), join(dir, 'src/deep/one.ts'));
    writeFileSync(join(dir, 'extension.json'), '{}');
    await until(() => reported.length > 0);
    expect(reported).to.have.length(1);
    expect(reported[0]).to.include.members(['extension.json', 'src/deep/one.ts']);
  });

  it('says nothing of what the build makes and npm installs', async () => {
    start();
    await writeFile(join(dir, 'dist/index.js'), 'made');
    await writeFile(join(dir, 'node_modules/left.js'), 'installed');
    await writeFile(join(dir, 'contributions.json'), '{}');
    await writeFile(join(dir, 'src/last.ts'), 'written');
    await until(() => reported.length > 0);
    expect(reported.flat()).to.deep.equal(['src/last.ts']);
  });

  it('waits with what changes while it is busy, and tells of it afterwards', async () => {
    start(() => new Promise((resolve) => (release = resolve)));
    await writeFile(join(dir, 'src/one.ts'), '1');
    await until(() => reported.length === 1);
    await writeFile(join(dir, 'src/two.ts'), '2');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(reported).to.deep.equal([['src/one.ts']]);
    release();
    await until(() => reported.length === 2);
    expect(reported[1]).to.deep.equal(['src/two.ts']);
  });
});
