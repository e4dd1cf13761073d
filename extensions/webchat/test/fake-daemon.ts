/** A server with the daemon's interface as far as the page uses it, and levers to make things go wrong. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { assemblePage } from '../src/page.js';

export interface Frame {
  readonly event: string;
  readonly data: unknown;
}

export interface FakeDaemon {
  readonly url: string;
  apiKey: string;
  status: Record<string, unknown>;
  agents: Array<Record<string, unknown>>;
  history: unknown[];
  /** What a message is answered with. */
  script: (message: string) => readonly Frame[];
  /** Cut the connection after so many frames, once. */
  dropAfter: number;
  /** Hold the rest of the answer back until `stop` is called or `release`. */
  holdAfter: number;
  readonly seen: Array<{ method: string; path: string; headers: http.IncomingHttpHeaders; body: unknown }>;
  release(): void;
  close(): Promise<void>;
}

export const agentRow = { id: '0b9a3c1e-1111-4222-8333-444455556666', name: 'assistant', state: 'Running', model_provider: 'default', model_name: 'default' };

const usage = { input_tokens: 12, output_tokens: 7 };
export const doneFrame = (response: string, finish = 'stop'): Frame => ({ event: 'done', data: { done: true, usage, result: { response, finish } } });
export const chunkFrame = (content: string): Frame => ({ event: 'chunk', data: { content, done: false } });

export const startFakeDaemon = async (): Promise<FakeDaemon> => {
  const page = assemblePage();
  const runs = new Map<string, readonly Frame[]>();
  let held: () => void = () => undefined;
  const daemon: FakeDaemon = {
    url: '',
    apiKey: '',
    status: { status: 'running', default_provider: 'acme', default_model: 'acme-large', default_model_why: 'ACME_API_KEY is set', default_model_stand_in: false },
    agents: [agentRow],
    history: [],
    script: (message) => [chunkFrame(`You said: ${message}`), doneFrame('')],
    dropAfter: 0,
    holdAfter: 0,
    seen: [],
    release: () => held(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const json = (response: http.ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const stream = async (request: http.IncomingMessage, response: http.ServerResponse, message: string): Promise<void> => {
    const key = String(request.headers['idempotency-key']);
    const frames = runs.get(key) ?? daemon.script(message);
    runs.set(key, frames);
    const after = Number(
      String(request.headers['last-event-id'] ?? '0')
        .split('.')
        .at(-1),
    );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, frame] of frames.entries()) {
      if (index < after) continue;
      if (daemon.holdAfter > 0 && index === daemon.holdAfter) {
        await new Promise<void>((resolve) => {
          held = resolve;
        });
      }
      if (daemon.dropAfter > 0 && index === daemon.dropAfter) {
        daemon.dropAfter = 0;
        daemon.holdAfter = 0;
        response.destroy();
        return;
      }
      response.write(`id: run.1.${index + 1}\nevent: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const path = request.url ?? '';
    const body = text === '' ? undefined : (JSON.parse(text) as Record<string, string>);
    daemon.seen.push({ method: request.method ?? '', path, headers: request.headers, body });
    if (path === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': page.policy });
      response.end(page.html);
    } else if (daemon.apiKey !== '' && request.headers.authorization !== `Bearer ${daemon.apiKey}`) json(response, 401, { error: 'A key is needed.', code: 'auth_missing' });
    else if (path === '/api/status') json(response, 200, daemon.status);
    else if (path === '/api/agents' && request.method === 'POST') {
      daemon.agents = [agentRow];
      json(response, 201, { agent_id: agentRow.id, name: agentRow.name });
    } else if (path === '/api/agents') json(response, 200, { agents: daemon.agents, total: daemon.agents.length });
    else if (path.endsWith('/session')) json(response, 200, { session_id: 's', messages: daemon.history });
    else if (path.endsWith('/stop')) {
      held();
      json(response, 200, { status: 'ok', message: 'Run cancelled' });
    } else if (path.endsWith('/message/stream')) await stream(request, response, body?.message ?? '');
    else json(response, 404, { error: 'No such path.' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(daemon, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }); // listening, so it has an address
};
