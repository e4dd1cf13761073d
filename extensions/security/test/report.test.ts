/** R1 to R4 of the report, over answers made up here. */
import type { Gathered, SecurityFinding, SecurityState } from '@svc/api';
import { expect } from 'chai';
import { createReports, type ReportDeps } from '../src/report.js';
import { SYSTEMS } from '../src/systems.js';

const INTERFACE =
  'merkle_audit_trail taint_tracking wasm_dual_metering security_headers health_redaction subprocess_sandbox manifest_signing gcra_rate_limiter secret_zeroization path_traversal_prevention ssrf_protection capability_inheritance_validation ofp_hmac_auth prompt_injection_scanning loop_guard session_repair';

type Row = Gathered<SecurityFinding>;
const row = (owner: string, name: string, state: SecurityState, detail?: string): Row => ({ owner, value: { name, state, ...(detail === undefined ? {} : { detail }) } });

describe('the security report', () => {
  let nowMs = 0;
  let asked = 0;
  beforeEach(() => {
    [nowMs, asked] = [0, 0];
  });
  const reportsOf = (rows: readonly Row[], extensions: ReturnType<ReportDeps['extensions']> = []) =>
    createReports({
      ask: async () => {
        asked += 1;
        await Promise.resolve();
        return rows;
      },
      extensions: () => extensions,
      clock: { mono: () => nowMs, iso: () => new Date(nowMs).toISOString() },
    });
  const evidenceOf = async (name: string, rows: readonly Row[], extensions?: ReturnType<ReportDeps['extensions']>) => (await reportsOf(rows, extensions).newest()).evidence.get(name);

  it('has the 16 names of the interface', () => {
    expect(SYSTEMS.map(({ name }) => name)).to.deep.equal(INTERFACE.split(' '));
  });

  it('R1 asks once for callers of the same minute, and those that come while it asks', async () => {
    const reports = reportsOf([]);
    const [first, second] = await Promise.all([reports.newest(), reports.newest()]);
    nowMs = 59_999;
    expect([first === second, first === (await reports.newest()), asked]).to.deep.equal([true, true, 1]);
    nowMs = 60_000;
    expect((await reports.newest()).checkedAt).to.equal('1970-01-01T00:01:00.000Z');
    expect(asked).to.equal(2);
  });

  it('R2 says inactive of what nobody reports, and why', async () => {
    const off = { id: 'audit', state: 'inactive', reason: null } as const;
    expect(await evidenceOf('merkle_audit_trail', [], [off])).to.deep.include({
      state: 'inactive',
      owner: 'audit',
      detail: 'The extension audit is switched off. svc ext enable audit switches it on.',
    });
    expect(await evidenceOf('merkle_audit_trail', [], [{ ...off, state: 'active' }])).to.deep.include({ state: 'inactive', detail: 'The extension audit does not report it.' });
    expect(await evidenceOf('merkle_audit_trail', [], [{ ...off, state: 'failed', reason: 'its table is broken' }])).to.deep.include({
      state: 'failed',
      detail: 'The extension audit is failed: its table is broken. svc ext why audit explains it.',
    });
    expect(await evidenceOf('merkle_audit_trail', [], [{ ...off, state: 'pending', reason: 'vault is off' }])).to.deep.include({
      state: 'inactive',
      detail: 'The extension audit waits: vault is off. svc ext why audit explains it.',
    });
    for (const name of ['wasm_dual_metering', 'ofp_hmac_auth']) expect(await evidenceOf(name, [])).to.deep.include({ state: 'inactive', owner: null, detail: 'Not part of this version.' });
  });

  it('R2 takes what anybody reports of a name, whoever was expected to', async () => {
    expect(await evidenceOf('taint_tracking', [row('flows', 'taint_tracking', 'active', 'A label followed a value.')])).to.deep.include({
      state: 'active',
      owner: 'flows',
      detail: 'A label followed a value.',
    });
  });

  it('R3 says failed of a probe that did not answer', async () => {
    expect(await evidenceOf('loop_guard', [{ owner: 'loop-guard', error: 'it took longer than 3000 ms' }])).to.deep.include({
      state: 'failed',
      detail: 'The check did not answer: it took longer than 3000 ms',
    });
  });

  it('R3 counts the worst of two reports of one name', async () => {
    const found = await evidenceOf('loop_guard', [row('loop-guard', 'loop_guard', 'active', 'Fine.'), row('other', 'loop_guard', 'degraded', 'Half.')]);
    expect(found).to.deep.include({ state: 'degraded', owner: 'other', detail: 'Half.' });
  });

  it('R3 asks again after a look that failed as a whole', async () => {
    const reports = createReports({
      ask: async () => {
        asked += 1;
        if (asked === 1) throw new Error('the hook is not there');
        return [];
      },
      extensions: () => [],
      clock: { mono: () => 0, iso: () => '' },
    });
    expect(await reports.newest().catch((error: Error) => error.message)).to.equal('the hook is not there');
    expect((await reports.newest()).evidence.size).to.equal(16);
  });

  it('R4 asks again within the minute after something was switched', async () => {
    const reports = reportsOf([]);
    await reports.newest();
    reports.forget();
    await reports.newest();
    expect(asked).to.equal(2);
  });
});
