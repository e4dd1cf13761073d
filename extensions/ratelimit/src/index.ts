import { HttpAdmit, MetricsCollect, type SecurityLook, SecurityReport, SocketUpgrade, defineExtension, securityProbe } from '@svc/api';
import { RateLimitSection, RatePerSecond } from './config.js';
import { RateSpent } from './contract.js';
import * as contract from './contract.js';
import { createExchange } from './exchange.js';
import { createGcra, type Gcra, type GcraOptions } from './gcra.js';

const SWEEP_MS = 60_000;
const SHARE_EVERY_MS = 1_000;

export default defineExtension({
  contract,
  config: [RateLimitSection, RatePerSecond],
  activate(ctx) {
    const limits = () => {
      const { window_secs, max_addresses } = ctx.config.get(RateLimitSection);
      return { ratePerSecond: ctx.config.get(RatePerSecond), windowMs: window_secs * 1_000, maxCallers: max_addresses };
    };
    const gcra = createGcra(limits);
    const exchange = createExchange(ctx.ids.uuid(), gcra, limits);
    let refused = 0;
    ctx.hooks.tap(HttpAdmit, ({ network, cost }) => {
      if (cost === 0) return undefined;
      const now = ctx.clock.mono();
      if (gcra.take(network, cost, now)) {
        exchange.spent(network, cost, now);
        return undefined;
      }
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
    ctx.events.on(RateSpent, (message) => exchange.received(message, ctx.clock.mono()));
    ctx.timers.every('share-what-was-admitted', SHARE_EVERY_MS, () => {
      const message = exchange.message();
      if (message) ctx.events.publish(RateSpent, message);
    });
    ctx.timers.every('sweep-addresses', SWEEP_MS, () => {
      gcra.sweep(ctx.clock.mono());
      exchange.sweep(ctx.clock.mono());
    });
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('gcra_rate_limiter', () => lookAtLimit(gcra, limits(), ctx.clock.mono())),
    );
    ctx.hooks.tap(MetricsCollect, () => [{ name: 'svc_rate_limited_total', help: 'Requests refused by the rate limit', type: 'counter', value: refused }]);
  },
});

/** No network is named so. */
const NOBODY = 'security probe';

/** Somebody who leaves one of the tokens that are allowed at once, and then wants two, from the table that admits everybody. */
function lookAtLimit(gcra: Gcra, { ratePerSecond, windowMs }: GcraOptions, nowMs: number): SecurityLook {
  const burst = Math.floor((ratePerSecond * windowMs) / 1_000);
  const [first, second] = [gcra.take(NOBODY, Math.max(0, burst - 1), nowMs), gcra.take(NOBODY, 2, nowMs)];
  gcra.forget(NOBODY);
  if (!first) return { state: 'failed', detail: `A caller was refused ${burst - 1} of the ${burst} tokens that are allowed at once.` };
  if (second) return { state: 'failed', detail: `A caller got more than the ${burst} tokens that are allowed at once.` };
  return { state: 'active', detail: `A caller was refused more than ${burst} tokens at once, as many as ${windowMs / 1_000} s allow.` };
}
