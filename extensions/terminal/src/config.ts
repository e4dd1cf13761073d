import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

const Terminal = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether people may open a shell on the machine of the daemon, with all rights of its user' }),
    roles: Type.Array(OneOf(['owner', 'admin']), { default: ['owner'], description: 'Who may' }),
    shell: Type.String({ default: '', maxLength: 1_000, description: 'The program; by default, SHELL of the daemon, else /bin/sh' }),
    allowed_origins: Type.Array(Type.String({ maxLength: 300 }), { default: [], maxItems: 20, description: 'Pages of other origins that may open a terminal, such as https://ops.example.com' }),
    idle_minutes: Type.Integer({ minimum: 0, maximum: 10_080, default: 30, description: 'A terminal into which nothing was typed for so long ends. 0: none does' }),
    tmux_enabled: Type.Boolean({ default: true, description: 'Whether there are windows that stay when a terminal is closed, where tmux is installed' }),
    max_windows: Type.Integer({ minimum: 1, maximum: 100, default: 16, description: 'Windows of one person' }),
  },
  {
    additionalProperties: false,
    default: {},
    'x-by-hand': 'it opens a shell on this machine',
    'x-waiting': {
      allow_remote: 'who may connect from elsewhere is the same as for the rest of the API',
      allow_unauthenticated_remote: 'without a key there is no terminal',
      require_proxy_headers: 'trusted_proxies says which headers count',
    },
  },
);
export type TerminalConfig = Plain<typeof Terminal>;
export const TerminalSection = defineConfig('terminal', Terminal);
