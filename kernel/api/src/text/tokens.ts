/** An estimate for common text, where nobody counted. */
export const CHARS_PER_TOKEN = 4;

/** Tokens of so many characters, rounded up. */
export const tokensOfChars = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);
