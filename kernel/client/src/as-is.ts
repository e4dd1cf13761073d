/** A call of a route that no type of this client knows, such as one of an extension from elsewhere: asked once, answered as it is. In a browser. */

export interface AsIs {
  readonly method: string;
  /** On the daemon that this page is of: path and query. */
  readonly address: string;
  /** Sent as JSON; undefined is no body. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

const MAX_BODY_CHARS = 1_000_000;
const MAX_ANSWER_CHARS = 4_000_000;

export interface Opened extends Omit<AsIs, 'body'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob | FormData;
}

/** Gives the answer as it comes, whatever its status: for whoever shows it to a person. Throws where nobody answered. */
export const openAsIs = ({ method, address, headers = {}, body, signal }: Opened): Promise<Response> =>
  fetch(address, { method, signal, credentials: 'same-origin', redirect: 'error', headers, ...(body === undefined ? {} : { body }) });

/** Gives what the daemon answered, whatever its status: JSON where it is that, else the text. Throws where nothing was asked, or nobody answered. */
export const askAsIs = async ({ method, address, body, signal }: AsIs): Promise<{ status: number; body: unknown }> => {
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (text !== undefined && text.length > MAX_BODY_CHARS) throw new RangeError(`A body has at most ${MAX_BODY_CHARS} characters.`);
  const headers = { accept: 'application/json', ...(text === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await openAsIs({ method, address, signal, headers, ...(text === undefined ? {} : { body: text }) });
  const answered = await response.text();
  if (answered.length > MAX_ANSWER_CHARS) throw new RangeError(`An answer has at most ${MAX_ANSWER_CHARS} characters.`);
  return { status: response.status, body: readAs(answered) };
};

const readAs = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
