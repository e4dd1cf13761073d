/** The bytes of the protocol, by vectors that other implementations agree on. */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { expect } from 'chai';
import { agreedSecret, ephemeralOf, fingerprintOf, isSignedBy, mac, plainSessionKey, sessionKeyOf } from '../src/wire/crypto.js';
import { createFrameBudget, createReader, plainFrame, sealedFrame } from '../src/wire/frames.js';
import { readMessage } from '../src/wire/messages.js';
import { createNonces } from '../src/wire/nonces.js';
import { createPeerRates } from '../src/node/rates.js';
import { createMinuteCount } from '../src/node/traffic.js';
import { readAddress } from '../src/addresses.js';

const SECRET = 'test-secret';
const CN = '11111111-1111-4111-8111-111111111111';
const SN = '22222222-2222-4222-8222-222222222222';
const BOUND = `${CN}|node-a|node-b`;
const ACK = `${SN}|node-b|node-a`;
const A = {
  publicKey: '0EqyMnQrtKs6E2i9RhXk5tAiSrcaAWuvhSCjMsl3hzc=',
  ephemeral: 'ew1H2TQn+DERYHgcfHM/2J+IlwrvSQ2KoO4ZpMuKGxQ=',
  fingerprint: 'e74a87d6e5f04611570a875c7ff17b490629011d6ba95bbe0ba74d83b0562691',
};
const B = {
  publicKey: 'oJql9HpnWYAv+VX43C0qFKXJnSO+l/hkEn/5ODRVpPA=',
  ephemeral: '/y7kVgHsG2cxDHeQQEWFrmlzMe7hwfjPJBlzHB//Pms=',
  fingerprint: '58cf24f683265d5551ba0737012f17ec6a4d09eaf174c18336490ed6893068a7',
};

