/** Deleting, as the area has it: at once, or into the bin. */
import { type ExtensionContext, StorageMoved } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Catalogue } from '../catalogue/catalogue.js';
import { SessionClosing } from '../contract.js';
import { createBin, type Bin } from './bin.js';
import { createClosing, type Closing, type ClosingDeps } from './closing.js';

interface Opened extends Pick<ClosingDeps, 'store' | 'sessions' | 'gone' | 'changeEvents'> {
  readonly agents: AgentsService;
  readonly catalogue: Pick<Catalogue, 'catchUp' | 'touched'>;
  readonly later: (name: string) => ClosingDeps['later'];
}

export const openClosing = (ctx: ExtensionContext, { store, agents, sessions, catalogue, gone, changeEvents, later }: Opened): { readonly bin: Bin; readonly closing: Closing } => {
  const commit: ClosingDeps['commit'] = (writes) => ctx.db.commit(writes);
  const shared = { store, agents, commit, gone, changeEvents };
  const system = ctx.actors.system('deleted conversations');
  const bin = createBin({ ...shared, trash: ctx.trash, system, catchUp: () => catalogue.catchUp(1), said: catalogue.touched });
  const closing = createClosing({
    ...shared,
    bin,
    actors: ctx.actors,
    stop: ctx.hooks.define(SessionClosing),
    sessions,
    purge: (subject) => ctx.purge(subject),
    later: later('erase-what-was-closed'),
    clock: ctx.clock,
    log: ctx.log,
  });
  ctx.hooks.tap(StorageMoved, async ({ agentId }) => {
    if (agentId === undefined) return;
    await ctx.db.commit(store.readAgain(agentId));
    catalogue.touched();
  });
  return { bin, closing };
};
