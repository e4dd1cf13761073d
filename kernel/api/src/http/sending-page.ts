/** Which page a request comes from, as its browser says. No page can say it of itself. */
import type { Plain } from '../declare/plain.js';
import { OneOf } from '../schema/schema.js';

/**
 * `own`: a page of this daemon. `named`: one that `cors_origins` names; `*` names none. `other`: any other page.
 * `none`: no page, or a browser that does not say.
 */
export const SendingPage = OneOf(['none', 'own', 'named', 'other']);
export type SendingPage = Plain<typeof SendingPage>;
