import { type AuditFact, AuditRecorded, auditFact, DoctorCheck, defineExtension, EventsGap, HealthProbe, MetricsCollect, SecurityReport, StoragePurge, securityProbe } from '@svc/api';
import { createChain } from './chain.js';
import { createCheckpoints, isKeyStored } from './checkpoints.js';
import { commands, commandWords } from './commands.js';
import { AuditSection } from './config.js';
import { AuditEntered } from './contract.js';
import * as contract from './contract.js';
import { explainErasure } from './explain-erasure.js';
import { DETAILS_TRIMMED } from './format/erasures.js';
import { doctorFindings, healthProbe, lookAtTrail, metrics } from './reports.js';
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
    ctx.routes.add(
      ...auditRoutes({
        store,
        clock: ctx.clock,
        verify: () => verifyChain({ store, workers: ctx.workers, data: ctx.files.data, seen: chain.seen, hasKey: () => isKeyStored(ctx), sleep: (ms) => ctx.clock.sleep(ms) }),
      }),
    );
    let signedAt = ctx.clock.mono();
    ctx.timers.every('sign', LOOK_EVERY_MS, async () => {
      if (ctx.clock.mono() - signedAt < settings().checkpoint_minutes * MS_PER_MINUTE) return;
      signedAt = ctx.clock.mono();
      await checkpoints.sign('time');
    });
    ctx.timers.every('trim', TRIM_EVERY_MS, async () => {
      const days = settings().retention_days;
      if (days === 0) return;
      // By whole days, so that the chain says once a day which details are gone.
      const before = new Date(Math.floor(ctx.clock.now() / MS_PER_DAY - days) * MS_PER_DAY).toISOString();
      const fact = (type: string, details: AuditFact['details']): AuditFact => auditFact(ctx, { type, actor: ctx.actors.system('trimming'), details });
      await store.trim(
        before,
        (first, last) => ctx.events.event(AuditRecorded, fact('audit_trimmed', { first, last })),
        () => chain.enter([fact(DETAILS_TRIMMED, { before })]),
      );
    });
    // What is on its way gets its rows first; the daemon deletes them afterwards.
    ctx.hooks.tap(StoragePurge, async ({ ownerId }) => {
      await chain.settled();
      if (ownerId !== undefined) await explainErasure(ctx, store, chain, ownerId);
    });
    const deps = { store, checkpoints };
    ctx.hooks.tap(DoctorCheck, () => doctorFindings(deps));
    ctx.hooks.tap(HealthProbe, () => healthProbe(deps));
    ctx.hooks.tap(MetricsCollect, () => metrics(deps));
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('merkle_audit_trail', () => lookAtTrail(deps)),
    );
  },
});
