/** One message at two daemons of one database. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalBusHub } from '@svc/platform/bus/local-bus';
import { bootTwo, type TwoDaemons } from '@svc/test/replicas/two-daemons';
import { stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type Delivery, until } from './channel-kit.js';

const SECRET = 'the secret of both';
const MESSAGES = 12;

describe('channels: two daemons', function () {
  this.timeout(60_000);
  let two: TwoDaemons;
  const received: string[] = [];
  const receiver = createServer((req, res) => {
    let body = '';
    req.on('data', (piece) => {
      body += piece;
    });
    req.on('end', () => {
      received.push(JSON.parse(body).message);
      res.end();
    });
  });

  before(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const hub = createLocalBusHub();
    two = await bootTwo({
      joinBus: (name) => hub.join(name, (error) => expect.fail(String(error))),
      config: `[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`,
      script: ({ body }) => ({ text: `to ${/question (\d+)\./.exec(JSON.stringify(body.messages.at(-1)))?.[1]}` }),
    });
    const callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    // Each home has a vault of its own.
    for (const { kernel } of [two.a, two.b]) await kernel.http.expect(200, 'POST', '/api/channels/webhook/configure', { fields: { secret_env: SECRET, callback_url: callback } });
  });
  after(async () => {
    await two?.stop();
    await stopTestKernels();
    receiver.close();
  });

  it('I1 O1 the same message at both is one row, one question and one answer', async () => {
    const send = async ({ kernel }: TwoDaemons['a'], number: number): Promise<string> => {
      const body = JSON.stringify({ sender_id: `s${number % 3}`, message: `question ${number}.`, metadata: { message_id: `m${number}` } });
      const headers = { 'content-type': 'application/json', 'x-webhook-signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
      const response = await fetch(`${kernel.daemon.url}/api/channels/webhook/webhook`, { method: 'POST', headers, body });
      return ((await response.json()) as { status: string }).status;
    };
    const numbers = Array.from({ length: MESSAGES }, (_one, index) => index);
    const said = await Promise.all(numbers.map((number) => Promise.all([send(two.a, number), send(two.b, number)])));
    expect(said.map((both) => [...both].sort())).to.deep.equal(numbers.map(() => ['accepted', 'duplicate']));
    const rows = async (query: string): Promise<Delivery[]> => (await two.b.kernel.http.expect(200, 'GET', `/api/channels/deliveries?limit=100&${query}`)).body.deliveries;
    await until(async () => (await rows('direction=outbound&status=sent')).length === MESSAGES, 'all answers');
    expect((await rows('direction=inbound&status=answered')).length).to.equal(MESSAGES);
    expect([...received].sort()).to.deep.equal(numbers.map((number) => `to ${number}`).sort());
    expect(two.model.requests.length).to.equal(MESSAGES);
  });
});
