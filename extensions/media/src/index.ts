import { Llm } from '@svc/ext-llm/contract';
import { Providers } from '@svc/ext-providers/contract';
import { Uploads } from '@svc/ext-runs/contract';
import { Channels } from '@svc/ext-channels/contract';
import { defineExtension } from '@svc/api';
import { mediaTables } from '../migrations/0001_init.js';
import { MediaSection } from './config.js';
import * as contract from './contract.js';
import { createWire } from './drivers/wire.js';
import { createStudio } from './making/studio.js';
import { mediaRoutes } from './routes.js';
import { createTasks } from './tasks.js';
import { mediaTools } from './tools.js';

/** A video that waits for its provider holds nothing: these are those that ask or download. */
const TASKS_AT_ONCE = 4;

export default defineExtension({
  contract,
  tables: [contract.TaskRows],
  migrations: [mediaTables],
  config: [MediaSection],
  capabilities: [contract.MediaCreate],
  commandWords: [
    { word: 'media', summary: 'images, speech, video, music, and the text of recordings', usage: 'media image|speech|video|music|transcribe|show-video|providers', order: 36, module: 'media' },
  ],
  activate(ctx) {
    const { actors, clock, config, db, events, ids, journal, log, signal: closing } = ctx;
    const providers = ctx.services.require(Providers);
    const llm = ctx.services.require(Llm);
    const uploads = ctx.services.require(Uploads);
    const prices = () => config.get(MediaSection).prices;
    const deps = {
      actors,
      channels: ctx.services.optional(Channels),
      clock,
      closing,
      config,
      db,
      events,
      ids,
      journal,
      llm,
      log,
      prices,
      providers,
      uploads,
      wire: createWire((url, init) => ctx.fetch(url, init)),
    };
    const studio = createStudio(deps);
    const tasks = createTasks(deps, () => worker);
    const worker = journal.worker(contract.MediaTask, { concurrency: TASKS_AT_ONCE, drive: (run) => tasks.drive(run) });
    ctx.routes.add(...mediaRoutes({ studio, tasks, providers }));
    ctx.tools.add(...mediaTools({ studio, tasks, workspaces: ctx.files.root('workspaces') }));
  },
});
