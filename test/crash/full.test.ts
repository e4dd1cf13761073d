/** Every crash point, one death each, and random deaths under load. Run by `npm run test:crash`; it prints the table of the README. */
import { expect } from 'chai';
import { type Account, addAccounts, emptyAccount } from './account.js';
import { crashTable, familyOf, type Row } from './crash-table.js';
import { endLives } from './daemon-life.js';
import { killUnderLoad } from './load.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';
import { dieAndReturn, enumeratePoints } from './scenario.js';

const AT_ONCE = 2;
const RANDOM_KILLS = 30;
const CLIENTS = 8;

describe('killed with SIGKILL at every point', function () {
  this.timeout(3_600_000);
  const rows: Row[] = [];
  let model: PlannedModel;

  before(async () => {
    model = await startPlannedModel(1);
  });
  after(async () => {
    await model.close();
    const total = emptyAccount();
    for (const { account } of rows) addAccounts(total, account);
    const all = { where: 'all', points: rows.reduce((sum, row) => sum + (typeof row.points === 'number' ? row.points : 0), 0), kills: rows.reduce((sum, row) => sum + row.kills, 0), account: total };
    console.log(`\n${crashTable([...rows, all])}\n`);
  });
  afterEach(endLives);

  it('loses nothing, repeats nothing that is not harmless, and leaves no session stuck, at every commit and every call of a door', async () => {
    const points = await enumeratePoints(model);
    const families = new Map<string, { points: number; kills: number; account: Account }>();
    for (const point of points) familyIn(families, point).points += 1;
    const numbers = points.map((_, index) => index + 1);
    const worker = async (): Promise<void> => {
      for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
        const { point, account } = await dieAndReturn(model, number);
        // What runs beside each other is not reached in the same order each time: the death counts where it fell.
        const family = familyIn(families, point ?? points[number - 1] ?? '');
        if (point !== undefined) family.kills += 1;
        addAccounts(family.account, { ...account, problems: account.problems.map((problem) => `at point ${number}, ${point}: ${problem}`) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    for (const [where, family] of families) rows.push({ where, ...family });
    expect([...families.values()].flatMap(({ account }) => account.problems)).to.deep.equal([]);
    expect(model.faults).to.deep.equal([]);
  });

  it('does so at random moments under load', async () => {
    const { account, messages } = await killUnderLoad(model, { kills: RANDOM_KILLS, clients: CLIENTS, random: Math.random });
    rows.push({ where: `random, ${CLIENTS} clients`, points: '-', kills: RANDOM_KILLS, account });
    expect(account.problems).to.deep.equal([]);
    expect(model.faults).to.deep.equal([]);
    expect(account.acknowledged).to.equal(messages);
  });
});

const familyIn = (families: Map<string, { points: number; kills: number; account: Account }>, point: string): { points: number; kills: number; account: Account } => {
  const where = familyOf(point);
  const family = families.get(where) ?? { points: 0, kills: 0, account: emptyAccount() };
  families.set(where, family);
  return family;
};
