/** The chat helper at a real daemon. */
import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { bootWithModel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { type Chat, type ChatFrame, openChat, type SocketClass } from '../src/chat.js';
import { ConnectionError, createClient, NotSvcError } from '../src/index.js';

const Socket = WebSocket as unknown as SocketClass;
const KEY = 'svc_key-of-the-test';

/** Frames until the exchange has ended; `agents_updated` comes when it likes. */
const exchange = async (chat: Chat): Promise<ChatFrame[]> => {
  const received: ChatFrame[] = [];
  for await (const frame of chat.frames) {
    if (frame.type !== 'agents_updated') received.push(frame);
    if (frame.type === 'response' || frame.type === 'error') break;
  }
  return received;
};

describe('openChat', () => {
  afterEach(stopModelKernels);

  it('speaks with an agent, under the key of the client', async () => {
    const svc = await bootWithModel([{ text: 'hello there' }], { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    const chat = await openChat(createClient({ baseUrl: svc.kernel.url, key: KEY }), svc.agent.id, { WebSocket: Socket });
    chat.send({ type: 'message', content: 'hello', message_id: 'm1' });
    const received = await exchange(chat);
    expect(received.map(({ type }) => type)).to.include.members(['connected', 'text_delta', 'response']);
    expect(received.at(-1)).to.include({ type: 'response', content: 'hello there', message_id: 'm1' });
  });

  it('says that it was not let in, and that the daemon has gone', async () => {
    const svc = await bootWithModel([{ text: 'x' }], { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    const refused = await openChat(createClient({ baseUrl: svc.kernel.url, key: 'wrong' }), svc.agent.id, { WebSocket: Socket }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ConnectionError);
    const chat = await openChat(createClient({ baseUrl: svc.kernel.url, key: KEY }), svc.agent.id, { WebSocket: Socket });
    const whole = exchange(chat).catch((error: unknown) => error);
    await svc.kernel.stop();
    expect(await whole).to.be.instanceOf(ConnectionError);
    expect(() => chat.send('still there?')).to.throw(ConnectionError);
  });

  it('says of a frame that is none that somebody else speaks there', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (socket) => socket.send('220 mail.example.com'));
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const chat = await openChat(createClient({ baseUrl: `http://127.0.0.1:${port}` }), 'x', { WebSocket: Socket });
    expect(await exchange(chat).catch((error: unknown) => error)).to.be.instanceOf(NotSvcError);
    server.close();
  });

  it('ends when its caller closes it', async () => {
    const svc = await bootWithModel([{ text: 'x' }]);
    const chat = await openChat(createClient({ baseUrl: svc.kernel.url }), svc.agent.id, { WebSocket: Socket });
    const whole = exchange(chat);
    chat.close();
    expect((await whole).every(({ type }) => type === 'connected')).to.equal(true);
  });
});
