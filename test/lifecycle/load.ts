/** Steady work on a test kernel: blocking messages, streams, sockets and plain requests, each counted. */
import { once } from 'node:events';
import type { TestKernel } from '@svc/testing';
import WebSocket from 'ws';

export interface LoadReport {
  messages: number;
  streams: number;
  chats: number;
  requests: number;
  /** What went wrong, in words; empty when nothing did. */
  readonly failures: string[];
}

export interface Load {
  readonly report: LoadReport;
  /** Resolves when something more has been answered. */
  progress(): Promise<void>;
  /** Lets what is under way end, and begins nothing more. */
  stop(): Promise<void>;
}

export function startLoad(kernel: TestKernel, agents: readonly string[]): Load {
  const report: LoadReport = { messages: 0, streams: 0, chats: 0, requests: 0, failures: [] };
  const state = { going: true };
  const worker = async (name: string, once: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; state.going; turn++) {
      await once(turn).catch((error: unknown) => report.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`));
    }
  };
  const workers = agents.flatMap((agent, index) => [
    worker(`message ${index}`, async (turn) => {
      const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: `question ${turn}` });
      if (typeof body.response !== 'string' || body.response === '') throw new Error('an empty answer');
      report.messages += 1;
    }),
    worker(`stream ${index}`, async (turn) => {
      const events = await kernel.http.events('POST', `/api/agents/${agent}/message/stream`, { message: `write line ${turn} to log.txt` });
      const last = events.at(-1);
      if (last?.event !== 'done') throw new Error(`a stream ended with ${JSON.stringify(last)}`);
      report.streams += 1;
    }),
  ]);
  workers.push(
    worker('request', async () => {
      await kernel.http.expect(200, 'GET', '/api/agents');
      await kernel.http.expect(200, 'GET', '/api/status');
      report.requests += 2;
    }),
    chatWorker(kernel, agents[0] as string, state, report),
  );
  const answered = (): number => report.messages + report.streams + report.chats + report.failures.length;
  return {
    report,
    progress: async () => {
      const before = answered();
      while (answered() === before) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    stop: async () => {
      state.going = false;
      await Promise.all(workers);
    },
  };
}

/** One socket for the whole time: it must survive every reload. */
async function chatWorker(kernel: TestKernel, agent: string, state: { going: boolean }, report: LoadReport): Promise<void> {
  const socket = new WebSocket(`${kernel.url.replace('http', 'ws')}/api/agents/${agent}/ws`);
  socket.on('close', (code) => {
    if (state.going) report.failures.push(`chat: the socket closed with ${code}`);
  });
  await once(socket, 'open');
  while (state.going) {
    const answer = answerOn(socket);
    socket.send(JSON.stringify({ type: 'message', content: 'what time is it?' }));
    const frame = await answer;
    if (frame.type === 'response') report.chats += 1;
    else report.failures.push(`chat: ${JSON.stringify(frame)}`);
  }
  socket.terminate();
}

/** The frame that ends an exchange. */
export const answerOn = (socket: WebSocket): Promise<{ type: string; content: string }> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      socket.off('message', onMessage);
      socket.off('close', onClose);
    };
    const onClose = (code: number): void => {
      leave();
      reject(new Error(`the socket closed with ${code}`));
    };
    const onMessage = (data: WebSocket.RawData): void => {
      const frame = JSON.parse(String(data)) as { type: string; content: string };
      if (frame.type !== 'response' && frame.type !== 'error') return;
      leave();
      resolve(frame);
    };
    socket.on('message', onMessage);
    socket.on('close', onClose);
  });
