/** How an agent looks to people. */
import { Nullable, Type } from '@svc/api';
import type { AgentManifest } from './contract.js';

export const Identity = Type.Object(
  {
    emoji: Nullable(Type.String()),
    avatar_url: Nullable(Type.String()),
    color: Nullable(Type.String()),
    archetype: Nullable(Type.String()),
    vibe: Nullable(Type.String()),
    greeting_style: Nullable(Type.String()),
  },
  { description: 'How it looks to people; null where the manifest does not say' },
);

export const identityOf = (_manifest: AgentManifest) => ({ emoji: null, avatar_url: null, color: null, archetype: null, vibe: null, greeting_style: null });
