/** How long sessions are kept, how many, and who names them. */
import { type Plain, Type, defineConfig } from '@svc/api';

const SessionConfig = Type.Object(
  {
    retention_days: Type.Integer({ minimum: 0, maximum: 36_500, default: 0, description: 'Delete sessions without messages for this many days; 0 means never' }),
    max_sessions_per_agent: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'Maximum number of sessions per agent; the oldest are deleted, never the current one. 0 means no limit',
    }),
    titles: Type.Boolean({ default: true, description: 'Whether a model names a conversation after its first answer, when the page asks for it' }),
    title_model: Type.String({ maxLength: 200, default: '', description: 'The model for titles, as `provider/model` or an alias; a small one is enough. By default, the model of the agent' }),
    share_links: Type.Boolean({ default: false, description: 'Whether people can make links to their conversations that anyone can read without a login. Set to false, all links stop working' }),
    share_max_days: Type.Integer({
      minimum: 0,
      maximum: 36_500,
      default: 0,
      description: 'Longest time that a link can be valid, also of links that exist. 0 means no limit: a link can then be without an expiry',
    }),
    cleanup_interval_hours: Type.Integer({ minimum: 1, maximum: 8_760, default: 24, description: 'How often cleanup runs; has no effect if both are 0' }),
  },
  { additionalProperties: false, default: {} },
);
export type SessionConfig = Plain<typeof SessionConfig>;

export const SessionSection = defineConfig('session', SessionConfig);
