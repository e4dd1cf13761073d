/** What a model reads of one call has an end, and says so when something was left out. */

/** Of a tool's own text; the difference to RESULT_BYTES is for what taps of `tool.after` add. */
export const TOOL_TEXT_BYTES = 62 * 1024;
export const RESULT_BYTES = 64 * 1024;

/** Cuts between characters. The note tells how much there was. */
export const capText = (text: string, maxBytes: number): string => {
  // A UTF-16 unit is at most three bytes: most texts need no counting.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const note = `\n\n[cut: ${bytes.length} bytes in all, the rest is omitted; request a smaller part]`;
  const kept = new TextDecoder().decode(bytes.subarray(0, Math.max(0, maxBytes - note.length)));
  // A character cut in half decodes to the replacement character at the end.
  return `${kept.replace(/\uFFFD$/, '')}${note}`;
};

/** Without the first half of a character at its end, where there is more than that: it is for whoever reads on. */
export const withoutHalf = (text: string): string => (text.length > 1 && /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
