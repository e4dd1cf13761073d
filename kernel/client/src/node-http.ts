/**
 * A `fetch` over node:http, for programs whose start must cost nothing: the global one takes some 35 ms to load.
 * One connection for each request, none kept.
 */
import http from 'node:http';
import type { Fetch, FetchAnswer } from './transport.js';

export const nodeFetch: Fetch = async (url, { method, headers, body, signal }) => {
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('nodeFetch sends text and bytes only. Pass the global fetch to the client for anything else.');
  const { request } = url.startsWith('https:') ? await import('node:https') : http;
  const length = body === undefined ? {} : { 'content-length': String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, ...length }, signal, agent: false });
    sent.on('response', (response) => resolve(answerOf(response)));
    sent.on('error', reject);
    sent.end(body);
  });
};

const answerOf = (response: http.IncomingMessage): FetchAnswer => ({
  status: response.statusCode ?? 0,
  headers: {
    get: (name) => {
      const value = response.headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
  },
  body: response as AsyncIterable<Buffer>,
});
