/** How an agent looks to people: what `[metadata]` of its manifest says, by itself or under `identity`. */
import { isTable, Nullable, textForm, Type } from '@svc/api';
import type { AgentManifest } from './contract.js';

type Field = 'emoji' | 'avatar_url' | 'color' | 'archetype' | 'vibe' | 'greeting_style';
const MAX_TEXT = 256;
/** A picture may stand in its URL. */
const MAX_AVATAR = 65_536;

export const Identity = Type.Object(
  {
    emoji: Nullable(Type.String()),
    avatar_url: Nullable(Type.String(), { description: 'An http, https or data URL of a picture' }),
    color: Nullable(Type.String(), { description: '#rrggbb or #rgb' }),
    archetype: Nullable(Type.String()),
    vibe: Nullable(Type.String()),
    greeting_style: Nullable(Type.String()),
  },
  { description: "Appearance; null if not set in the manifest's metadata" },
);

export const identityOf = (manifest: AgentManifest): Record<Field, string | null> => {
  const metadata = isTable(manifest.kept.metadata) ? manifest.kept.metadata : {};
  const said = isTable(metadata.identity) ? { ...metadata, ...metadata.identity } : metadata;
  const of = (field: Field): string | null => textOf(field, said[field]);
  return { emoji: of('emoji'), avatar_url: of('avatar_url'), color: of('color'), archetype: of('archetype'), vibe: of('vibe'), greeting_style: of('greeting_style') };
};

/** Pages put these into attributes and styles: what is no such thing is not shown. */
const textOf = (field: Field, value: unknown): string | null => {
  if (typeof value !== 'string' || value.length > (field === 'avatar_url' ? MAX_AVATAR : MAX_TEXT)) return null;
  if (field === 'color' && !COLOR.fits(value)) return null;
  if (field === 'avatar_url' && !AVATAR.fits(value)) return null;
  return value === '' ? null : value;
};

/** Of both, an empty text takes away what was there. */
export const COLOR = textForm('^(?:#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$');
export const AVATAR = textForm('^(?:(?:[hH][tT][tT][pP][sS]?://|[dD][aA][tT][aA]:[iI][mM][aA][gG][eE]/)[^\\s\\u0000-\\u001f\\u007f]+)?$');
