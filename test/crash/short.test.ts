import { expect } from 'chai';
import { endLives } from './daemon-life.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';
import { dieAndReturn, enumeratePoints } from './scenario.js';

describe('crash probe', function () {
  this.timeout(600_000);
  let model: PlannedModel;
  before(async () => { model = await startPlannedModel(); });
  after(() => model.close());
  afterEach(endLives);
  it('enumerates', async () => {
    let t = Date.now();
    const points = await enumeratePoints(model);
    console.log(Date.now() - t, 'ms', points.length);
    console.log(points.map((p, i) => `${i + 1} ${p}`).join('\n'));
    t = Date.now();
    const d = await dieAndReturn(model, Math.floor(points.length * 0.6));
    console.log(Date.now() - t, 'ms', JSON.stringify(d, null, 1));
    expect(model.faults).to.deep.equal([]);
  });
});
