/** A daemon with an agent that may do everything, pages that it can fetch, and a model that does as it is told. */
import { createServer, type Server } from 'node:http';
import { OPEN_RATE, type TestKernelOptions } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

type Call = readonly [name: string, args: object];

export interface World extends ModelKernel {
  /** The address of a page with this text. */
  page(text: string): string;
  spawn(name: string, capabilities?: object): Promise<string>;
  /** The model makes these calls, one message after the other, and then says `done`. */
  calls(...calls: Call[]): void;
  say(agentId: string, message: string, extra?: object): Promise<{ run_id: string; response: string; waiting?: { run_id: string; approval_id: string } }>;
  /** What the model read as the result of its last call. */
  lastResult(): string;
  stop(agentId: string): Promise<void>;
}

const servers = new Set<Server>();

export const bootTaint = async (config = '', options: TestKernelOptions = {}): Promise<World> => {
  const pages: string[] = [];
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end(pages[Number(request.url?.slice(1))] ?? 'nothing here');
  });
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const world = await bootWithModel(undefined, { ...options, config: `${OPEN_RATE}${config}` });
  return {
    ...world,
    page: (text) => `http://127.0.0.1:${port}/${pages.push(text) - 1}`,
    spawn: async (name, capabilities = {}) => {
      const granted = { tools: ['*'], file_system: true, shell: ['*'], network: ['127.0.0.1:*', '*.example'], agent_message: ['*'], agent_spawn: true, ...capabilities };
      return (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: granted } })).body.agent_id;
    },
    calls: (...calls) => world.model.script([...calls.map(([name, args], index) => ({ toolCalls: [{ id: `c${index}-${Math.random()}`, name, args }] })), { text: 'done' }]),
    say: async (agentId, message, extra = {}) => (await world.http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message, ...extra })).body,
    lastResult: () => {
      const body = world.model.requests.at(-1)?.body as { messages: Array<{ role: string; content: unknown }> } | undefined;
      return String(body?.messages.findLast(({ role }) => role === 'tool')?.content);
    },
    stop: async (agentId) => void (await world.http.expect(200, 'POST', `/api/agents/${agentId}/stop`, undefined)),
  };
};

export const stopTaint = async (): Promise<void> => {
  await stopModelKernels();
  for (const server of servers) server.close();
  servers.clear();
};
