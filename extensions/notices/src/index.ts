import { Agents } from '@svc/ext-agents/contract';
import { defineExtension } from '@svc/api';
import { noticeTables } from '../migrations/0001_init.js';
import { NoticesSection } from './config.js';
import * as contract from './contract.js';
import { createNotices } from './notices.js';
import { NoticeList } from './resource.js';
import { noticeRoutes } from './routes.js';
import { notifyOwner } from './tool.js';

const PRUNE_MS = 3_600_000;

export default defineExtension({
  contract,
  tables: [contract.NoticeRows],
  migrations: [noticeTables],
  config: [NoticesSection],
  resources: [NoticeList],
  commandWords: [{ word: 'notices', summary: 'what your agents told you: list, read, delete', usage: 'notices list|read|delete', order: 38 }],
  activate(ctx) {
    const notices = createNotices({ db: ctx.db, events: ctx.events, clock: ctx.clock, settings: () => ctx.config.get(NoticesSection) });
    ctx.timers.every('prune-notices', PRUNE_MS, () => notices.prune());
    ctx.services.provide(contract.NoticesServed, {
      send: (actor, { agentId, sessionId = '', runId = '', key, reason, summary }) => notices.send({ actor, agentId, sessionId, runId, callId: key }, { reason, summary }),
    });
    ctx.routes.add(...noticeRoutes({ agents: ctx.services.require(Agents), notices }));
    ctx.tools.add(notifyOwner(notices));
  },
});
