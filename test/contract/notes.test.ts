/** The fixture area `notes`: what an area of owned rows costs, and that it keeps what every area promises. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineExtension } from '@svc/api';
import { describeDaemonOnEngines, describeExtension, describeOnEngines, fixtureArea, fixtureExtension, OPEN_RATE, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { Notes } from '../../fixtures/areas/notes/src/contract.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';

const MAX_LINES = 90;
const MAX_FILES = 6;
const KEYS = { owner: 'notes-root-key', alice: 'notes-alice-key', bob: 'notes-bob-key' };
const area = await fixtureArea('notes');

const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const configWith = (more = ''): string => `api_key = "${KEYS.owner}"\n${OPEN_RATE}[extensions]\nenable = ["notes"]\n${person('alice')}${person('bob')}${more}`;
const draft = (text: string, topic = 'home') => ({ topic, text });

interface Received {
  readonly change: string;
  readonly id: string;
  readonly ownerId: string;
}

interface World extends ModelKernel {
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly received: Received[];
  write(http: TestHttp, text: string, topic?: string): Promise<string>;
  rows(ownerId: string): Promise<number>;
}

const listener = (received: Received[]) =>
  fixtureExtension({
    id: 'listener',
    manifest: { events: { listens: [Notes.changed.name] } },
    definition: defineExtension({
      activate: (ctx) => {
        ctx.events.on(Notes.changed, (data) => void received.push(data));
      },
    }),
  });

const open = async (more?: string): Promise<World> => {
  const received: Received[] = [];
  const world = await bootWithModel(undefined, { config: configWith(more), key: KEYS.owner, extra: [area.installed, listener(received)] });
  const { kernel } = world;
  await kernel.daemon.kernel.enable('listener');
  const db = kernel.daemon.parts.storage.dbFor({ id: 'notes', tables: ['notes'] });
  return {
    ...world,
    received,
    alice: kernel.as(KEYS.alice),
    bob: kernel.as(KEYS.bob),
    write: async (http, text, topic) => (await http.expect(201, 'POST', '/api/notes', draft(text, topic))).body.id,
    rows: (ownerId) => db.system('a test').count('notes', { owner_id: ownerId }),
  };
};

const texts = async (http: TestHttp, path = '/api/notes'): Promise<string[]> => (await http.expect(200, 'GET', path)).body.notes.map(({ text }: { text: string }) => text);
const reconfigure = async (kernel: TestKernel, more: string): Promise<void> => {
  await writeFile(join(kernel.home, 'config.toml'), configWith(more));
  await kernel.daemon.reloadConfig('test');
};

describe('the area notes', () => {
  it(`is written in at most ${MAX_LINES} lines and ${MAX_FILES} files`, () => {
    const files = readdirSync(area.sources, { recursive: true, encoding: 'utf8' }).filter((file) => file !== 'contributions.json' && statSync(join(area.sources, file)).isFile());
    const lines = files.map((file) => readFileSync(join(area.sources, file), 'utf8').split('\n').length - 1);
    expect(files).to.include.members(['extension.json', 'package.json', 'README.md', 'src/contract.ts', 'src/index.ts']);
    expect(files.length).to.be.at.most(MAX_FILES);
    expect(lines.reduce((sum, count) => sum + count, 0)).to.be.at.most(MAX_LINES);
  });

  it('is what kernel/api/README.md shows, word by word', () => {
    const readme = readFileSync(join(area.sources, '../../../kernel/api/README.md'), 'utf8');
    const shown = [...readme.matchAll(/^```(?:json|ts)\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file, text]) => ({ file, pieces: (text ?? '').split(/\n{2,}/) }));
    expect(shown.map(({ file }) => file)).to.deep.equal(['package.json', 'extension.json', 'src/contract.ts', 'src/index.ts']);
    for (const { file = '', pieces } of shown) for (const piece of pieces) expect(readFileSync(join(area.sources, file), 'utf8'), file).to.contain(piece);
  });
});

describeOnEngines('the area notes', ({ name }) => {
  describeExtension('notes', { sources: area.sources, bundle: area.bundle, boot: { extra: [area.installed] }, isOnSecondDatabase: name !== 'SQLite' });
});

describeDaemonOnEngines('notes', function () {
  this.timeout(30_000);
  let world: World;
  afterEach(stopModelKernels);

  describe('as shipped', () => {
    beforeEach(async () => {
      world = await open();
    });

    it('of one person are neither seen, changed nor deleted by another', async () => {
      const { alice, bob, received } = world;
      const id = await world.write(alice, 'the heron nests');
      expect(await texts(bob)).to.deep.equal([]);
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', draft('mine now')],
        ['DELETE', undefined],
      ] as const) {
        const { status, body: said, text } = await bob.send(method, `/api/notes/${id}`, body);
        expect([status, said.code], method).to.deep.equal([404, 'notes_not_found']);
        expect(text).to.not.contain('heron');
      }
      expect(await texts(alice)).to.deep.equal(['the heron nests']);
      expect(received.map(({ change }) => change)).to.deep.equal(['created']);
    });

    it('are created, read, changed and deleted, and each change is told once', async () => {
      const { alice, received } = world;
      const id = await world.write(alice, 'one');
      const [{ ownerId }] = received as [Received];
      await alice.expect(200, 'PUT', `/api/notes/${id}`, draft('two', 'work'));
      expect((await alice.expect(200, 'GET', `/api/notes/${id}`)).body).to.include({ id, owner_id: ownerId, topic: 'work', text: 'two' });
      await alice.expect(200, 'DELETE', `/api/notes/${id}`);
      await alice.expect(404, 'GET', `/api/notes/${id}`);
      expect(received).to.deep.equal(['created', 'updated', 'deleted'].map((change) => ({ change, id, ownerId })));
    });

    it('are written once per key: the same request gets the same answer, another one 409, another person a note of their own', async () => {
      const { alice, bob, received } = world;
      const key = { 'idempotency-key': 'note-1' };
      const first = await alice.expect(201, 'POST', '/api/notes', draft('once'), key);
      const again = await alice.expect(201, 'POST', '/api/notes', draft('once'), key);
      expect(again.body).to.deep.equal(first.body);
      await alice.expect(409, 'POST', '/api/notes', draft('twice'), key);
      expect((await bob.expect(201, 'POST', '/api/notes', draft('once'), key)).body.id).to.not.equal(first.body.id);
      expect([await texts(alice), received.length]).to.deep.equal([['once'], 2]);
    });

    it('are listed in pages that repeat and lose none while notes come and go', async () => {
      const { alice } = world;
      const ids: string[] = [];
      for (let n = 0; n < 25; n++) ids.push(await world.write(alice, `note ${n}`));
      const seen: string[] = [];
      let pages = 0;
      for (let after: string | null = ''; after !== null; pages++) {
        const { body } = await alice.expect(200, 'GET', `/api/notes?limit=10${after && `&after=${encodeURIComponent(after)}`}`);
        seen.push(...body.notes.map(({ text }: { text: string }) => text));
        after = body.next;
        // One in front of what was read, and one that was read goes.
        await world.write(alice, `later ${pages}`);
        await alice.expect(200, 'DELETE', `/api/notes/${ids.pop()}`);
      }
      expect(pages).to.equal(3);
      expect(seen.sort()).to.deep.equal(Array.from({ length: 25 }, (_, n) => `note ${n}`).sort());
      expect((await alice.get('/api/notes?after=nonsense')).status).to.equal(400);
    });

    it('go with their owner, also when the area is off meanwhile, and nobody else’s do', async () => {
      const { alice, bob, received, kernel } = world;
      await world.write(alice, 'hers');
      await world.write(bob, 'his');
      const [hers, his] = received.map(({ ownerId }) => ownerId) as [string, string];
      await kernel.daemon.kernel.disable('notes');
      expect((await alice.get('/api/notes')).status).to.equal(404);
      const { purges } = kernel.daemon.parts;
      expect(await purges.purge({ ownerId: hers })).to.deep.include({ complete: false, waiting: ['notes'] });
      expect(await world.rows(hers)).to.equal(1);
      await kernel.daemon.kernel.enable('notes');
      expect([await world.rows(hers), await world.rows(his)]).to.deep.equal([0, 1]);
      expect([await texts(alice), await texts(bob)]).to.deep.equal([[], ['his']]);
    });

    it('are told to an agent by its tool: those of its owner, on topics that its manifest lets it read', async () => {
      const { alice, bob, model } = world;
      await world.write(alice, 'water the plants');
      await world.write(alice, 'ask for a raise', 'work');
      await world.write(bob, 'feed the cat');
      const spawn = async (manifest: object): Promise<string> => (await alice.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;
      const use = async (agentId: string, topic: string) => {
        model.script([{ toolCalls: [{ name: 'note_list', args: { topic } }] }, { text: 'done' }]);
        const from = model.requests.length;
        await alice.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'look' });
        return { offered: JSON.stringify(model.requests[from]?.body.tools ?? []).includes('note_list'), reported: JSON.stringify(model.requests.at(-1)?.body.messages) };
      };
      const reader = await spawn({ name: 'reader', capabilities: { tools: ['note_list'], memory_read: ['notes/home'] } });
      const home = await use(reader, 'home');
      expect([home.offered, home.reported]).to.satisfy(
        ([offered, reported]: [boolean, string]) => offered && reported.includes('water the plants') && !reported.includes('feed the cat') && !reported.includes('raise'),
      );
      const work = await use(reader, 'work');
      expect(work.reported).to.contain('notes/work').and.not.contain('raise');
      const other = await spawn({ name: 'other', capabilities: { tools: ['note_list'] } });
      expect((await use(other, 'home')).offered).to.equal(false);
    });
  });

  it('are as long as the setting says, from the moment that it does; a setting that is none is named and the last good one holds', async () => {
    const { alice, kernel } = await open('[notes]\nmax_chars = 10\n');
    const refused = await alice.expect(400, 'POST', '/api/notes', draft('eleven char'));
    expect(refused.body.code).to.equal('notes_too_long');
    const { id } = (await alice.expect(201, 'POST', '/api/notes', draft('ten chars.'))).body;
    await alice.expect(400, 'PUT', `/api/notes/${id}`, draft('eleven char'));
    await reconfigure(kernel, '[notes]\nmax_chars = 11\n');
    await alice.expect(200, 'PUT', `/api/notes/${id}`, draft('eleven char'));
    for (const bad of ['max_chars = 0', 'max_chars = 50001', 'max_chars = "many"']) {
      await reconfigure(kernel, `[notes]\n${bad}\n`);
      expect(
        kernel.daemon.kernel
          .configProblems()
          .map(({ key }) => key)
          .join(),
        bad,
      ).to.match(/^notes/);
      await alice.expect(400, 'POST', '/api/notes', draft('twelve chars'));
      await alice.expect(201, 'POST', '/api/notes', draft('eleven char'));
    }
  });

  it('stay when the area is switched off and on', async () => {
    world = await open();
    const { alice, kernel } = world;
    await world.write(alice, 'still here');
    await kernel.daemon.kernel.disable('notes');
    expect((await alice.get('/api/notes')).status).to.equal(404);
    await kernel.daemon.kernel.enable('notes');
    expect(await texts(alice)).to.deep.equal(['still here']);
  });
});
