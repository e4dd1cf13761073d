import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { inRoot } from '../build/paths.mjs';
import { findChanges } from '../mutate/changes.mjs';
import { instrument } from '../mutate/instrument.mjs';
import { measure } from '../mutate/measure.mjs';
import { sampleOf } from '../mutate/selection.mjs';
import { renderShares } from '../mutate/table.mjs';

interface Change {
  readonly start: number;
  readonly end: number;
  readonly to: string;
  readonly form: string;
}

const turns = (text: string): string[] => findChanges(text).map(({ start, end, to }: Change) => `${text.slice(start, end)} → ${to}`);

/** What the compiled source gives when change number `active` is on. */
const run = (text: string, active: number, args: unknown[]): unknown => {
  const changes = findChanges(text).map((change: Change, index: number) => ({ ...change, id: index + 1 }));
  const host = globalThis as { __mutation?: unknown };
  host.__mutation = (id: number) => id === active;
  try {
    return new Function(`${instrument(text, changes).replace('export const f =', 'const f =')}; return f;`)()(...args);
  } finally {
    delete host.__mutation;
  }
};

describe('the changes of a source', () => {
  it('turn comparisons at their edge, conditions, numbers, defaults and calls', () => {
    expect(turns('export const f = (n: number, d?: number) => (n <= 10 ? (d ?? 3) : -1);')).to.have.members([
      'n <= 10 → true',
      'n <= 10 → false',
      'n <= 10 → n < 10',
      '10 → 20',
      'd ?? 3 → d',
      '3 → 6',
      '1 → 2',
    ]);
    expect(turns('list.filter(isGood).some(isNew);')).to.include.members(['list.filter(isGood).some(isNew) → list.filter(isGood).every(isNew)', 'list.filter(isGood) → list']);
  });

  it('reach into SQL, one place at a time', () => {
    expect(turns("export const f = (db) => db.read('SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z');").slice(1)).to.have.members([
      "'SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z' → 'SELECT * FROM a WHERE x >= ? AND y IS NULL ORDER BY z'",
      "'SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z' → 'SELECT * FROM a WHERE x > ? OR y IS NULL ORDER BY z'",
      "'SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z' → 'SELECT * FROM a WHERE x > ? AND y IS NOT NULL ORDER BY z'",
      "'SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z' → 'SELECT * FROM a WHERE x > ? AND y IS NULL ORDER BY z DESC'",
    ]);
  });

  it('leave alone what is written to the log, the words of messages, types, timers that let go, and the size of an order', () => {
    const words = "ctx.log.warn(n > 1 ? 'many' : 'one'); timer.unref(); throw new Error(n > 1 ? 'many' : 'one');";
    expect(turns(words)).to.deep.equal(["throw new Error(n > 1 ? 'many' : 'one'); → "]);
    expect(turns('list.sort((a, b) => (a < b ? -1 : 1)); const text = e instanceof Error ? e.message : "it";'))
      .to.include('a < b → true')
      .and.to.not.include('1 → 2')
      .and.to.not.include('e instanceof Error → true');
    expect(turns('export const a: 5 | 6 = b as 7; const c = { message: n > 1 ? x : y, hint: 3 };')).to.deep.equal([]);
  });

  it('are each on alone, and none of them by itself', () => {
    const text = 'export const f = (a, b) => { const c = a?.list?.filter((x) => x < b); if (c === undefined) return -1; c.push(0); return c.length + 1; };';
    const args = (): unknown[] => [{ list: [1, 2, 3] }, 3];
    expect(run(text, 0, args())).to.equal(4);
    const changes = findChanges(text);
    expect(changes.length).to.be.greaterThan(9);
    changes.forEach(({ start, end, to, form }: Change, index: number) => {
      const plain = form === 'statement' ? ';' : `(${to})`;
      const byHand = `${text.slice(0, start)}${plain}${text.slice(end)}`.replace('export ', '');
      expect(run(text, index + 1, args()), to).to.deep.equal(new Function(`${byHand}; return f;`)()(...args()));
    });
    expect(run(text, 0, [undefined, 3])).to.equal(-1);
  });

  it('are drawn by a seed: the same ones again, others with another seed', () => {
    const all = Array.from({ length: 100 }, (_, n) => n);
    expect(sampleOf(all, 10, 1))
      .to.deep.equal(sampleOf(all, 10, 1))
      .and.not.deep.equal(sampleOf(all, 10, 2));
    expect(new Set(sampleOf(all, 10, 1)).size).to.equal(10);
    expect(sampleOf(all, 0, 1)).to.deep.equal(all);
  });
});

