/** Every crash point, one death each; each once more with a second death while it recovers; and random deaths under load. */
import { expect } from 'chai';
import { addAccounts } from './account/account.js';
import { CrashRows, crashTable } from './account/crash-table.js';
import { dieInAutomation } from './automation.js';
import { endLives } from './daemon-life.js';
import { dieAtEach } from './account/enumerated.js';
import { killUnderLoad, randomOfRun } from './load.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';
import { enumeratePoints } from './scenario.js';

const RANDOM_KILLS = 30;
const CLIENTS = 8;
/** The second life dies somewhere in its first so many points: there it takes up what the first has left. */
const RECOVERY_POINTS = 12;
/** A merge of two commits that end together can make a point that only some lives have. */
const MOST_MISSED = 0.03;
/** Timers of several areas run beside each other: more commits end together in some lives. */
const MOST_MISSED_BY_THEMSELVES = 0.2;

describe('killed with SIGKILL', function () {
  this.timeout(3_600_000);
  const rows = new CrashRows();
  let model: PlannedModel;
  let points: string[];

  before(async () => {
    model = await startPlannedModel(1);
    points = (await enumeratePoints(model)).first;
  });
  after(async () => {
    await model.close();
    console.log(`\n${crashTable(rows.all())}\n`);
  });
  afterEach(endLives);

  const check = (missed: readonly string[]): void => {
    expect(rows.problems().join('\n')).to.equal('');
    expect(model.faults).to.deep.equal([]);
    expect(missed.length, `never reached: ${missed.join('; ')}`).to.be.at.most(points.length * MOST_MISSED);
  };

  it('at every commit and every call of an adapter, it loses nothing, repeats nothing that is not harmless and answers every session', async () => {
    check(
      await dieAtEach(
        model,
        points.map((point) => ({ points: [point] })),
        rows,
      ),
    );
  });

  it('and again while it recovers, it does not either', async () => {
    const twice = points.map((point, index) => ({ points: [point, `any #${1 + (index % RECOVERY_POINTS)}`], row: 'any point, then in recovery' }));
    check(await dieAtEach(model, twice, rows));
  });

  it('with workflows, fires, tasks and deliveries, it does not either', async () => {
    const { kills, missed, points: all, problems } = await dieInAutomation(model, (reached) => reached);
    expect(problems.join('\n')).to.equal('');
    expect(kills, missed.join('; ')).to.be.at.least(all.length * (1 - MOST_MISSED_BY_THEMSELVES));
  });

  it('and at random moments under load, it does not either', async () => {
    const { account, messages } = await killUnderLoad(model, { kills: RANDOM_KILLS, clients: CLIENTS, random: randomOfRun() });
    const row = rows.of(`random, ${CLIENTS} clients`);
    row.kills = RANDOM_KILLS;
    addAccounts(row.account, account);
    check([]);
    expect(account.acknowledged).to.equal(messages);
  });
});
