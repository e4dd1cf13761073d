import { expect } from 'chai';
import { timeLimitOf } from '../src/time-limits.js';
import { call, openTools, toolThat } from './tools-kit.js';

describe('the time that a call may take', () => {
  const limit = (name: string, byName: Record<string, number> = {}, timeoutMs?: number) => timeLimitOf({ name, ...(timeoutMs === undefined ? {} : { timeoutMs }) }, { defaultSecs: 120, byName });

  it('is what the settings say of its name, then of the longest pattern, then its own, then the usual one', () => {
    expect(limit('file_read')).to.equal(120_000);
    expect(limit('shell_exec', {}, 610_000)).to.equal(610_000);
    expect(limit('shell_exec', { '*': 5 }, 610_000)).to.equal(5_000);
    expect(limit('shell_exec', { '*': 5, 'shell_*': 7 }, 610_000)).to.equal(7_000);
    expect(limit('shell_exec', { 'shell_exec*': 5, shell_exec: 9, '*': 1 }, 610_000)).to.equal(9_000);
    expect(limit('shell_exec', { file_read: 5 }, 610_000)).to.equal(610_000);
  });

  it('is looked up with each call', async () => {
    const { service, clock, taps } = openTools([toolThat('stuck', () => new Promise(() => undefined))]);
    taps.time = { defaultSecs: 120, byName: { stuck: 3 } };
    const running = service.execute(call('stuck', { text: '' }));
    while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3_000);
    expect((await running).content).to.match(/stuck did not end within 3 s/);
  });
});
