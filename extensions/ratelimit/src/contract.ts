import { defineEvent, Type } from '@svc/api';

/** What a daemon admitted, for the others on its database. By address: the sum since the daemon first saw it, and the part of it that is new. */
export const RateSpent = defineEvent('ratelimit.spent', '1.0.0', Type.Object({ by: Type.String(), spent: Type.Record(Type.String(), Type.Object({ total: Type.Number(), fresh: Type.Number() })) }));
