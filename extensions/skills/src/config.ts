import { defineConfig, Type } from '@svc/api';

const hub = (description: string) => Type.String({ default: '', maxLength: 2_000, pattern: '^(https?://\\S+)?$', description });

export const SkillsSection = defineConfig(
  'skills',
  Type.Object(
    {
      listing_tokens: Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 0,
        description: 'Tokens that the list of skills may take in a prompt. 0 means 2 % of what the model reads, at most 4,000',
      }),
      disabled: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { default: [], maxItems: 1_000, description: 'Skills that are switched off for all agents' }),
      hub_url: hub('Base address of a hub of skills, such as https://hub.example.com/api/v1. Without it the routes of /api/skillhub answer 503'),
      hub_mirror_url: hub('Base address of a mirror of a hub, for /api/clawhub-cn'),
    },
    { additionalProperties: false, default: {} },
  ),
);
