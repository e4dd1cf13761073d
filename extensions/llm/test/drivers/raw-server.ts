/** A provider that answers with bytes as they are given, whatever the protocol. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DriverEvent } from '../../src/contract.js';
import type { Driver } from '../../src/drivers/driver.js';
import type { ExchangeDeps } from '../../src/drivers/exchange.js';
import { ModelFailure } from '../../src/call/model-failure.js';
import { realFetch, request } from '../gateway-rig.js';

export interface Raw {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

export interface RawServer {
  readonly url: string;
  readonly exchange: ExchangeDeps;
  /** Bodies and paths of what was asked, oldest first. */
  readonly sent: Array<Record<string, unknown>>;
  readonly paths: string[];
  /** The last answer is given again and again. */
  answer(raw: Raw | string | readonly Raw[]): void;
  ask(driver: Driver, raw: Raw | string | readonly Raw[], fields?: Parameters<typeof request>[0], names?: { provider: string; model: string }): Promise<DriverEvent[]>;
  forget(): void;
  close(): Promise<void>;
}

export const startRawServer = async (): Promise<RawServer> => {
  const adapter = realFetch({});
  const sent: Array<Record<string, unknown>> = [];
  const paths: string[] = [];
  let answers: Raw[] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    incoming.on('end', () => {
      sent.push(JSON.parse(body));
      paths.push(incoming.url ?? '');
      const { status = 200, type = 'text/event-stream', body: text } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { body: '' };
      response.writeHead(status, { 'content-type': type }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: RawServer = {
    url,
    exchange: { fetch: adapter.fetch, now: () => 0 },
    sent,
    paths,
    answer: (raw) => {
      answers = typeof raw === 'string' ? [{ body: raw }] : 'body' in raw ? [raw] : [...raw];
    },
    ask: async (driver, raw, fields = {}, names = { provider: 'x', model: 'm' }) => {
      self.answer(raw);
      const events: DriverEvent[] = [];
      await driver.ask({ ...names, baseUrl: url, timeoutMs: 5_000 }, request(fields), new AbortController().signal, (event) => void events.push(event));
      return events;
    },
    forget: () => {
      sent.length = 0;
      paths.length = 0;
    },
    close: async () => {
      await adapter.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
};

/** Events as they stand in a stream. */
export const reported = (...values: readonly unknown[]): string => values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('');

export const failureOf = async (work: Promise<unknown>): Promise<ModelFailure> => {
  const error = await work.catch((caught: unknown) => caught);
  if (error instanceof ModelFailure) return error;
  throw new Error(`it should have failed, and gave ${JSON.stringify(error)}`);
};
