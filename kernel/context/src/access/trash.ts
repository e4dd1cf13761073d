/** `ctx.trash`: the bin, with the grant that erasing needs. */
import type { Trash } from '@svc/api';
import type { PlatformTrash } from '@svc/platform/purge/trash';
import type { ContextParts, Member } from '../parts.js';

export const trashMember = ({ trash }: Pick<ContextParts, 'trash'>, { owner, grants, alive }: Pick<Member, 'owner' | 'grants' | 'alive'>): Trash => {
  const allowed = (): PlatformTrash => {
    grants.need('purge');
    alive();
    return trash;
  };
  return Object.freeze<Trash>({
    put: async (item) => allowed().put(item),
    restore: async (kind, id) => allowed().restore(kind, id),
    list: async (actor, kind, query) => allowed().list(actor, kind, query),
    find: async (actor, kind, id) => allowed().find(actor, kind, id),
    holds: async (table, column, value) => {
      alive();
      return trash.holds(owner.id, table, column, value);
    },
  });
};
