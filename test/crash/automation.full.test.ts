/** The short form of what full.test.ts does with workflows, fires, tasks and deliveries: some points of those that they write. */
import { describeOnEngines, type TestEngine } from '@svc/testing';
import { expect } from 'chai';
import { dieInAutomation } from './automation.js';
import { endLives } from './daemon-life.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';

/** What each story does: no sample is without a death before and after it. */
const WRITES = ['workflow_runs', 'step_runs', 'schedules__fires|insert fires', 'triggers.*fires|insert fires', 'board', 'deliveries', 'fetch webhook'];
const MOST: Readonly<Record<TestEngine['name'], number>> = { SQLite: 5, PostgreSQL: 2 };

describeOnEngines('work that begins by itself, killed with SIGKILL', function (engine) {
  this.timeout(600_000);
  let model: PlannedModel;
  before(async () => {
    model = await startPlannedModel();
  });
  after(() => model.close());
  afterEach(endLives);

  it('loses no step, fire, task or delivery, and does none twice', async () => {
    const { kills, missed, points, problems } = await dieInAutomation(model, (all) => sample(all, MOST[engine.name]));
    for (const write of WRITES)
      expect(
        points.filter((point) => new RegExp(write).test(point)),
        `${write}\n${points.join('\n')}`,
      ).not.to.deep.equal([]);
    expect(problems.join('\n')).to.equal('');
    expect(kills, missed.join('; ')).to.be.greaterThan(MOST[engine.name] / 2);
    expect(model.faults).to.deep.equal([]);
  });
});

/** Evenly over the story, of points that the areas of automation write. */
const sample = (points: readonly string[], most: number): string[] => {
  const own = points.filter((point) => WRITES.some((write) => new RegExp(write).test(point)));
  return Array.from({ length: most }, (_, index) => own[Math.floor((index * own.length) / most)] ?? '').filter((point, index, all) => point !== '' && all.indexOf(point) === index);
};
