import { Agents } from '@svc/ext-agents/contract';
import { Approvals } from '@svc/ext-approvals/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { defineExtension, MetricsCollect, securityProbe, SecurityReport, ToolAfter, ToolBefore } from '@svc/api';
import { taintTables } from '../migrations/0001_init.js';
import { createAfter } from './after.js';
import { createBefore } from './before.js';
import { TaintSection } from './config.js';
import * as contract from './contract.js';
import { createConversations } from './conversations.js';
import { createCounter } from './counter.js';
import { createFileLabels } from './files.js';
import { lookAtScan, lookAtTaint } from './probes.js';

const BEFORE_STAGE = -100;
/** After all other taps: what the model reads is what is scanned. */
const AFTER_STAGE = 100;

export default defineExtension({
  contract,
  tables: [contract.FileRows],
  migrations: [taintTables],
  config: [TaintSection],
  activate(ctx) {
    const settings = () => ctx.config.get(TaintSection);
    const counter = createCounter();
    const files = createFileLabels({ db: ctx.db, workspaces: ctx.files.root('workspaces'), clock: ctx.clock });
    const conversations = createConversations({
      sessions: ctx.services.require(Sessions),
      agents: ctx.services.require(Agents),
      toolNamed: (name) => ctx.kernel.tools().find(({ tool }) => tool.name === name)?.tool,
    });
    const before = createBefore({ settings, conversations, files, approvals: ctx.services.optional(Approvals), counter, clock: ctx.clock, log: ctx.log });
    ctx.hooks.tap(ToolBefore, before, { stage: BEFORE_STAGE });
    ctx.hooks.tap(ToolAfter, createAfter({ settings, conversations, files, counter, clock: ctx.clock }), { stage: AFTER_STAGE });
    ctx.hooks.tap(MetricsCollect, () => counter.metrics());
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('taint_tracking', () => lookAtTaint(settings())),
    );
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('prompt_injection_scanning', () => lookAtScan(settings())),
    );
  },
});
