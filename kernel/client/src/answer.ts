/** From bytes to what the caller wanted, or to an error. */
import { NotSvcError, SvcError } from './errors.js';
import { bytesOf, type FetchAnswer } from './transport.js';

/** An answer that is larger is not kept in memory: read it as a stream. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: FetchAnswer['headers'];
  readonly requestId: string | undefined;
  readonly data: T;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The whole answer of a success; throws SvcError for a refusal and NotSvcError for what the daemon would not say. */
export const readAnswer = async (url: string, answer: FetchAnswer): Promise<Answer> => {
  const bytes = await wholeOf(url, answer);
  if (!isSuccess(answer.status)) throw refusalOf(url, answer, bytes);
  return { status: answer.status, headers: answer.headers, requestId: answer.headers.get('x-request-id') ?? undefined, data: dataOf(url, answer, bytes) };
};

const wholeOf = async (url: string, answer: FetchAnswer): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bytesOf(answer.body)) {
    size += part.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new NotSvcError(url, answer.status, `its answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
};

export const contentTypeOf = ({ headers }: FetchAnswer): string => (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const dataOf = (url: string, answer: FetchAnswer, bytes: Uint8Array): unknown => {
  // Every answer of the daemon has its id: a page of somebody else's must not pass for an answer.
  if (answer.headers.get('x-request-id') === null) throw new NotSvcError(url, answer.status, `its answer, ${contentTypeOf(answer) || 'of no type'}, has no x-request-id`);
  if (bytes.byteLength === 0) return undefined;
  const type = contentTypeOf(answer);
  if (type === 'application/json') return parsed(url, answer.status, bytes);
  return type.startsWith('text/') ? textOf(bytes) : bytes;
};

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const parsed = (url: string, status: number, bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(textOf(bytes));
  } catch (error) {
    throw new NotSvcError(url, status, `its answer should be JSON but is not: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const refusalOf = (url: string, answer: FetchAnswer, bytes: Uint8Array): SvcError | NotSvcError => {
  const { status, headers } = answer;
  const body = errorBody(answer, bytes);
  const id = headers.get('x-request-id');
  if (id === null || body === undefined) return new NotSvcError(url, status, `it answered ${status} with ${contentTypeOf(answer) || 'a body of no type'}, which is not an answer of svc`);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  const words = { code: textIn(body, 'code') ?? `http_${status}`, what: textIn(body, 'error') ?? `${url} answered ${status}.`, hint: textIn(body, 'hint') ?? usualHint(status, id) };
  return new SvcError(words, { status, requestId: id, details: body.details, retryAfter, mayRetry: headers.get('x-should-retry') !== 'false' });
};

const errorBody = (answer: FetchAnswer, bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined => {
  if (contentTypeOf(answer) !== 'application/json') return undefined;
  try {
    const value: unknown = JSON.parse(textOf(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // told as what is not svc
  }
};

const textIn = (body: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = body[name];
  return typeof value === 'string' ? value : undefined;
};

const usualHint = (status: number, id: string): string | undefined => {
  if (status === 401) return 'Give the client the API key of this daemon: createClient({ key }).';
  return status === 500 ? `svc logs --request ${id}` : undefined;
};