const ed25519 = (seed: number) => createPrivateKey({ key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, seed)]), format: 'der', type: 'pkcs8' });
const publicOf = (seed: number): string => Buffer.from(createPublicKey(ed25519(seed)).export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
const signed = (seed: number, text: string): string => sign(null, Buffer.from(text), ed25519(seed)).toString('base64');

async function* pieces(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
const reader = (...parts: readonly Uint8Array[]) => createReader(pieces(...parts), createFrameBudget(20_000_000));
const faultOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  );
const header = (size: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(size);
  return bytes;
};

describe('the bytes of OFP', () => {
  it('has the digests of the vectors', () => {
    expect(mac(SECRET, BOUND)).to.equal('a6c1f53ec1f780733157e0fc7c394c3fbcd8a48dc2868227a86864d353101c26');
    expect(mac(SECRET, `${CN}|node-a|`)).to.equal('1e37d39c6d8d8aae2c9269ffd429807db2fff198f2e5d462710590d8c8e86d0a');
    expect(mac(SECRET, ACK)).to.equal('7d2cf5181ac5b7eaf6a3ba61b1ef682525148d5f6c1d613cbce8504cb2986991');
    expect([publicOf(0x11), publicOf(0x22)]).to.deep.equal([A.publicKey, B.publicKey]);
    expect([fingerprintOf(A.publicKey), fingerprintOf(B.publicKey)]).to.deep.equal([A.fingerprint, B.fingerprint]);
  });

  it('verifies the signatures of the vectors, and no others', () => {
    const withEphemeral = 'uc3TKWccV2E6v7Hw3WfC+PVeW9l66sLXko4yVIjDelph/Pfip6KgvBIFdrWy+Fzb/TdgKJXI316jBzLPn1UbDA==';
    const without = 'aUCUXKC7BhUEWTLNYzRaIlrtDaT5Pun4Nq/zCL9PWpcd8uYnhmyAmrbhYjKfA1yxE0IB2CR+nnQ9O92x832IAA==';
    const ofAck = 'dDY70N/CdM1rxb2yIWFceKr0QSOknKRx6h92KqGpZl1GoX4lITQBb4rgAJVRqQwZXzWWHFcino6su5bXdIdGDw==';
    expect([signed(0x11, `${BOUND}|${A.ephemeral}`), signed(0x11, BOUND), signed(0x22, `${ACK}|${B.ephemeral}`)]).to.deep.equal([withEphemeral, without, ofAck]);
    expect(isSignedBy(A.publicKey, `${BOUND}|${A.ephemeral}`, withEphemeral)).to.equal(true);
    expect(isSignedBy(A.publicKey, BOUND, without)).to.equal(true);
    expect(isSignedBy(B.publicKey, `${ACK}|${B.ephemeral}`, ofAck)).to.equal(true);
    for (const [key, text, signature] of [
      [A.publicKey, BOUND, withEphemeral],
      [B.publicKey, BOUND, without],
      [A.publicKey, BOUND, 'no base64'],
      ['AAAA', BOUND, without],
    ] as const)
      expect(isSignedBy(key, text, signature), signature).to.equal(false);
  });

  it('agrees on the session key of the vectors, from both sides', () => {
    const [a, b] = [ephemeralOf(Buffer.alloc(32, 0x33)), ephemeralOf(Buffer.alloc(32, 0x44))];
    expect([a.publicKey, b.publicKey]).to.deep.equal([A.ephemeral, B.ephemeral]);
    const shared = agreedSecret(a, B.ephemeral) ?? Buffer.alloc(0);
    expect(shared.toString('hex')).to.equal('3c528e9fd39731b15d10de8feb5f71d3f65b73c993581dedb03315a9ed177730');
    expect(agreedSecret(b, A.ephemeral)?.equals(shared)).to.equal(true);
    expect(sessionKeyOf(shared, CN, SN)).to.equal('d4bcd198c638e08ef95c5454706a09951cdcddb46a2f1cdfbea4a85a2e46a48f');
    expect(sessionKeyOf(shared, SN, CN)).not.to.equal(sessionKeyOf(shared, CN, SN));
    expect(plainSessionKey('secret', 'client-nonce', 'server-nonce'))
      .to.equal(mac('secret', 'client-nonceserver-nonce'))
      .and.to.match(/^[0-9a-f]{64}$/);
    for (const bad of [Buffer.alloc(32).toString('base64'), 'AAAA', 'no base64', '']) expect(agreedSecret(a, bad), bad).to.equal(undefined);
  });

  it('frames with four bytes of length, and with the digest of the JSON after the handshake', async () => {
    const key = 'd4bcd198c638e08ef95c5454706a09951cdcddb46a2f1cdfbea4a85a2e46a48f';
    const ping = { id: 'x', type: 'request', method: 'ping' } as const;
    const json = JSON.stringify(ping);
    expect(plainFrame(ping)).to.deep.equal(Buffer.concat([header(json.length), Buffer.from(json)]));
    const sealed = sealedFrame(ping, key);
    expect(sealed).to.deep.equal(Buffer.concat([header(json.length + 64), Buffer.from(json), Buffer.from(mac(key, json))]));
    // In whatever pieces it comes, and two in one.
    const bytes = [...sealed].map((byte) => Uint8Array.of(byte));
    expect(await reader(...bytes).sealed(key)).to.equal(json);
    const twice = reader(Buffer.concat([sealed, sealed]));
    expect([await twice.sealed(key), await twice.sealed(key), await twice.sealed(key)]).to.deep.equal([json, json, undefined]);
  });

  it('ends at a frame that is too long, too short, cut, of another key, or with its digest in capitals', async () => {
    const key = 'k'.repeat(64);
    const json = '{"id":"x"}';
    const frame = (digest: string): Buffer => Buffer.concat([header(json.length + 64), Buffer.from(json), Buffer.from(digest)]);
    const right = mac(key, json);
    expect(await reader(frame(right)).sealed(key)).to.equal(json);
    expect(await faultOf(reader(frame(right.toUpperCase())).sealed(key))).to.include('HMAC verification failed');
    expect(await faultOf(reader(frame(mac('other', json))).sealed(key))).to.include('HMAC verification failed');
    // Refused at its header: nothing of the body is waited for.
    expect(await faultOf(reader(header(16_777_217)).sealed(key))).to.equal('Message too large: 16777217 bytes (max 16777216)');
    expect(await faultOf(reader(header(65_537)).plain())).to.equal('Message too large: 65537 bytes (max 65536)');
    expect(await faultOf(reader(header(65), Buffer.alloc(65)).sealed(key))).to.equal('Message too short for authenticated frame');
    expect(await faultOf(reader(header(100), Buffer.alloc(99)).sealed(key))).to.equal('Connection closed');
    expect(await reader(Buffer.alloc(3)).sealed(key)).to.equal(undefined);
    const budget = createFrameBudget(2_000_000);
    expect([budget.take(1_500_000), budget.take(1_500_000), budget.take(100)]).to.deep.equal([true, false, true]);
    budget.give(1_500_000);
    expect(budget.take(1_500_000)).to.equal(true);
  });

  it('reads messages of later versions by their envelope, and no message that lacks what it needs', () => {
    const read = (value: object) => readMessage(JSON.stringify({ id: '1', ...value }));
    const agent = { id: 'a', name: 'n', description: '', tags: [], tools: [], state: 'Running', more: 1 };
    expect(read({ type: 'later' })).to.deep.include({ type: 'unknown', name: 'later' });
    expect(read({ type: 'request', method: 'later' })?.type).to.equal('request');
    expect(read({ type: 'notification', event: 'later' })).to.deep.include({ body: { event: 'unknown', name: 'later' } });
    expect(read({ type: 'request', method: 'agent_message', agent: 'x', message: 'y' })).to.deep.include({ body: { method: 'agent_message', agent: 'x', message: 'y', sender: null } });
    expect(read({ type: 'notification', event: 'agent_spawned', agent })).to.have.nested.property('body.agent.state', 'Running');
    const hello = { type: 'request', method: 'handshake', node_id: 'n', node_name: 'n', protocol_version: 1, agents: [agent] };
    expect(read({ ...hello, public_key: null })).to.deep.include({ type: 'request' });
    for (const bad of [
      { type: 'request' },
      { type: 'notification' },
      { type: 'request', method: 'discover' },
      { type: 'request', method: 'agent_message', agent: 'x', message: 5 },
      { ...hello, protocol_version: '1' },
      { ...hello, agents: [{ ...agent, tags: 'x' }] },
      { ...hello, public_key: 5 },
      { type: 'response', method: 'pong', uptime_secs: -1 },
      { type: 'response', method: 'error', code: 2 ** 40, message: '' },
      { id: 5, type: 'request', method: 'ping' },
    ])
      expect(read(bad), JSON.stringify(bad)).to.equal(undefined);
    for (const text of ['', 'null', '[]', '{', '5']) expect(readMessage(text), text).to.equal(undefined);
  });

  it('takes a nonce once, also after its time while it is stored, and none when it is full', () => {
    let now = 0;
    const nonces = createNonces(() => now);
    expect([nonces.record('a'), nonces.record('a'), nonces.record(''), nonces.record('')]).to.deep.equal([true, false, true, false]);
    now = 301_000;
    expect(nonces.record('a')).to.equal(false);
    for (let index = 0; index < 79_998; index++) nonces.record(`n${index}`);
    // The sweep at 80,000 takes out those that are older than five minutes.
    expect(nonces.record('a')).to.equal(true);
    for (let index = 0; index < 30_000; index++) nonces.record(`m${index}`);
    expect(nonces.record('one more')).to.equal(false);
    now += 301_000;
    expect(nonces.record('one more')).to.equal(true);
  });

  it('counts messages of a peer in windows of a minute, and its tokens within an hour', () => {
    let now = 0;
    const rates = createPeerRates(() => now);
    const limits = { perMinute: 2, tokensPerHour: 100 };
    expect([rates.take('p', limits), rates.take('p', limits)]).to.deep.equal([undefined, undefined]);
    expect(rates.take('p', limits)).to.equal('Rate limit exceeded: 2 messages in the current minute (max 2)');
    expect(rates.take('q', limits)).to.equal(undefined);
    now = 60_000;
    rates.spent('p', 100);
    expect(rates.take('p', limits)).to.equal('Rate limit exceeded: 100 tokens in the current hour (max 100)');
    now += 3_600_000;
    expect(rates.take('p', limits)).to.equal(undefined);
    expect(rates.take('x'.repeat(257), limits)).to.equal('peer_id exceeds maximum length of 256 bytes');
    for (let index = 0; index < 3; index++) expect(rates.take('free', { perMinute: 0, tokensPerHour: 0 })).to.equal(undefined);
  });

  it('counts what passed within the last minute', () => {
    let now = 5_000;
    const count = createMinuteCount(() => now);
    count.add();
    now = 40_000;
    count.add();
    expect(count.lately()).to.equal(2);
    now = 66_000;
    expect(count.lately()).to.equal(1);
    now = 500_000;
    expect(count.lately()).to.equal(0);
  });

  it('reads addresses in both forms', () => {
    for (const [text, host, port] of [
      ['/ip4/10.0.0.5/tcp/9191', '10.0.0.5', 9191],
      ['/ip6/::1/tcp/0', '::1', 0],
      ['10.0.0.5:9191', '10.0.0.5', 9191],
      ['[::1]:9191', '::1', 9191],
      ['peer.example.com', 'peer.example.com', 9090],
    ] as const)
      expect(readAddress(text), text).to.deep.equal({ host, port });
    for (const bad of ['', '/ip4/10.0.0.5', '10.0.0.5:99999', 'http://x', '::1:5']) expect(readAddress(bad), bad).to.equal(undefined);
  });
});
