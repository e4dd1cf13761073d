/** The daemon that this page came from. It knows who calls by a cookie that scripts cannot read. */
import { createClient } from '@svc/client';

export const daemon = createClient({ baseUrl: location.origin });
