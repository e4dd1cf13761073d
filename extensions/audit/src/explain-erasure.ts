/** The chain says which entries lost their personal details, before anybody misses them (V4). */
import { auditFact, type ExtensionContext } from '@svc/api';
import type { Chain } from './chain.js';
import { ERASED, textsOf } from './format/erasures.js';
import type { AuditStore } from './store.js';

/** Repeated as often as a purge is: an entry that is named twice was erased once. */
export const explainErasure = async (ctx: Pick<ExtensionContext, 'actors' | 'clock' | 'ids'>, store: AuditStore, chain: Chain, ownerId: string): Promise<void> => {
  for (let ids = await store.heldBy(ownerId); ids.length > 0; ids = await store.heldBy(ownerId)) {
    await chain.enter(textsOf(ids).map((entries) => auditFact(ctx, { type: ERASED, actor: ctx.actors.system('erasing'), details: { entries } })));
    await store.letGo(ids);
  }
};
