/** Which arm a session has, and when a variant is better than another. */
import { expect } from 'chai';
import { drawn } from '../src/arms.js';
import { metricsOf, wilson, winnerOf } from '../src/metrics.js';
import type { TrialRow } from '../src/contract.js';

const VARIANTS = ['a', 'b', 'c'].map((id) => ({ id, name: id, prompt_version_id: id, description: '' }));
const SESSIONS = Array.from({ length: 20_000 }, (_, at) => `session-${at}`);
const CRITERIA = { require_user_helpful: false, require_no_tool_errors: false, require_non_empty: true };

const shares = (experiment: string, split: number[]): number[] => {
  const arms = SESSIONS.map((session) => drawn(experiment, session, VARIANTS.slice(0, split.length), split)?.id);
  return VARIANTS.slice(0, split.length).map(({ id }) => Math.round((100 * arms.filter((one) => one === id).length) / SESSIONS.length));
};

const trials = (variant: string, runs: number, wins: number): TrialRow[] =>
  Array.from({ length: runs }, (_, at) => ({
    ...{ id: `${variant}-${at}`, owner_id: 'owner', agent_id: 'agent', experiment_id: 'e', variant_id: variant, status: 'done', created_at: '', tool_errors: 0, rating: null },
    ...{ meets: at < wins ? 1 : 0, cost_usd: 0.5, latency_ms: 100 },
  }));
const compared = (...of: TrialRow[][]) => metricsOf({ variants: VARIANTS.slice(0, of.length), success_criteria: CRITERIA }, of.flat());

describe('the arms of an experiment', () => {
  it('P1 are the same for a session each time, and shared out as the split says', () => {
    for (const session of SESSIONS.slice(0, 500)) expect(drawn('one', session, VARIANTS, [20, 30, 50])).to.equal(drawn('one', session, VARIANTS, [20, 30, 50]));
    for (const split of [
      [50, 50],
      [90, 10],
      [20, 30, 50],
      [0, 100],
    ])
      for (const [at, share] of shares('one', split).entries()) expect(share, split.join()).to.be.within((split[at] ?? 0) - 1, (split[at] ?? 0) + 1);
  });

  it('P1 of two experiments do not fall on the same sessions', () => {
    const both = SESSIONS.filter((session) => drawn('one', session, VARIANTS.slice(0, 2), [50, 50])?.id === 'a' && drawn('two', session, VARIANTS.slice(0, 2), [50, 50])?.id === 'a');
    expect((100 * both.length) / SESSIONS.length).to.be.within(23, 27);
  });

  it('have intervals of their share of wins from 30 runs on', () => {
    expect(compared(trials('a', 29, 29))[0]?.interval).to.equal(null);
    const { high, low } = wilson(20, 40);
    expect([low.toFixed(3), high.toFixed(3)]).to.deep.equal(['0.352', '0.648']);
    expect(wilson(0, 30).low).to.equal(0);
    expect(wilson(30, 30).high).to.equal(1);
  });

  it('win only where the intervals do not overlap', () => {
    expect(winnerOf(compared(trials('a', 100, 90), trials('b', 100, 40)))).to.equal('a');
    expect(winnerOf(compared(trials('a', 100, 55), trials('b', 100, 50)))).to.equal(null);
    expect(winnerOf(compared(trials('a', 29, 29), trials('b', 29, 0)))).to.equal(null);
  });

  it('count a run as a win by what the criteria ask, and an unfinished one not at all', () => {
    const rows = trials('a', 4, 4).map((row, at) => ({ ...row, rating: at === 0 ? 'down' : at === 1 ? 'up' : null, tool_errors: at === 2 ? 1 : 0 }));
    const wins = (criteria: Partial<typeof CRITERIA>): number | undefined => metricsOf({ variants: VARIANTS.slice(0, 1), success_criteria: { ...CRITERIA, ...criteria } }, rows)[0]?.wins;
    expect([wins({}), wins({ require_user_helpful: true }), wins({ require_no_tool_errors: true })]).to.deep.equal([3, 1, 2]);
    expect(metricsOf({ variants: VARIANTS.slice(0, 1), success_criteria: CRITERIA }, [...rows, ...trials('a', 1, 1).map((row) => ({ ...row, status: 'running' }))])[0]?.impressions).to.equal(4);
  });
});
