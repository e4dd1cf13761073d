import { HttpAdmit, MetricsCollect, SecurityReport, SocketUpgrade, defineExtension } from '@svc/api';
import { RateLimitSection, RatePerSecond } from './config.js';
import { createGcra } from './gcra.js';

const SWEEP_MS = 60_000;

export default defineExtension({
  config: [RateLimitSection, RatePerSecond],
  activate(ctx) {
    const limits = () => {
      const { window_secs, max_addresses } = ctx.config.get(RateLimitSection);
      return { ratePerSecond: ctx.config.get(RatePerSecond), windowMs: window_secs * 1_000, maxCallers: max_addresses };
    };
    const gcra = createGcra(limits);
    let refused = 0;
    ctx.hooks.tap(HttpAdmit, ({ network, cost }) => {
      if (cost === 0 || gcra.take(network, cost, ctx.clock.mono())) return undefined;
      refused += 1;
      return { deny: 'Rate limit exceeded', code: 'rate_limited', status: 429, headers: { 'retry-after': String(ctx.config.get(RateLimitSection).window_secs) } };
    });
    ctx.hooks.tap(SocketUpgrade, ({ openFromIp, openOfPerson }) => {
      const { max_ws_per_ip: mostFromIp, max_ws_per_user: mostOfPerson, window_secs } = ctx.config.get(RateLimitSection);
      const why =
        openFromIp >= mostFromIp
          ? `${mostFromIp} WebSockets are open from this address, which is the limit.`
          : openOfPerson >= mostOfPerson
            ? `You have ${mostOfPerson} WebSockets open, which is the limit for one person.`
            : undefined;
      return why === undefined ? undefined : { deny: why, code: 'rate_limited', status: 429, headers: { 'retry-after': String(window_secs) } };
    });
    ctx.timers.every('sweep-addresses', SWEEP_MS, () => gcra.sweep(ctx.clock.mono()));
    ctx.hooks.tap(SecurityReport, () => ({ name: 'gcra_rate_limiter', state: refusesTooMuch(limits) ? 'active' : 'failed', detail: 'a caller that takes more than its burst is refused' }));
    ctx.hooks.tap(MetricsCollect, () => [{ name: 'svc_rate_limited_total', help: 'Requests refused by the rate limit', type: 'counter', value: refused }]);
  },
});

/** Takes one token more than the burst from a bucket of its own and looks whether that was refused. */
function refusesTooMuch(limits: () => { ratePerSecond: number; windowMs: number; maxCallers: number }): boolean {
  const probe = createGcra(limits);
  const { ratePerSecond, windowMs } = limits();
  const burst = (ratePerSecond * windowMs) / 1_000;
  return probe.take('probe', burst, 0) && !probe.take('probe', 1, 0);
}
