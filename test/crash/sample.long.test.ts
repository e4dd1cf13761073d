/** The short form of full.test.ts: each kind of commit once, and some points of every other kind. */
import { describeOnEngines, type TestEngine } from '@svc/testing';
import { expect } from 'chai';
import { CrashRows } from './account/crash-table.js';
import { endLives } from './daemon-life.js';
import { dieAtEach } from './account/enumerated.js';
import { killUnderLoad, randomOfRun } from './load.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';
import { enumeratePoints } from './scenario.js';

const EVENLY: Readonly<Record<TestEngine['name'], number>> = { SQLite: 6, PostgreSQL: 0 };

describeOnEngines('killed with SIGKILL, in short', function (engine) {
  this.timeout(480_000);
  let model: PlannedModel;

  before(async () => {
    model = await startPlannedModel(1);
  });
  after(() => model.close());
  afterEach(endLives);

  it('at one commit of each kind and points of all others, it loses nothing, repeats nothing that is not harmless and answers every session', async () => {
    const rows = new CrashRows();
    const missed = await dieAtEach(
      model,
      sampleOf(await enumeratePoints(model), EVENLY[engine.name]).map((point) => ({ points: [point] })),
      rows,
    );

    expect(rows.problems().join('\n')).to.equal('');
    expect(model.faults).to.deep.equal([]);
    expect(missed.length, missed.join('; ')).to.be.at.most(1);
  });

  it('under load, it does not either', async () => {
    const { account, messages } = await killUnderLoad(model, { kills: 4, clients: 4, random: randomOfRun() });

    expect(account.problems.join('\n')).to.equal('');
    expect(account.acknowledged).to.equal(messages);
  });
});

/** One point of each kind, from the middle of its turns (the last ones are not reached in every life), and some evenly from the whole story. */
const sampleOf = (points: readonly string[], evenly: number): string[] => {
  const kinds = new Map<string, string[]>();
  for (const point of points) kinds.set(kindOf(point), [...(kinds.get(kindOf(point)) ?? []), point]);
  const one = [...kinds.values()].map((turns) => turns[Math.floor((turns.length - 1) / 2)] ?? '');
  const spread = Array.from({ length: evenly }, (_, index) => points[Math.floor((index * points.length) / evenly)] ?? '');
  return [...new Set([...one, ...spread])];
};

/** Migrations are one kind. Of a commit, before and after are two; of other points, wherever the middle one lies. */
const kindOf = (point: string): string => {
  const name = point.replace(/ #\d+$/, '').replace(/\w+: migration$/, 'migration');
  return name.includes('commit') ? name : name.replace(/^(before|after|within) /, '');
};
