/** Server-sent events as text (HTML Living Standard, 9.2). */
/** The text of one event. Data that is not text is sent as one line of JSON; line breaks inside text become several `data:` lines. */
export const sse = (event: string | undefined, data: unknown, id?: string): string => {
  let text = '';
  if (id !== undefined) text += `id: ${id}\n`;
  if (event !== undefined) text += `event: ${event}\n`;
  const body = typeof data === 'string' ? data.replaceAll(/\r\n|\r|\n/g, '\ndata: ') : JSON.stringify(data);
  return `${text}data: ${body}\n\n`;
};
