/** Variables with a name of their own that stand above a setting: `x-env` of its schema, and where the daemon listens. */
import { type JsonSchema, textThatIsSet } from '@svc/api';

type Env = Readonly<Record<string, string | undefined>>;

export interface Held {
  readonly variable: string;
  /** What holds in place of the setting's own value. */
  readonly value: unknown;
}

export const heldByName = (path: readonly string[], schema: JsonSchema | undefined, env: Env, value: unknown): Held | undefined => {
  const own = schema?.['x-env'];
  const text = own === undefined ? undefined : textThatIsSet(env[own]);
  if (own !== undefined && text !== undefined) return { variable: own, value: text };
  return path.join('.') === 'api.listen_addr' ? listenHeld(env, value) : undefined;
};

/** As home.ts reads them: SVC_LISTEN is the whole address, SVC_PORT the port of whatever it is. */
const listenHeld = (env: Env, value: unknown): Held | undefined => {
  const listen = textThatIsSet(env.SVC_LISTEN);
  const port = textThatIsSet(env.SVC_PORT);
  if (port === undefined) return listen === undefined ? undefined : { variable: 'SVC_LISTEN', value: listen };
  const address = listen ?? (typeof value === 'string' ? value : '');
  return { variable: 'SVC_PORT', value: `${address.slice(0, address.lastIndexOf(':'))}:${port}` };
};
