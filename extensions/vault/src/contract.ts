/** What vault declares to other areas. It provides no service: it answers the kernel's hooks `secret.resolve` and `secret.change`. */
import { Type, defineEvent } from '@svc/api';

/** The vault was set aside: what was kept is gone, and whoever remembers where a secret is looks again. */
export const VaultReset = defineEvent('vault.reset', '1.0.0', Type.Object({}), { what: 'vault', permission: 'vault.admin' });

/** The vault that several daemons share was changed at one of them: whoever remembers where a secret is looks again. */
export const VaultChanged = defineEvent('vault.changed', '1.0.0', Type.Object({}));
