/**
 * Who may open a terminal.
 *
 * T1  Off until an operator switches it on; never without a key; never for pages of other origins; for the roles of the setting alone.
 */
import type { Actor, ConfigHandle, Req } from '@svc/api';
import { TerminalSection } from './config.js';
import { terminalErrors } from './errors.js';

export interface AdmissionDeps {
  readonly config: ConfigHandle;
  readonly auth: { needsKey(): Promise<boolean> };
}

/** Throws what is in the way. */
export const admit = async ({ config, auth }: AdmissionDeps, { actor, headers }: { readonly actor: Actor; readonly headers: Req['headers'] }): Promise<void> => {
  const { enabled, roles, allowed_origins: origins } = config.get(TerminalSection);
  if (!enabled) throw terminalErrors.disabled();
  if (!(roles as readonly string[]).includes(actor.role)) throw terminalErrors.role(actor.role);
  if (!(await auth.needsKey())) throw terminalErrors.keyless();
  const { origin, host } = headers;
  if (origin !== undefined && !origins.includes(origin) && hostOf(origin) !== host) throw terminalErrors.origin(origin);
};

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);
