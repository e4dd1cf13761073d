/** A server with the daemon's interface as far as the commands use it. What it answers can be changed by each test. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: unknown;
}

export interface FakeDaemon {
  readonly port: number;
  readonly url: string;
  readonly seen: Seen[];
  /** `METHOD /path` to status and JSON body. */
  readonly answers: Map<string, readonly [status: number, body: unknown]>;
  /** SSE frames of the next message; `pause` waits for a stop, `drop` cuts the connection once. */
  frames: ReadonlyArray<readonly [event: string, data: unknown] | 'pause' | 'drop'>;
  close(): Promise<void>;
}

export const AGENT_ID = '0b9a3c1e-1111-4222-8333-444455556666';
export const agents = [
  { id: AGENT_ID, name: 'assistant', state: 'Running', model_provider: 'acme', model_name: 'acme-large-with-a-rather-long-name' },
  { id: '7c1d0000-2222-4333-9444-555566667777', name: 'helper', state: 'Suspended', model_provider: 'acme', model_name: 'acme-small' },
];

export const extension = (id: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  id,
  version: '0.1.0',
  description: `What ${id} does, in a sentence that is long enough to be cut on a narrow terminal.`,
  bundled: true,
  origin: null,
  process: null,
  state: 'active',
  degraded: false,
  phase: null,
  reason: null,
  recoverable: true,
  generation: 1,
  essential: false,
  intent: { enabled: true, decidedBy: 'preset' },
  provides: {},
  requires: [],
  optional: [],
  contributes: {},
  holds: [],
  strikes: 0,
  leaks: [],
  startedAt: '2026-01-02T03:04:05.000Z',
  startMs: 12,
  ...more,
});

const firstAnswers = (): Array<[string, readonly [number, unknown]]> => [
  ['GET /api/ready', [200, { status: 'ready' }]],
  [
    'GET /api/status',
    [
      200,
      {
        status: 'running',
        version: '0.1.0',
        agent_count: 2,
        data_dir: '/srv/svc/data',
        default_provider: 'acme',
        default_model: 'acme-large',
        default_model_stand_in: false,
        default_model_why: 'ACME_API_KEY is set and no other provider comes before it',
        uptime_seconds: 7_500,
        preset: 'standard',
        config_problems: [],
      },
    ],
  ],
  ['GET /api/agents', [200, { agents, total: agents.length }]],
  ['POST /api/agents', [201, { agent_id: AGENT_ID, name: 'assistant' }]],
  [`DELETE /api/agents/${AGENT_ID}`, [200, { status: 'killed' }]],
  [`POST /api/agents/${AGENT_ID}/stop`, [200, { status: 'ok', message: 'Run cancelled' }]],
  [
    'GET /api/providers',
    [
      200,
      {
        providers: [
          { name: 'zeta', display_name: 'Zeta', auth_status: 'configured', env_var: 'ZETA_API_KEY', model_count: 3 },
          { name: 'acme', display_name: 'Acme', auth_status: 'missing', env_var: 'ACME_API_KEY', model_count: 12 },
        ],
        total: 2,
        default: { provider: 'zeta', model: 'zeta-1', why: 'It was chosen by command.', chosen_by: 'person', chosen_at: '2026-01-01T00:00:00.000Z', problem: 'Zeta refused its key.' },
      },
    ],
  ],
  ['POST /api/providers/acme/default', [200, { provider: 'acme', model: 'acme-large', why: 'It was chosen by command.', chosen_by: 'person', chosen_at: '2026-01-01T00:00:00.000Z', problem: null }]],
  ['GET /api/providers/acme', [200, { name: 'acme' }]],
  ['POST /api/providers/acme/key', [200, { status: 'configured', provider: 'acme' }]],
  [
    'GET /api/extensions',
    [200, { extensions: [extension('webchat'), extension('memory', { state: 'failed', reason: 'its table is gone', intent: { enabled: true, decidedBy: 'choice' } })], total: 2 }],
  ],
  ['GET /api/extensions/memory', [200, extension('memory', { requires: ['agents'], optional: ['llm'], state: 'pending', reason: 'waits for agents' })]],
  [
    'GET /api/extensions-graph',
    [
      200,
      {
        nodes: [
          { id: 'memory', state: 'pending', needs: ['agents'], uses: ['llm'], waitsFor: ['agents'] },
          { id: 'hands', state: 'active', needs: ['memory'], uses: [], waitsFor: [] },
        ],
      },
    ],
  ],
  ['POST /api/extensions/webchat/plan', [200, { id: 'webchat', action: 'disable', starts: [], stops: ['webchat'], degrades: [], warning: null, back: null }]],
  ['POST /api/extensions/webchat/disable', [200, { status: 'disabled', extension: extension('webchat', { state: 'inactive' }) }]],
  ['POST /api/extensions/memory/plan', [200, { id: 'memory', action: 'disable', starts: [], stops: ['memory', 'hands'], degrades: ['runs'], warning: null, back: 'svc ext enable memory' }]],
  ['POST /api/extensions/memory/disable', [200, { status: 'disabled', extension: extension('memory', { state: 'inactive' }) }]],
  ['POST /api/extensions/memory/disable?force=true', [200, { status: 'disabled', extension: extension('memory', { state: 'inactive' }) }]],
  [
    'GET /api/health/detail',
    [
      200,
      {
        status: 'ok',
        version: '0.1.0',
        uptime_seconds: 60,
        database: 'connected',
        doctor: [{ check: 'VaultKeyCheck', result: 'fail', message: 'The vault is locked.', fix: 'set SVC_VAULT_KEY and start again' }],
      },
    ],
  ],
];

export const startFakeDaemon = async (): Promise<FakeDaemon> => {
  let stopped: () => void = () => undefined;
  const answers = new Map(firstAnswers());
  const seen: Seen[] = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const name = `${request.method} ${request.url}`;
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: bodyOf(text) });
    if (name.endsWith('/stop')) stopped();
    if (name.endsWith('/message/stream') && !answers.has(name)) return stream(request, response);
    const [status, body] = answers.get(name) ?? [404, { error: `No such path: ${name}.`, code: 'not_found', request_id: 'req-1' }];
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1', ...(status === 429 ? { 'retry-after': '1' } : {}) });
    response.end(JSON.stringify(body));
  });
  const stream = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const after = Number(
      String(request.headers['last-event-id'] ?? '0')
        .split('.')
        .at(-1),
    );
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let seq = 0;
    for (const frame of daemon.frames) {
      if (frame === 'pause') {
        await new Promise<void>((resolve) => {
          stopped = resolve;
        });
      } else if (frame === 'drop') {
        if (after < seq) return void response.socket?.end();
      } else if (++seq > after) response.write(`id: run.1.${seq}\nevent: ${frame[0]}\ndata: ${JSON.stringify(frame[1])}\n\n`);
    }
    response.end();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening, so it has an address
  const daemon: FakeDaemon = {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    answers,
    frames: [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return daemon;
};

/** What is no JSON was sent as it is. */
const bodyOf = (text: string): unknown => {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
