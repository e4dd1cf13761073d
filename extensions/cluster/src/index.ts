import { defineExtension, DoctorCheck, HealthProbe, type ReplicasView } from '@svc/api';
import { commands, commandWords } from './commands.js';
import * as contract from './contract.js';
import { ClusterChanged } from './contract.js';
import { findingOf } from './finding.js';
import { outlineOf } from './overview.js';
import { clusterRoutes } from './routes.js';

const LOOK_EVERY_MS = 5_000;

export default defineExtension({
  contract,
  commands,
  commandWords,
  activate(ctx) {
    const { kernel } = ctx;
    ctx.routes.add(...clusterRoutes(kernel));
    // Health is asked often, also without a key: it shows what the last look found.
    let last: ReplicasView | undefined;
    ctx.timers.every('look-around', LOOK_EVERY_MS, async () => {
      if (last?.isShared === false) return;
      const view = await kernel.replicas();
      if (last && outlineOf(last) !== outlineOf(view)) ctx.events.publish(ClusterChanged, {});
      last = view;
    });
    ctx.hooks.tap(HealthProbe, () => {
      if (!last?.isShared || last.bus.isConnected) return { name: 'replicas', status: 'ok' };
      return { name: 'replicas', status: 'warn', detail: `This daemon hears late of changes at others: ${last.bus.problem ?? 'the connection is being opened'}.` };
    });
    ctx.hooks.tap(DoctorCheck, async () => [findingOf(await kernel.replicas())]);
  },
});
