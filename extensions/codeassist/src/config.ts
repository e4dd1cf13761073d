import { defineConfig, type Plain, Type } from '@svc/api';

const ADDRESS = '^https?://[^\\s@?#/][^\\s@?#]*$';

const Codeassist = Type.Object(
  {
    client_id: Type.String({
      maxLength: 100,
      default: '',
      pattern: '^[A-Za-z0-9._-]*$',
      description: 'Client ID of the app that you log in with: an OAuth app of yours for which the device flow is enabled. Without it, nobody can log in',
    }),
    login_url: Type.String({ maxLength: 2_000, default: 'https://github.com', pattern: ADDRESS, description: 'Address of the server that you log in at. Set it for GitHub Enterprise' }),
    api_url: Type.String({ maxLength: 2_000, default: 'https://api.github.com', pattern: ADDRESS, description: 'Address of its API, which opens sessions for models' }),
  },
  { additionalProperties: false, default: {} },
);
export type CodeassistConfig = Plain<typeof Codeassist>;

export const CodeassistSection = defineConfig('codeassist', Codeassist);
