/**
 * The short form of full.test.ts: what each story does and each second kind of commit, once. What only a new home reaches
 * (migrations, its first agents) dies in a home of its own; the rest dies in turn, so that a death costs one start of a daemon
 * and a home has the history of all deaths before. Left to the full form: each turn of a kind, and a death in a recovery.
 */
import { describeOnEngines, type TestEngine } from '@svc/testing';
import { expect } from 'chai';
import { CrashRows } from './account/crash-table.js';
import { endLives } from './daemon-life.js';
import { dieAtEach, dieInTurns } from './account/enumerated.js';
import { killUnderLoad, randomOfRun } from './load.js';
import { type PlannedModel, startPlannedModel } from './planned-model.js';
import { enumeratePoints } from './scenario.js';

/** What each story does: no sample is without a death before and after it. */
const STEPS = [
  'insert journal__runs',
  'insert journal__steps.*insert reservations',
  'insert usage, llm: remove reservations',
  'runs, update journal__steps, insert sessions__entries #',
  'insert said',
  '[(]end[)]',
]
  .flatMap((commit) => [`^before commit .*${commit}`, `^after commit .*${commit}`])
  .concat(['migration', 'insert agents', 'effect never', 'effect keyed', 'effect safe', 'fetch model', 'fetch tool', 'exec', 'file write'])
  .map((step) => new RegExp(step));
/** What is done by the clock (a lease that a slow run renews), or by chance in one commit, is not reached in every life. */
const MOST_MISSED = 6;
/** The first point of a step. */
const isStep = (_point: string, at: number, points: readonly string[]): boolean => STEPS.some((step) => points.findIndex((other) => step.test(other)) === at);
/** What each story does, and of the other kinds each second one on SQLite. */
const KINDS: Readonly<Record<TestEngine['name'], (points: readonly string[]) => readonly string[]>> = {
  SQLite: (points) => points.filter((point, at) => at % 2 === 0 || isStep(point, at, points)),
  PostgreSQL: (points) => points.filter(isStep),
};

describeOnEngines('killed with SIGKILL, in short', function (engine) {
  this.timeout(1_800_000);
  let model: PlannedModel;

  before(async () => {
    model = await startPlannedModel(1);
  });
  after(() => model.close());
  afterEach(endLives);

  it('at commits of all stories, it loses nothing, repeats nothing that is not harmless and answers every session', async () => {
    const lives = await Promise.all([enumeratePoints(model), enumeratePoints(model)]);
    const [first, later] = [reachedInBoth(lives.map((life) => life.first)), reachedInBoth(lives.map((life) => life.later))];
    const again = new Set(later.map(kindOf));
    const each = KINDS[engine.name](oneOfEachKind(later));
    const once = KINDS[engine.name](oneOfEachKind(first.filter((point) => !again.has(kindOf(point)))));
    const rows = new CrashRows();
    const missed = await dieAtEach(
      model,
      once.map((point) => ({ points: [point] })),
      rows,
    );
    const inTurn = await dieInTurns(model, each);

    expect([...rows.problems(), ...inTurn.problems].join('\n')).to.equal('');
    expect(model.faults).to.deep.equal([]);
    missed.push(...inTurn.missed);
    const died = [...once, ...each].filter((point) => !missed.includes(point));
    for (const step of STEPS) expect(died.filter((point) => step.test(point)).length, `${step} was never reached; missed: ${missed.join('; ')}`).to.be.greaterThan(0);
    expect(missed.length, missed.join('; ')).to.be.at.most(MOST_MISSED);
  });

  it('under load, it does not either', async () => {
    const { account, messages } = await killUnderLoad(model, { kills: 4, clients: 4, random: randomOfRun() });

    expect(account.problems.join('\n')).to.equal('');
    expect(account.acknowledged).to.equal(messages);
  });
});

/** Two commits that end together are one, so that some points are reached in some lives only. */
const reachedInBoth = ([one = [], other = []]: ReadonlyArray<readonly string[]>): string[] => {
  const reached = new Set(other);
  return one.filter((point) => reached.has(point));
};

/** One point of each kind, from the middle of its turns: the last ones are not reached in every life. */
const oneOfEachKind = (points: readonly string[]): string[] => {
  const kinds = new Map<string, string[]>();
  for (const point of points) kinds.set(kindOf(point), [...(kinds.get(kindOf(point)) ?? []), point]);
  return [...kinds.values()].map((turns) => turns[Math.floor((turns.length - 1) / 2)] ?? '');
};

/** Migrations are one kind. Of a commit, before and after are two; of other points, wherever the middle one lies. */
const kindOf = (point: string): string => {
  const name = point.replace(/ #\d+$/, '').replace(/\w+: migration$/, 'migration');
  return name.includes('commit') ? name : name.replace(/^(before|after|within) /, '');
};
