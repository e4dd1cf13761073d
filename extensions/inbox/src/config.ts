import { defineConfig, type Plain, Type } from '@svc/api';

const Inbox = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether text files in the folder inbox become messages for agents of the owner' }),
    poll_interval_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 5, description: 'How often the folder is read' }),
    default_agent: Type.Optional(Type.String({ maxLength: 256, description: 'Id or name of the agent that gets files that do not begin with `agent:NAME`' })),
  },
  { additionalProperties: false, default: {}, 'x-waiting': { directory: 'the folder inbox of SVC_HOME is read' } },
);
export type InboxConfig = Plain<typeof Inbox>;
export const InboxSection = defineConfig('inbox', Inbox);
