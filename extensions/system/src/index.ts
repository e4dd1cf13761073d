import { defineExtension } from '@svc/api';
import { systemRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    ctx.routes.add(
      ...systemRoutes({
        kernel: ctx.kernel,
        clock: ctx.clock,
        log: ctx.log,
        timers: ctx.timers,
        probe: ctx.hooks.use('health.probe'),
        doctor: ctx.hooks.use('doctor.check'),
        metrics: ctx.hooks.use('metrics.collect'),
        agents: ctx.services.optional('agents'),
        providers: ctx.services.optional('providers'),
        runs: ctx.services.optional('runs'),
        sessions: ctx.services.optional('sessions'),
      }),
    );
  },
});
