import { Sessions } from '@svc/ext-sessions/contract';
import { Llm } from '@svc/ext-llm/contract';
import { Embedder } from '@svc/ext-memory/contract';
import { Models } from '@svc/ext-models/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Providers } from '@svc/ext-providers/contract';
import { Agents } from '@svc/ext-agents/contract';
import { DoctorCheck, HealthProbe, MetricsCollect, SecurityReport, defineExtension, securityProbe } from '@svc/api';
import { createLogRoute } from './log-stream.js';
import { lookAtRedaction } from './redaction.js';
import { systemRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    const probe = ctx.hooks.use(HealthProbe);
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('health_redaction', () => lookAtRedaction(ctx.kernel.anonymousGet, probe)),
    );
    ctx.routes.add(
      ...systemRoutes({
        kernel: ctx.kernel,
        clock: ctx.clock,
        log: ctx.log,
        timers: ctx.timers,
        probe,
        doctor: ctx.hooks.use(DoctorCheck),
        metrics: ctx.hooks.use(MetricsCollect),
        agents: ctx.services.optional(Agents),
        providers: ctx.services.optional(Providers),
        embedder: ctx.services.optional(Embedder),
        llm: ctx.services.optional(Llm),
        models: ctx.services.optional(Models),
        runs: ctx.services.optional(Runs),
        sessions: ctx.services.optional(Sessions),
      }),
      createLogRoute({ kernel: ctx.kernel, streams: ctx.streams, timers: ctx.timers, onDispose: (label, fn) => ctx.onDispose(label, fn) }),
    );
  },
});
