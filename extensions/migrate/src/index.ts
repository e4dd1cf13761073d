import { Agents } from '@svc/ext-agents/contract';
import { Memory } from '@svc/ext-memory/contract';
import { Providers } from '@svc/ext-providers/contract';
import { Schedules } from '@svc/ext-schedules/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { Skills } from '@svc/ext-skills/contract';
import { defineExtension } from '@svc/api';
import { migrateTables } from '../migrations/0001_init.js';
import { MigrateSection } from './config.js';
import * as contract from './contract.js';
import { createImports } from './imports.js';
import { migrateRoutes } from './routes.js';
import { createFinder } from './sources/find.js';
import { createImportStore } from './store.js';

export default defineExtension({
  contract,
  tables: [contract.ImportRows, contract.OutcomeRows, contract.ItemRows],
  migrations: [migrateTables],
  config: [MigrateSection],
  commandWords: [
    {
      word: 'migrate',
      summary: 'import from OpenClaw, LibreFang, Letta or Hermes',
      usage: 'migrate [--from X] [--dry-run]',
      order: 61,
      module: 'migrate',
      synonyms: [{ word: 'import', means: 'migrate', runs: true, takesArguments: true }],
    },
  ],
  activate(ctx) {
    const { actors, clock, db, events, files, ids, journal, log } = ctx;
    const imports = createImports({
      services: {
        agents: ctx.services.require(Agents),
        sessions: ctx.services.require(Sessions),
        memory: ctx.services.optional(Memory),
        skills: ctx.services.optional(Skills),
        schedules: ctx.services.optional(Schedules),
        providers: ctx.services.optional(Providers),
      },
      finder: createFinder({ files, userHome: () => ctx.env('HOME'), roots: () => ctx.config.get(MigrateSection).roots }),
      store: createImportStore(db),
      journal,
      actors,
      db,
      clock,
      events,
      files,
      log,
      ids,
      closing: ctx.signal,
    });
    ctx.routes.add(...migrateRoutes({ imports, clock }));
  },
});
