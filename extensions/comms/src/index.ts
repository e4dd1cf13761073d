import { defineExtension, StoragePurge } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Channels } from '@svc/ext-channels/contract';
import { Runs } from '@svc/ext-runs/contract';
import { commsTables } from '../migrations/0001_init.js';
import * as contract from './contract.js';
import { createFeed } from './feed.js';
import { createLive } from './live.js';
import { commsRoutes } from './routes.js';
import { eventPublish } from './tool.js';

const HOUR_MS = 3_600_000;

export default defineExtension({
  contract,
  tables: [contract.FeedRows],
  migrations: [commsTables],
  resources: [contract.Comms],
  commandWords: [{ word: 'comms', summary: 'what passes between agents: list, send, topology', usage: 'comms list|send|topology', order: 39 }],
  activate(ctx) {
    const { db, events, clock } = ctx;
    const agents = ctx.services.require(Agents);
    const feed = createFeed({ db, events, clock, agents, of: (ownerId) => ctx.actors.of(ownerId) });
    ctx.timers.every('prune-comms', HOUR_MS, () => feed.prune());
    ctx.hooks.tap(StoragePurge, async ({ agentId }) => {
      if (agentId !== undefined) await feed.erase(agentId);
    });
    ctx.routes.add(
      ...commsRoutes({
        agents,
        runs: ctx.services.require(Runs),
        streams: ctx.streams,
        clock,
        feed,
        live: createLive({ events, clock, closing: ctx.signal }),
        ids: ctx.ids,
        channels: ctx.services.optional(Channels),
      }),
    );
    ctx.tools.add(eventPublish({ db, events }));
  },
});
