/** Tags of a conversation: a few short words, as a person gave them, in small letters. */
import { textForm, TextOf, Type } from '@svc/api';
import { sessionsErrors } from '../errors.js';

const MAX_TAGS = 8;
const MAX_TAG_CHARS = 30;
const TAG = textForm('^[\\p{L}\\p{M}\\p{N}][\\p{L}\\p{M}\\p{N}_-]*$', { maxLength: MAX_TAG_CHARS });

export const TagText = TextOf(TAG, { minLength: 1, maxLength: MAX_TAG_CHARS, description: 'A tag: one word of letters of any script, digits, hyphens and underscores. Capitals make no difference' });
export const TagTexts = Type.Array(TagText, { maxItems: MAX_TAGS });

/** As they are stored: each once, in small letters, in the order of the alphabet. Throws `sessions_invalid_tag`. */
export const checkedTags = (tags: readonly string[]): readonly string[] => {
  if (tags.length > MAX_TAGS || !tags.every((tag) => TAG.fits(tag))) throw sessionsErrors.invalid_tag(MAX_TAGS, MAX_TAG_CHARS);
  return [...new Set(tags.map((tag) => tag.normalize('NFC').toLowerCase()))].sort();
};

/** Each stands between two commas, so that a list finds it as a whole. */
const BETWEEN = ',';
export const tagsText = (tags: readonly string[]): string | null => (tags.length === 0 ? null : BETWEEN + tags.join(BETWEEN) + BETWEEN);
export const tagsIn = (text: string | null): readonly string[] => (text === null ? [] : text.split(BETWEEN).filter((tag) => tag !== ''));

/** What a list looks for to find those that have the tag. Throws `sessions_invalid_tag`. */
export const wantedTag = (tag: string): string => tagsText(checkedTags([tag])) ?? '';
