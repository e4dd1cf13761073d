import { defineConfig, Type } from '@svc/api';

export const PromptSection = defineConfig(
  'prompt_intelligence',
  Type.Object({ enabled: Type.Boolean({ default: false, description: 'Whether there are prompt versions and experiments' }) }, { additionalProperties: false, default: {} }),
);
