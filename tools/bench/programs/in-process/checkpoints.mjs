/**
 * What a checkpoint costs on a tool's path, by the pool and the worker of the area as they ship, in folders of 100 and of 10,000 files
 * that are all tracked; and what it costs to find what a command changed. Prints milliseconds as JSON.
 */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '@svc/platform/clock/clock';
import { createWorkers } from '@svc/platform/workers/workers';
import { comparedLooks } from '../../../../extensions/checkpoints/src/repository/command-changes.js';
import { lookAt } from '../../../../extensions/checkpoints/src/repository/working-folder.js';

const { writes, looks } = JSON.parse(process.argv[2]);
const base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-bench-checkpoints-')));
const workers = createWorkers({ clock: systemClock() });
const WORKER = resolve('dist/ext/checkpoints/workers/repository.js');
const FILES_PER_FOLDER = 50;

const fill = (folder, files) => {
  for (let i = 0; i < files; i++) {
    const at = join(folder, `d${Math.floor(i / FILES_PER_FOLDER)}`);
    if (i % FILES_PER_FOLDER === 0) mkdirSync(at, { recursive: true });
    writeFileSync(join(at, `f${i}.txt`), `${'x'.repeat(350)}${i}`);
  }
};

const operate = (place, input) => workers.run(WORKER, 'default', { ...place, atMs: Date.now(), id: 'bench', ...input }, { lane: 'bulk', timeoutMs: 300_000 });
const take = (place, paths, more = {}) => operate(place, { op: 'take', paths, command: null, scope: 'written', message: 'before file_write\n\ntool: file_write\n', is_first: false, ...more });

/** Two times of each call: of the checkpoint before it, and of the write itself, as the daemon writes it. */
const measureWrites = async (files) => {
  const place = { gitdir: join(base, `repo-${files}`), folder: join(base, `work-${files}`) };
  fill(place.folder, files);
  await take(place, [], { command: 'all', scope: 'workspace' });
  const times = [];
  for (let i = -10; i < writes; i++) {
    const path = `d${Math.abs(i * 7) % (files / FILES_PER_FOLDER)}/new${i}.txt`;
    const from = performance.now();
    await take(place, [path]);
    if (i >= 0) times.push(performance.now() - from);
    writeFileSync(join(place.folder, path), `written ${i}`);
    await operate(place, { op: 'follow', paths: [path], command: null, tool: 'file_write' });
  }
  return times;
};

/** In this thread, as in that of the pool: the look after a command and the comparison with the one before. The floor lists the folder and asks for each file's facts, and does no more. */
const measureLooks = () => {
  const folder = join(base, 'work-10000');
  const finding = [];
  const floor = [];
  const bare = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const whole = `${path}/${entry.name}`;
      if (entry.isDirectory()) bare(whole);
      else statSync(whole);
    }
  };
  let before = lookAt(folder);
  for (let i = -3; i < looks; i++) {
    writeFileSync(join(folder, 'd3/changed.txt'), `${i}`);
    const started = performance.now();
    const after = lookAt(folder);
    const { changed, created } = comparedLooks(before, after);
    const ended = performance.now();
    if (changed.length + created.length !== 1) throw new Error('the change was not found');
    before = after;
    bare(folder);
    if (i < 0) continue;
    finding.push(ended - started);
    floor.push(performance.now() - ended);
  }
  return { finding, floor };
};

const small = await measureWrites(100);
const large = await measureWrites(10_000);
const found = measureLooks();
await workers.close();
rmSync(base, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ small, large, ...found })}\n`);
