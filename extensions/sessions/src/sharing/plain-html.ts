/** Text as a page shows it that was not drawn. Without the library that draws, which is loaded by whoever needs it. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

export const plainHtml = (text: string): string => (text === '' ? '' : `<pre>${escaped(text)}</pre>`);
