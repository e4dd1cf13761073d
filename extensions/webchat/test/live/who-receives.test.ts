/** F3: nobody hears of what they may not read. */
import type { TestHttp, TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { bootPeople, KEYS, keepPeople, type LiveSocket, openLive } from './live-kit.js';

type Person = keyof typeof KEYS;

describe('who hears of a change', () => {
  let kernel: TestKernel;
  const opened: LiveSocket[] = [];
  beforeEach(async () => {
    ({ kernel } = await bootPeople({ alice: 'user', bob: 'user', vera: 'viewer', adam: 'admin' }));
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) one.leave();
    await stopModelKernels();
  });

  const open = async (name: Person, after?: string): Promise<LiveSocket> => {
    const live = await openLive(kernel.url, { key: KEYS[name], ...(after === undefined ? {} : { after }) });
    opened.push(live);
    return live;
  };
  const as = (name: Person): TestHttp => kernel.as(KEYS[name]);
  const spawn = async (name: Person): Promise<string> => (await as(name).expect(201, 'POST', '/api/agents', { manifest_toml: `name = "of-${name}"\n` })).body.agent_id;
  /** Everything that one person does, up to something that all hear of. */
  const live = async (name: Person): Promise<void> => {
    const id = await spawn(name);
    await as(name).expect(200, 'POST', `/api/agents/${id}/message`, { message: 'hello' });
    const { session_id: session } = (await as(name).expect(200, 'POST', `/api/agents/${id}/sessions`, {})).body;
    await as(name).expect(200, 'PUT', `/api/sessions/${session}/label`, { label: 'mine' });
    await as(name).expect(200, 'PUT', `/api/agents/${id}/files/a.md`, { content: 'x' });
    await as(name).expect(200, 'DELETE', `/api/sessions/${session}`);
    await as(name).expect(200, 'DELETE', `/api/agents/${id}`);
    kernel.daemon.parts.events.deliver('provider.changed', { name: `after-${name}` });
  };
  const receivedOf = async (socket: LiveSocket, name: Person): Promise<string[]> => {
    await socket.until(({ id }) => id === `after-${name}`);
    return [...new Set(socket.received().map((words) => words.split(' ')[0] as string))].sort();
  };

  it('is its owner, and whoever sees everything; a foreign owner hears nothing, live or afterwards', async () => {
    const [owner, alice, bob, vera] = [await open('owner'), await open('alice'), await open('bob'), await open('vera')];
    const place = bob.place();
    await live('alice');
    const all = ['agent', 'files', 'provider', 'run', 'session'];
    expect(await receivedOf(owner, 'alice')).to.deep.equal(all);
    expect(await receivedOf(alice, 'alice')).to.deep.equal(all);
    expect(await receivedOf(bob, 'alice')).to.deep.equal(['provider']);
    expect(await receivedOf(vera, 'alice')).to.deep.equal(['provider']);
    expect(await receivedOf(await open('bob', place), 'alice')).to.deep.equal(['provider']);
    expect(await receivedOf(await open('alice', place), 'alice')).to.deep.equal(all);
  });

  it('is whoever may read the like: a user hears nothing of the vault', async () => {
    const [owner, alice] = [await open('owner'), await open('alice')];
    kernel.daemon.parts.events.deliver('vault.reset', {});
    kernel.daemon.parts.events.deliver('provider.changed', { name: 'after-owner' });
    expect(await receivedOf(owner, 'owner')).to.include('vault');
    expect(await receivedOf(alice, 'owner')).to.not.include('vault');
  });

  it('is the owner of an item alone, of a collection of an area that the page knows nothing of', async () => {
    const [owner, alice, bob] = [await open('owner'), await open('alice'), await open('bob')];
    const { id } = (await as('alice').expect(200, 'POST', '/api/goals', { title: 'A garden' })).body;
    kernel.daemon.parts.events.deliver('provider.changed', { name: 'after-alice' });
    const goalsOf = async (socket: LiveSocket) => {
      await socket.until((frame) => frame.id === 'after-alice');
      return socket.frames.filter(({ what }) => what === 'goals.changed').map(({ seq: _, type: __, ...shown }) => shown);
    };
    expect(await goalsOf(alice)).to.deep.equal([{ what: 'goals.changed', id, state: 'created' }]);
    expect(await goalsOf(owner)).to.have.length(1);
    expect(await goalsOf(bob)).to.deep.equal([]);
  });

  it('is nobody where an event that belongs to somebody does not say to whom', async () => {
    const owner = await open('owner');
    kernel.daemon.parts.events.deliver('goals.changed', { id: 'g1', change: 'created' });
    kernel.daemon.parts.events.deliver('goals.changed', { id: 'g2', ownerId: 7, change: 'created' });
    kernel.daemon.parts.events.deliver('provider.changed', { name: 'after-owner' });
    await owner.until(({ id }) => id === 'after-owner');
    expect(owner.frames.filter(({ what }) => what === 'goals.changed')).to.deep.equal([]);
  });

  it('is nobody without a key, and nobody whose key was taken away: the socket closes with 4401, and others stay', async () => {
    expect((await kernel.as('no-key').get('/api/live')).status).to.equal(401);
    const [alice, bob] = [await open('alice'), await open('bob')];
    await keepPeople(kernel, { bob: 'user' });
    expect(await alice.closed).to.equal(4401);
    const id = await spawn('bob');
    await bob.until((frame) => frame.id === id);
    expect(alice.frames.some((frame) => frame.id === id)).to.equal(false);
    expect(bob.frames.some(({ what }) => what === 'auth')).to.equal(true);
  });

  it('is validated by the role of now: an admin who becomes a user hears nothing of others any more, over the same socket', async () => {
    const adam = await open('adam');
    const before = await spawn('bob');
    await adam.until((frame) => frame.id === before);
    await keepPeople(kernel, { alice: 'user', bob: 'user', adam: 'user' });
    await live('alice');
    await adam.until(({ id }) => id === 'after-alice');
    expect(adam.frames.filter(({ what, id }) => ['agent', 'run', 'session'].includes(what) && id !== before)).to.deep.equal([]);
    expect(adam.frames.filter(({ type }) => type === 'hello')).to.have.length(1);
  });

  it('is the same after auth was loaded anew', async () => {
    const [alice, bob] = [await open('alice'), await open('bob')];
    await kernel.daemon.kernel.reload('auth');
    await live('bob');
    expect(await receivedOf(bob, 'bob')).to.include.members(['agent', 'run']);
    expect(await receivedOf(alice, 'bob')).to.deep.equal(['provider']);
  });
});
