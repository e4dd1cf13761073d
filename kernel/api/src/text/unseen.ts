/**
 * What makes a name look like another one, or like nothing: control characters, those that turn the reading direction,
 * those without a width, and halves of characters. The joiners of emoji and of some scripts (U+200C, U+200D) are none of them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
export const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
