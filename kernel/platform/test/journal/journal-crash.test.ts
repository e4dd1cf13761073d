import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LeasedRun, Logger } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { build } from 'esbuild';
import { systemClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import { createJournal } from '../../src/journal/journal.js';
import { journalMigrations, journalOwner } from '../../src/journal/rows/journal-migrations.js';
import { openStorage } from '../../src/storage/storage.js';

const LANES = 8;
const ROUNDS = 4;
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A process that works without end: each line it prints was acknowledged by the journal before. */
const CHILD = `
import { openStorage } from './kernel/platform/src/storage/storage.ts';
import { createJournal } from './kernel/platform/src/journal/journal.ts';
import { journalMigrations, journalOwner } from './kernel/platform/src/journal/rows/journal-migrations.ts';
import { systemClock } from './kernel/platform/src/clock/clock.ts';
import { systemIds } from './kernel/platform/src/clock/ids.ts';
import { systemActor } from './kernel/api/src/actor.ts';
import { writeSync } from 'node:fs';
const log = { debug() {}, info() {}, warn() {}, error() {} };
const clock = systemClock();
const ids = systemIds();
const storage = await openStorage({ file: process.argv[2], url: process.argv[3], clock, log, onEvents() {} });
await storage.migrate(journalOwner, journalMigrations);
const journal = createJournal({ db: storage.dbFor(journalOwner), nowSql: storage.nowSql, clock, ids, log, instanceId: ids.uuid(), soleWriter: true });
const say = (line) => writeSync(1, line + '\\n');
const work = async (run) => {
  for (let seq = 1; seq <= 3; seq += 1) {
    const spec = { seq, kind: 'tool', key: run.id + ':' + seq, replay: 'keyed', intent: null };
    await journal.step(run, spec, async () => { say('effect ' + run.id + ' ' + seq); return { value: seq }; });
    say('step ' + run.id + ' ' + seq);
  }
  await journal.advance(run, { finish: { status: 'done' } });
  say('done ' + run.id);
};
const lane = async (name) => {
  for (;;) {
    const { run, leased } = await journal.open({ kind: 'work', actor: systemActor('test'), lane: name, input: null });
    say('open ' + run.id);
    if (leased) await work(leased);
    for (const next of await journal.claim('work', 1)) await work(next);
  }
};
await Promise.all(Array.from({ length: ${LANES} }, (_, i) => lane('lane-' + i)));
`;

describeOnEngines('journal after SIGKILL', function (engine) {
  this.timeout(60_000);
  const folder = resolve('dist', `crash-child-${process.pid}`);
  const program = join(folder, 'child.mjs');
  let home: string;

  before(async () => {
    mkdirSync(folder, { recursive: true });
    await build({
      stdin: { contents: CHILD, resolveDir: process.cwd(), loader: 'ts' },
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'bundle',
      external: ['sqlite3', 'knex', 'pg', '@sinclair/typebox'],
      outfile: program,
    });
    home = mkdtempSync(join(tmpdir(), 'svc-crash-'));
  });

  after(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  });

  /** Runs the child until it has said enough, kills it in the middle, and gives what it had said. */
  const killed = (file: string, url: string | undefined, lines: number): Promise<string[]> =>
    new Promise((done, reject) => {
      const child = spawn(process.execPath, [...process.execArgv, program, file, ...(url === undefined ? [] : [url])], { stdio: ['ignore', 'pipe', 'inherit'] });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.split('\n').length > lines) child.kill('SIGKILL');
      });
      child.on('close', (_, signal) => (signal === 'SIGKILL' ? done(said.split('\n').slice(0, -1)) : reject(new Error('The child ended by itself.'))));
    });

  it('has kept everything it acknowledged, repeats nothing that has an outcome, and finishes every run', async () => {
    const file = join(home, 'svc.db');
    const { url } = await engine.fresh();
    const said: string[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) said.push(...(await killed(file, url, 150 * round + 7)));

    const clock = systemClock();
    const storage = await openStorage({ file, url, clock, log: silent, onEvents: () => undefined });
    const journal = createJournal({ db: storage.dbFor(journalOwner), nowSql: storage.nowSql, clock, ids: systemIds(), log: silent, instanceId: 'survivor', soleWriter: true });
    expect(await storage.migrate(journalOwner, journalMigrations)).to.deep.equal({ applied: [] });

    // What the dead processes held is claimable at once, one run of each lane at a time.
    const repeated: string[] = [];
    const goOn = async (run: LeasedRun): Promise<void> => {
      for (const seq of [1, 2, 3]) {
        await journal.step(run, { seq, kind: 'tool', key: `${run.id}:${seq}`, replay: 'keyed', intent: null }, async () => {
          repeated.push(`step ${run.id} ${seq}`);
          return { value: seq };
        });
      }
      await journal.advance(run, { finish: { status: 'done' } });
    };
    for (let runs = await journal.claim('work', 50); runs.length > 0; runs = await journal.claim('work', 50)) await Promise.all(runs.map(goOn));

    const rows = await journal.list({ actor: systemActor('test'), limit: 1_000 });
    const known = new Set(rows.map(({ id }) => id));
    const acknowledged = said.map((line) => line.split(' '));
    expect(rows.filter(({ status }) => status !== 'done')).to.deep.equal([]);
    expect(acknowledged.filter(([, id]) => !known.has(id ?? ''))).to.deep.equal([]);
    expect(said.filter((line) => repeated.includes(line))).to.deep.equal([]);
    const effects = said.filter((line) => line.startsWith('effect'));
    // At most one repetition of a keyed effect per lane and death.
    expect(effects.length - new Set(effects).size).to.be.at.most(LANES * ROUNDS);
    await journal.close();
    await storage.close();
  });
});
