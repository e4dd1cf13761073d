/** The end of a run that failed: what failed and why, where the end of a log that was cut still shows it. */
import { expect } from 'chai';

interface Failure {
  readonly title: string;
  readonly message: string;
  readonly before?: string;
}

interface Failures {
  closingLines(tally: { failures: readonly Failure[]; unsteady: readonly Failure[] }): string;
  comparedRuns(first: readonly Failure[], second: readonly Failure[]): { failures: Failure[]; unsteady: Failure[] };
}

// A plain module of tools/, which is not built.
const { closingLines, comparedRuns } = (await import(`${process.cwd()}/tools/testing/failures.mjs`)) as Failures;

const STACK =
  '    at Module.equal (node_modules/chai/index.js:1:1)\n    at Context.<anonymous> (/svc/extensions/webchat/test/collection.test.ts:246:40)\n    at process.processImmediate (node:internal/timers:505:21)';
const failure = (title: string, message: string): Failure => ({ title, message: `AssertionError: ${message}\n${STACK}` });
const end = (text: string): string => text.slice(-4_000);

describe('the last lines of a run', () => {
  it('say nothing where nothing failed', () => {
    expect(closingLines({ failures: [], unsteady: [] })).to.equal('');
  });

  it('have the title, the reason and the place of a failure, without the stack', () => {
    const short = closingLines({ failures: [failure('shelves turn pages', 'expected [ 5 ] to equal [ 10 ]')], unsteady: [] }).split('--- in short ---')[1];
    expect(short).to.include(
      'failed, 1:\n  shelves turn pages\n    AssertionError: expected [ 5 ] to equal [ 10 ]\n    at Context.<anonymous> (/svc/extensions/webchat/test/collection.test.ts:246:40)',
    );
    expect(short).not.to.include('processImmediate');
  });

  it('have both errors of what failed twice, and once what is the same', () => {
    const { failures, unsteady } = comparedRuns([failure('a', 'first'), failure('b', 'same'), failure('c', 'by chance')], [failure('a', 'second'), failure('b', 'same'), failure('d', 'new')]);
    expect(unsteady.map(({ title }) => title)).to.deep.equal(['c']);
    expect(failures.map(({ title, before }) => [title, before?.split('\n')[0]])).to.deep.equal([
      ['a', 'AssertionError: first'],
      ['b', 'AssertionError: same'],
      ['d', undefined],
    ]);
    const short = closingLines({ failures, unsteady }).split('--- in short ---')[1] ?? '';
    expect(short).to.match(/beside others: AssertionError: first[\s\S]*by itself: AssertionError: second/);
    expect(short.match(/AssertionError: same/g)).to.have.length(1);
    expect(short.indexOf('by chance')).to.be.below(short.indexOf('first'));
  });

  it('fit into the last 4 KB of a log, each failure with a reason, however long and many they are', () => {
    const long = Array.from({ length: 12 }, (_, n) => failure(`claim ${n} ${'about much '.repeat(30)}`, `reason ${n} ${'x'.repeat(3_000)}`));
    const text = end(`${closingLines({ failures: long, unsteady: [] })}\n12 passed, 12 failed\n`);
    for (let n = 0; n < 12; n++) expect(text).to.include(`claim ${n} `).and.include(`reason ${n} `);
    const many = Array.from({ length: 300 }, (_, n) => failure(`claim ${n}`, 'wrong'));
    const cut = end(closingLines({ failures: many, unsteady: many }));
    expect(cut).to.include('580 more are above').and.include('claim 0\n').and.include('wrong');
  });

  it('follow the whole errors', () => {
    const text = closingLines({ failures: [{ title: 'two', message: 'Error: now\n    at mocha', before: 'Error: then\n    at mocha' }], unsteady: [] });
    expect(text.split('--- in short ---')[0]).to.include('beside others: Error: then\n        at mocha').and.include('by itself: Error: now');
  });
});