describe('measuring an area', () => {
  const SOURCE = `
export const CAP = 5;
export const admit = (n) => n <= CAP;
export const spin = (n) => { let left = n; while (left > 0) left -= 1; return left; };
export const unloved = (n) => n > 3;
export const same = (a, b) => Math.max(a, b) + 0 * a;
`;
  const TESTS = `
import { expect } from 'chai';
import { admit, spin, same } from '../src/door.mjs';
describe('the door', () => {
  it('admits five', () => { expect(admit(5)).to.equal(true); expect(admit(6)).to.equal(false); });
  it('ends', () => { expect(spin(3)).to.equal(0); });
  it('keeps the greater', () => { expect(same(1, 2)).to.equal(2); });
});
`;
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-mutate-fixture-'));
    mkdirSync(join(root, 'src'));
    mkdirSync(join(root, 'test'));
    writeFileSync(join(root, 'src/door.mjs'), SOURCE);
    writeFileSync(join(root, 'test/door.test.mjs'), TESTS);
    symlinkSync(inRoot('node_modules'), join(root, 'node_modules'));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const measured = (extra: Record<string, unknown> = {}) =>
    measure({
      root,
      files: ['src/door.mjs'],
      equivalents: [],
      isWanted: () => true,
      sample: 0,
      seed: 1,
      build: async (dir: string) => {
        cpSync(join(root, 'test'), join(dir, 'test'), { recursive: true });
        return ['test/door.test.mjs'];
      },
      isOwn: () => true,
      budgetMs: 0,
      graceMs: 3_000,
      onPhase: () => undefined,
      onVerdict: () => undefined,
      ...extra,
    });

  it('tells which changes the tests notice, which not, which no test reaches, and touches nothing but its copy', async function () {
    this.timeout(120_000);
    const tried = /^(5 → 10|n <= CAP → n < CAP|left -= 1 → left \+= 1|n > 3 → n >= 3|0 → 1|0 \* a → 0 \/ a)$/;
    const { results } = await measured({ isWanted: (change: { what: string }) => tried.test(change.what) });
    const verdicts = Object.fromEntries(results.map(({ line, what, verdict }: { line: number; what: string; verdict: string }) => [`${line} ${what}`, verdict]));
    expect(verdicts).to.include({
      '2 5 → 10': 'noticed',
      '3 n <= CAP → n < CAP': 'noticed',
      '4 left -= 1 → left += 1': 'noticed',
      '5 n > 3 → n >= 3': 'not reached',
      '6 0 → 1': 'noticed',
      '6 0 * a → 0 / a': 'survived',
    });
    const table = renderShares([{ area: 'effect', results, equivalent: 0 }]);
    expect(table).to.match(/^effect +7 +5 +71 % +0$/m);
    expect(table).to.contain('src/door.mjs:5  n > 3 → n >= 3  (no test comes here)');
    expect(readFileSync(join(root, 'src/door.mjs'), 'utf8')).to.equal(SOURCE);
  });

  it('leaves out what is known to change nothing, and names an entry that fits no line any more', async function () {
    this.timeout(120_000);
    const line = 'export const same = (a, b) => Math.max(a, b) + 0 * a;';
    const equivalents = [
      { file: 'src/door.mjs', line, change: '0 * a → 0 / a', why: 'nothing is nothing' },
      { file: 'src/door.mjs', line: 'gone', change: '1 → 2', why: 'it was there once' },
    ];
    const found = await measured({ equivalents, isWanted: (change: { line: number }) => change.line === 6 });
    expect(found.results.map(({ what }: { what: string }) => what)).to.not.include('0 * a → 0 / a');
    expect(found.equivalent).to.equal(1);
    expect(found.stale.map((entry: { line: string }) => entry.line)).to.deep.equal(['gone']);
  });
});
