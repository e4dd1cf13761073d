import { AuditRecorded, auditFact, DoctorCheck, defineExtension, EventsGap, HealthProbe, MetricsCollect, SecurityReport, StoragePurge } from '@svc/api';
import { createChain } from './chain.js';
import { createCheckpoints } from './checkpoints.js';
import { commands, commandWords } from './commands.js';
import { AuditSection } from './config.js';
import { AuditEntered } from './contract.js';
import * as contract from './contract.js';
import { doctorFindings, healthProbe, metrics, securityReport } from './reports.js';
import { auditRoutes } from './routes.js';
import { createStore } from './store.js';
import { migrations, tables } from './tables.js';
import { verifyChain } from './verify.js';
import { Verify, VerifyBeside } from './workers/verify-worker.js';

const LOOK_EVERY_MS = 60_000;
const TRIM_EVERY_MS = 3_600_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

export default defineExtension({
  contract,
  config: [AuditSection],
  tables,
  migrations,
  workers: [Verify, VerifyBeside],
  commands,
  commandWords,
  activate(ctx) {
    const settings = () => ctx.config.get(AuditSection);
    const store = createStore(ctx.db);
    const chain = createChain({ store, ids: ctx.ids, entered: () => [ctx.events.event(AuditEntered, {})] });
    const checkpoints = createCheckpoints({ ctx, store, settings });
    // K2. Entries that come later are signed by the next generation, or at the next start.
    ctx.onDispose('audit: sign what is new', () => checkpoints.sign('stop'));
    ctx.events.onBatch(AuditRecorded, async (facts) => {
      await chain.enter(facts);
      // Nobody waits for it: what is entered is on the disk.
      if ((chain.seen()?.id ?? 0) - Math.max(0, checkpoints.state().size) >= settings().checkpoint_entries) void checkpoints.sign('entries');
    });
    ctx.events.on(EventsGap, ({ after, before }) => {
      const fact = auditFact(ctx, { type: 'audit_facts_dropped', actor: ctx.actors.system('the trail'), outcome: 'failed', details: { dropped: before - after - 1 } });
      return chain.enterLoss(fact, after, before);
    });
    ctx.routes.add(...auditRoutes({ store, clock: ctx.clock, verify: () => verifyChain({ store, workers: ctx.workers, data: ctx.files.data, seen: chain.seen }) }));
    let signedAt = ctx.clock.mono();
    ctx.timers.every('sign', LOOK_EVERY_MS, async () => {
      if (ctx.clock.mono() - signedAt < settings().checkpoint_minutes * MS_PER_MINUTE) return;
      signedAt = ctx.clock.mono();
      await checkpoints.sign('time');
    });
    ctx.timers.every('trim', TRIM_EVERY_MS, async () => {
      const days = settings().retention_days;
      if (days === 0) return;
      const before = new Date(ctx.clock.now() - days * MS_PER_DAY).toISOString();
      await store.trim(before, (first, last) => ctx.events.event(AuditRecorded, auditFact(ctx, { type: 'audit_trimmed', actor: ctx.actors.system('trimming'), details: { first, last } })));
    });
    // What is on its way gets its rows first; the daemon deletes them afterwards.
    ctx.hooks.tap(StoragePurge, () => chain.settled());
    const deps = { store, checkpoints };
    ctx.hooks.tap(DoctorCheck, () => doctorFindings(deps));
    ctx.hooks.tap(HealthProbe, () => healthProbe(deps));
    ctx.hooks.tap(MetricsCollect, () => metrics(deps));
    ctx.hooks.tap(SecurityReport, () => securityReport(deps));
  },
});
