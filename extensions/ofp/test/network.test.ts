/** Daemons that meet, one that does not, and what comes from whoever speaks the protocol wrongly. */
import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { RawLink, type RawPeer, rawPeer } from './raw-peer.js';

const SECRET = 'a secret of the tests';
const KEYS = { owner: 'ofp-root-key', alice: 'ofp-alice-key' };
const ALICE = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.alice).digest('hex')}"\n`;

describe('peers', function () {
  this.timeout(60_000);
  let one: ModelKernel;
  let two: ModelKernel;
  let owner: TestHttp;
  let address: string;
  let nodeOne: string;
  const links: RawLink[] = [];
  const boot = (secret: string, more = '', enabled = true): Promise<ModelKernel> =>
    bootWithModel(undefined, { config: `api_key = "${KEYS.owner}"\nnetwork_enabled = ${enabled}\n${OPEN_RATE}${ALICE}[network]\nshared_secret = "${secret}"\n${more}`, key: KEYS.owner });
  const statusOf = async ({ http }: { http: TestHttp }) => (await http.expect(200, 'GET', '/api/network/status')).body;
  const open = (): RawLink => {
    const link = new RawLink(address);
    links.push(link);
    return link;
  };
  const met = async (peer: RawPeer = rawPeer(), more: object = {}): Promise<RawLink> => {
    const link = open();
    const ack = await link.greet(peer, { secret: SECRET, ...more });
    expect(ack).to.include({ method: 'handshake_ack', node_id: nodeOne });
    return link;
  };
  const errorOf = async (greeting: Parameters<RawLink['greet']>[1], peer = rawPeer()) => {
    const link = open();
    const answer = await link.greet(peer, greeting);
    expect(await link.ended()).to.equal(true);
    return answer && [answer.method, answer.id, answer.code, answer.message];
  };

  before(async () => {
    one = await boot(SECRET, 'agents = ["assistant"]\n');
    await until(async () => (await statusOf(one)).online);
    const status = await statusOf(one);
    [address, nodeOne, owner] = [status.listen_address, status.node_id, one.http];
    two = await boot(SECRET, `listen_addresses = []\nbootstrap_peers = ["${address}"]\n`);
    await until(async () => (await statusOf(two)).connected_peers === 1);
  });
  afterEach(() => {
    for (const link of links.splice(0)) link.close();
  });
  after(stopModelKernels);

  it('shows two daemons that met to each other, with their agents', async () => {
    const [status, other] = [await statusOf(one), await statusOf(two)];
    expect(status).to.deep.include({ enabled: true, online: true, reason: null, protocol_version: 'ofp/1', connected_peers: 1 });
    expect(other).to.deep.include({ online: true, reason: null, listen_address: null, total_peers: 1, pinned_peers: 1 });
    const { body } = await two.http.expect(200, 'GET', '/api/peers');
    const [peer] = body.peers;
    expect(peer).to.deep.include({ node_id: nodeOne, address, state: 'connected', authenticated: true, identity: 'ed25519', fingerprint: status.identity_fingerprint });
    expect(peer.agents).to.deep.equal([{ id: one.agent.id, name: one.agent.name }]);
    expect((await two.http.expect(200, 'GET', `/api/peers/${nodeOne}`)).body.node_name).to.equal(status.node_name);
    expect((await owner.expect(200, 'GET', `/api/peers/${other.node_id}`)).body.agents).to.deep.equal([{ id: two.agent.id, name: two.agent.name }]);
    expect((await owner.expect(404, 'GET', '/api/peers/nobody')).body.code).to.equal('ofp_peer_not_found');
    expect((await owner.expect(200, 'GET', '/api/status')).body.network_enabled).to.equal(true);
    expect((await owner.expect(200, 'GET', '/api/security')).body.security_systems ?? (await owner.expect(200, 'GET', '/api/security')).body).to.be.an('object');
    // The network is the operator's: others see neither peers nor agents that are not theirs.
    const alice = one.kernel.as(KEYS.alice);
    expect((await alice.expect(200, 'GET', '/api/peers')).body.peers).to.deep.equal([]);
    expect((await alice.expect(404, 'GET', `/api/peers/${other.node_id}`)).body.code).to.equal('ofp_peer_not_found');
    expect((await alice.expect(200, 'GET', '/api/network/status')).body).to.deep.include({ agents: [], listen_address: null });
  });

  it('does not let in a daemon with another secret, and says why', async () => {
    const three = await boot('another secret', `listen_addresses = []\nbootstrap_peers = ["${address}"]\n`);
    await until(async () => String((await statusOf(three)).reason).includes('Remote error 403: HMAC authentication failed'));
    expect(await statusOf(three)).to.deep.include({ online: false, connected_peers: 0, total_peers: 0 });
    expect((await statusOf(one)).connected_peers).to.equal(1);
    await three.kernel.stop();
  });

  it('is off by default, and answers so', async () => {
    const off = await boot(SECRET, '', false);
    expect(await statusOf(off)).to.deep.include({ enabled: false, online: false, listen_address: null, connected_peers: 0, node_id: (await statusOf(off)).node_id });
    expect((await statusOf(off)).reason).to.include('network_enabled = true');
    expect((await statusOf(off)).node_id).to.match(/^[0-9a-f-]{36}$/);
    await off.kernel.stop();
    const bare = await boot('');
    expect((await statusOf(bare)).reason).to.include('OFP requires shared_secret. Set [network] shared_secret in config.toml');
    await bare.kernel.stop();
  });

  it('takes a message of an agent to an agent of another daemon, and back', async () => {
    const words = (request: { body: unknown }): string => JSON.stringify(request.body);
    one.model.beginAnew((request) => (words(request).includes('What is your word?') ? { text: 'Marzipan' } : { text: 'no' }));
    two.model.beginAnew([{ toolCalls: [{ name: 'agent_send', args: { agent_id: `assistant@${nodeOne}`, message: 'What is your word?' } }] }, { text: 'It said so.' }]);
    const denied = await two.http.expect(200, 'POST', `/api/agents/${two.agent.id}/message`, { message: 'Ask' });
    expect(denied.status).to.equal(200);
    expect(JSON.stringify(two.model.requests.at(-1)?.body)).to.include('ofp_connect');
    const { body: agent } = await two.http.expect(201, 'POST', '/api/agents', {
      manifest_toml: 'name = "caller"\n[capabilities]\ntools = ["*"]\nagent_message = ["*"]\nofp_connect = ["*"]\nofp_discover = true\n',
    });
    two.model.beginAnew([
      { toolCalls: [{ name: 'peer_agents', args: {} }] },
      { toolCalls: [{ name: 'agent_send', args: { agent_id: `assistant@${nodeOne}`, message: 'What is your word?' } }] },
      { text: 'It said so.' },
    ]);
    await two.http.expect(200, 'POST', `/api/agents/${agent.agent_id ?? agent.id}/message`, { message: 'Ask' });
    const last = JSON.stringify(two.model.requests.at(-1)?.body);
    expect(last).to.include('Marzipan').and.to.include('assistant@');
    // At the other daemon it is a run of the owner of the agent, with its cause, in a conversation of its own.
    const [run] = (await owner.expect(200, 'GET', `/api/runs?agent_id=${one.agent.id}`)).body.runs;
    expect(run.cause).to.deep.equal({ kind: 'peer', id: (await statusOf(two)).node_id });
    expect(run.session_id).not.to.equal(one.agent.session_id);
    expect((await statusOf(one)).messages_received).to.be.greaterThan(0);
  });

  it('answers pings, searches agents, and says what it does not have', async () => {
    const link = await met();
    expect(await link.ask({ method: 'ping' })).to.deep.include({ type: 'response', method: 'pong' });
    expect((await link.ask({ method: 'discover', query: 'ASSIST' }))?.agents).to.have.length(1);
    expect((await link.ask({ method: 'discover', query: 'no such thing' }))?.agents).to.deep.equal([]);
    expect(await link.ask({ method: 'agent_message', agent: 'nobody', message: 'x' })).to.deep.include({ method: 'error', code: 500, message: 'Agent not found: nobody' });
    expect(await link.ask({ method: 'agent_message', agent: 'assistant', message: 'x'.repeat(65_537) })).to.deep.include({ code: 413, message: 'Message payload too large: 65537 bytes (max 65536)' });
    expect(await link.ask({ method: 'later' })).to.deep.include({ code: 400, message: 'Unexpected request in connection loop' });
    link.sealed({ id: '1', type: 'later' });
    link.sealed({ id: '2', type: 'notification', event: 'later' });
    expect(await link.ask({ method: 'ping' })).to.deep.include({ method: 'pong' });
  });

  it('answers before it closes, for whoever has no more to say', async () => {
    one.model.beginAnew({ text: 'Goodbye' });
    const link = await met();
    link.sealed({ id: 'last', type: 'request', method: 'agent_message', agent: one.agent.id, message: 'One more thing' });
    link.socket.end();
    expect(await link.read()).to.deep.include({ id: 'last', method: 'agent_response', text: 'Goodbye' });
    expect(await link.ended()).to.equal(true);
  });

  it('limits what one daemon sends within a minute', async () => {
    const link = await met();
    for (let index = 0; index < 60; index++) expect((await link.ask({ method: 'agent_message', agent: 'nobody', message: 'x' }))?.code).to.equal(500);
    expect(await link.ask({ method: 'agent_message', agent: 'nobody', message: 'x' })).to.deep.include({ code: 429, message: 'Rate limit exceeded: 60 messages in the current minute (max 60)' });
  });

  it('learns of agents that come and go, and that a daemon shuts down', async () => {
    const peer = rawPeer();
    const link = await met(peer);
    const shown = async () => (await owner.expect(200, 'GET', `/api/peers/${peer.nodeId}`)).body;
    link.sealed({ id: '1', type: 'notification', event: 'agent_spawned', agent: { id: 'a', name: 'new', description: '', tags: [], tools: [], state: 'Running' } });
    await until(async () => (await shown()).agents.length === 1);
    link.sealed({ id: '2', type: 'notification', event: 'agent_terminated', agent_id: 'a' });
    await until(async () => (await shown()).agents.length === 0);
    link.sealed({ id: '3', type: 'notification', event: 'shutting_down' });
    await until(async () => (await shown()).state === 'disconnected');
    expect(await link.ask({ method: 'ping' })).to.deep.include({ method: 'pong' });
  });

  it('says to others when an agent comes or goes', async () => {
    const link = await met();
    const { body: made } = await owner.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "hidden"\n' });
    await owner.expect(200, 'DELETE', `/api/agents/${made.agent_id ?? made.id}`);
    // [network] agents does not name it: that it came is said to nobody.
    expect(await link.read()).to.deep.include({ type: 'notification', event: 'agent_terminated' });
  });

  it('refuses what is no handshake, another version, and a node id with a pipe', async () => {
    const link = open();
    link.plain({ id: 'p', type: 'request', method: 'ping' });
    expect(await link.read()).to.deep.equal({ id: 'p', type: 'response', method: 'error', code: 401, message: 'Authentication required: complete HMAC handshake first' });
    expect(await link.ended()).to.equal(true);
    expect(await errorOf({ secret: SECRET, more: { protocol_version: 2 } })).to.deep.equal(['error', 'hello', 1, 'Protocol version mismatch: expected 1, got 2']);
    expect((await errorOf({ secret: SECRET }, rawPeer('a|b')))?.[2]).to.equal(403);
  });

  it('refuses another secret, a signature of another key, and half an identity', async () => {
    expect(await errorOf({ secret: 'wrong' })).to.deep.equal(['error', 'hello', 403, 'HMAC authentication failed']);
    expect(await errorOf({ secret: SECRET, expected: 'somebody else' })).to.deep.equal(['error', 'hello', 403, 'HMAC authentication failed']);
    const failed = ['error', 'hello', 403, 'Ed25519 identity verification failed'];
    expect(await errorOf({ secret: SECRET, more: { identity_signature: Buffer.alloc(64).toString('base64') } })).to.deep.equal(failed);
    expect(await errorOf({ secret: SECRET, without: ['identity_signature'] })).to.deep.equal(failed);
    // Nothing of them was stored.
    expect((await owner.expect(200, 'GET', '/api/peers')).body.peers.every(({ authenticated }: { authenticated: boolean }) => authenticated)).to.equal(true);
  });

  it('refuses another key for an id that is known, none for it, and the id of this daemon', async () => {
    const peer = rawPeer();
    (await met(peer)).close();
    const failed = ['error', 'hello', 403, 'Ed25519 identity verification failed'];
    expect(await errorOf({ secret: SECRET }, rawPeer(peer.nodeId))).to.deep.equal(failed);
    expect(await errorOf({ secret: SECRET, without: ['public_key', 'identity_signature'] }, peer)).to.deep.equal(failed);
    expect(await errorOf({ secret: SECRET }, rawPeer(nodeOne))).to.deep.equal(failed);
    (await met(peer)).close();
  });

  it('refuses a handshake that was recorded', async () => {
    const peer = rawPeer();
    (await met(peer, { nonce: 'recorded' })).close();
    expect(await errorOf({ secret: SECRET, nonce: 'recorded' }, peer)).to.deep.equal(['error', 'hello', 403, 'Nonce replay rejected']);
    expect(await errorOf({ secret: SECRET, nonce: 'recorded' })).to.deep.equal(['error', 'hello', 403, 'Nonce replay rejected']);
  });

  it('refuses frames that are too long, cut, or have no right digest, without an answer', async () => {
    const tooLong = await met();
    tooLong.socket.write(Buffer.from([0x01, 0x00, 0x00, 0x01]));
    expect(await tooLong.ended()).to.equal(true);
    const capitals = await met();
    capitals.sealed({ id: '1', type: 'request', method: 'ping' }, () => 'A'.repeat(64));
    expect(await capitals.ended()).to.equal(true);
    const noMethod = await met();
    noMethod.sealed({ id: '1', type: 'request' });
    expect(await noMethod.ended()).to.equal(true);
    const noJson = await met();
    noJson.sealed('{' as unknown as object);
    expect(await noJson.ended()).to.equal(true);
    const early = open();
    early.socket.write(Buffer.from([0x00, 0x01, 0x00, 0x01]));
    expect(await early.ended()).to.equal(true);
  });

  it('refuses whoever sends three bytes and is silent, after ten seconds', async () => {
    const link = open();
    const since = Date.now();
    link.socket.write(Buffer.from([0, 0, 0]));
    expect(await link.ended()).to.equal(true);
    expect(Date.now() - since).to.be.within(9_000, 15_000);
  });

  it('refuses nobody who knows the secret, while others flood it with connections that say nothing', async () => {
    const flood = Array.from({ length: 200 }, () => open());
    await Promise.all(flood.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
    const link = await met();
    expect(await link.ask({ method: 'ping' })).to.deep.include({ method: 'pong' });
    // Those that came first gave way.
    expect(await flood[0]?.ended()).to.equal(true);
    expect((await statusOf(two)).connected_peers).to.equal(1);
  });

  it('refuses nobody who knows the secret, while others flood it with handshakes under another one', async () => {
    const flood = Array.from({ length: 100 }, () => errorOf({ secret: 'wrong' }));
    const link = await met();
    expect(await link.ask({ method: 'ping' })).to.deep.include({ method: 'pong' });
    // Each is refused, or makes room for one that came later.
    const answers = (await Promise.all(flood)).filter((answer) => answer !== undefined);
    expect(answers.length).to.be.greaterThan(0);
    for (const answer of answers) expect(answer).to.deep.equal(['error', 'hello', 403, 'HMAC authentication failed']);
    const { peers } = (await owner.expect(200, 'GET', '/api/peers')).body;
    expect(peers.every(({ authenticated }: { authenticated: boolean }) => authenticated)).to.equal(true);
    expect((await statusOf(two)).connected_peers).to.equal(1);
  });

  it('works without ephemeral keys and without an identity, and shows that there is none', async () => {
    const peer = rawPeer();
    const link = await met(peer, { expected: nodeOne, without: ['ephemeral_pubkey', 'public_key', 'identity_signature'] });
    expect(await link.ask({ method: 'ping' })).to.deep.include({ method: 'pong' });
    expect((await owner.expect(200, 'GET', `/api/peers/${peer.nodeId}`)).body).to.deep.include({ identity: 'none', fingerprint: null });
  });

  it('says that it shuts down, and is met again when it is back', async () => {
    const link = await met();
    const home = one.kernel.home;
    expect(home).to.be.a('string');
    await one.kernel.stop();
    let last = await link.read();
    while (last && last.event !== 'shutting_down') last = await link.read();
    expect(last).to.deep.include({ type: 'notification', event: 'shutting_down' });
    await until(async () => (await statusOf(two)).connected_peers === 0);
    expect((await two.http.expect(200, 'GET', `/api/peers/${nodeOne}`)).body).to.deep.include({ state: 'disconnected', agents: [] });
    await until(async () => String((await statusOf(two)).reason).includes(address));
  });
});
