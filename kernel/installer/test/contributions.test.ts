import {
  type ExtensionDefinition,
  Type,
  defineAnswerProjection,
  defineCapability,
  defineConfig,
  defineEvent,
  defineFrames,
  definePipe,
  defineRoute,
  defineService,
  defineSocket,
  defineStreamProjection,
  defineTool,
  defineVeto,
  defineWork,
  defineWorker,
  method,
  reply,
  streamMethod,
} from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { expect } from 'chai';
import { deriveContributions, namesOf } from '../src/contributions.js';

const NoteFrames = defineFrames('notes', '1.0.0', { frames: { line: Type.String(), done: Type.Null() }, final: ['done'] });
const contract = {
  Notes: defineService('notes', '1.2.0', { add: method([Type.String()], Type.Integer()), lines: streamMethod([], Type.String()) }),
  NoteAdded: defineEvent('note.added', '1.0.0', Type.Object({ id: Type.Integer() })),
  NoteBefore: defineVeto('note.before', '1.0.0', { policy: 'closed', budgetMs: 50, callable: true, subject: Type.String() }),
  NoteWork: defineWork('notes.copy', '1.0.0', { input: Type.Null(), result: Type.Null() }),
  NoteFrames,
  maxNotes: 5,
  helper: () => 'acts',
};
/** Registered, but exported to nobody. */
const NoteText = definePipe('note.text', '2.0.0', { policy: 'open', budgetMs: 50, value: Type.String(), context: Type.Undefined() });
const NoteSse = defineStreamProjection('notes.sse', '1.0.0', { format: NoteFrames, contentType: 'text/event-stream', args: Type.Undefined() });
const NoteAnswer = defineAnswerProjection('notes.answer', '1.0.0', { format: NoteFrames, args: Type.Undefined() });
const Section = defineConfig('notes', Type.Object({ max: Type.Integer({ default: 9 }) }));

const listNotes = defineRoute({
  id: 'listNotes',
  method: 'GET',
  path: '/api/notes',
  summary: 'All notes',
  auth: 'bearer',
  permission: 'notes.read',
  cost: 2,
  query: Type.Object({ limit: Type.Integer({ default: 20 }) }),
  responses: { 200: Type.Array(Type.String()) },
  errorShape: { under: '/api/', body: () => ({}) },
  handler: async () => reply(200, []),
});
const followNotes = defineSocket({
  id: 'followNotes',
  path: '/api/notes/ws',
  summary: 'Notes as they come',
  auth: 'bearer',
  permission: 'notes.read',
  cost: 5,
  upgrade: async () => undefined,
  message: () => undefined,
});

const manifest: Manifest = { manifest: 1, id: 'notes', api: '^0.1.0', config: [{ section: 'notes' }] };
const definition: ExtensionDefinition = {
  contract,
  config: [Section],
  workers: [defineWorker('notes.count', { input: Type.String(), output: Type.Integer() })],
  migrations: [{ name: '0001_init', replaces: ['0000_draft'], up: (m) => m.createTable('notes', { id: { kind: 'text', primaryKey: true } }) }],
  activate(ctx) {
    ctx.routes.add(listNotes);
    ctx.sockets.add(followNotes);
    ctx.tools.add(
      defineTool({ name: 'note_add', description: 'Adds a note.', params: Type.Object({ text: Type.String() }), risk: 'write', replay: 'never', parallel: false, run: async () => 'added' }),
    );
    ctx.services.provide(contract.Notes, {
      add: () => 1,
      lines: async function* () {
        yield* [];
      },
    });
    ctx.hooks.define(contract.NoteBefore);
    ctx.hooks.define(NoteText);
    ctx.streams.project(NoteSse, { encode: () => undefined });
    ctx.streams.answer(NoteAnswer, { answer: () => reply(200, {}) });
    ctx.timers.every('forget-notes', 1_000 * ctx.config.get(Section).max, () => undefined);
  },
};
const derive = (over: Partial<ExtensionDefinition> = {}, said: Partial<Manifest> = {}) => deriveContributions({ ...definition, ...over }, { ...manifest, ...said }, '1.0.0');

const rejection = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  );

describe('what an extension contributes', () => {
  it('is every declaration of its contract and every one that it registers, each once', async () => {
    const { declares } = await derive();
    expect(declares.map(({ declares: kind, name, version }) => `${kind} ${name}@${version}`)).to.deep.equal([
      'event note.added@1.0.0',
      'frames notes@1.0.0',
      'hook note.before@1.0.0',
      'hook note.text@2.0.0',
      'projection notes.answer@1.0.0',
      'projection notes.sse@1.0.0',
      'service notes@1.2.0',
      'work notes.copy@1.0.0',
    ]);
  });

  it('is enough to validate by: schemas of arguments, answers, subjects, data and frames', async () => {
    const { declares } = await derive();
    const found = (name: string, kind: string) => declares.find((one) => one.name === name && one.declares === kind);
    expect(found('notes', 'service')).to.deep.include({ methods: { add: { args: [{ type: 'string' }], result: { type: 'integer' } }, lines: { args: [], frame: { type: 'string' } } } });
    expect(found('note.before', 'hook')).to.deep.include({ kind: 'veto', policy: 'closed', budgetMs: 50, callable: true, subject: { type: 'string' } });
    expect(found('note.added', 'event')).to.have.deep.nested.property('data.properties', { id: { type: 'integer' } });
    expect(found('notes', 'frames')).to.deep.include({ frames: { line: { type: 'string' }, done: { type: 'null' } }, final: ['done'] });
    expect(found('notes.sse', 'projection')).to.include({ format: 'notes@1.0.0', contentType: 'text/event-stream', kind: 'stream' });
  });

  it('is enough to mount, document, authorise and price by, without anything that handles it', async () => {
    const { routes, sockets, tools, ...rest } = await derive();
    const { handler: _handler, errorShape: _shape, ...route } = listNotes;
    expect(routes).to.deep.equal([{ ...JSON.parse(JSON.stringify(route)), errorShape: { under: '/api/' } }]);
    expect(sockets).to.deep.equal([{ id: 'followNotes', path: '/api/notes/ws', summary: 'Notes as they come', auth: 'bearer', permission: 'notes.read', cost: 5 }]);
    expect(tools).to.have.length(1);
    expect(tools[0]).to.include({ name: 'note_add', risk: 'write', replay: 'never' }).and.to.not.have.any.keys('run', 'writes');
    expect(rest).to.deep.include({
      migrations: [{ name: '0001_init', replaces: ['0000_draft'], steps: [{ do: 'createTable', with: ['notes', { id: { kind: 'text', primaryKey: true } }] }] }],
      workers: [{ name: 'notes.count', input: { type: 'string' }, output: { type: 'integer' } }],
    });
    expect(rest.config).to.have.deep.nested.property('notes.properties.max', { type: 'integer', default: 9 });
    expect(rest.timers).to.have.length(1);
    expect(rest.timers[0]).to.include({ name: 'forget-notes' });
  });

  it('says the same whatever the order in which it is registered', async () => {
    const activate: ExtensionDefinition['activate'] = (ctx) => {
      ctx.hooks.define(NoteText);
      ctx.streams.answer(NoteAnswer, { answer: () => reply(200, {}) });
      ctx.streams.project(NoteSse, { encode: () => undefined });
    };
    const reversed: ExtensionDefinition['activate'] = (ctx) => {
      ctx.streams.project(NoteSse, { encode: () => undefined });
      ctx.streams.answer(NoteAnswer, { answer: () => reply(200, {}) });
      ctx.hooks.define(NoteText);
    };
    const backwards = Object.fromEntries(Object.entries(contract).reverse());
    expect(JSON.stringify(await derive({ activate }))).to.equal(JSON.stringify(await derive({ activate: reversed, contract: backwards })));
  });

  it('has names, which is what the daemon keeps', async () => {
    const names = namesOf(await derive());
    expect(names).to.deep.include({ routes: ['GET /api/notes'], sockets: ['/api/notes/ws'], tools: [{ name: 'note_add', risk: 'write', replay: 'never' }], migrations: ['0001_init'] });
  });

  it('has capabilities whole: by them manifests are read and calls validated without its code', async () => {
    const Read = defineCapability('notes_read', '1.0.0', { description: 'Read notes', grant: 'names' });
    const all = await derive({ capabilities: [Read], contract: { ...contract, Read } }, { capabilities: ['notes_read'] });
    expect(all.declares.filter(({ declares }) => declares === 'capability')).to.deep.equal([{ ...Read }]);
    expect(namesOf(all).capabilities).to.deep.equal([{ ...Read }]);
    expect(namesOf(await derive()).capabilities).to.deep.equal([]);
  });

  describe('is refused', () => {
    it('where the capabilities of code, contract and extension.json are not the same, or have a name that is not theirs', async () => {
      const Read = defineCapability('notes_read', '1.0.0', { description: 'Read notes', grant: 'names' });
      const claims = { capabilities: ['notes_read'] };
      expect(await rejection(derive({}, claims))).to.match(/extension.json names the capability "notes_read", which the code does not declare: list its defineCapability/);
      expect(await rejection(derive({ capabilities: [Read] }))).to.equal('the code declares the capability "notes_read", which extension.json does not name under "capabilities"');
      expect(await rejection(derive({ capabilities: [Read, Read] }, claims))).to.equal('declares the capability notes_read twice');
      expect(await rejection(derive({ contract: { ...contract, Read } }))).to.match(/the contract exports the capability "notes_read", which is not listed/);
      expect(await rejection(derive({ capabilities: [{ ...Read, name: 'shell' }] }, { capabilities: ['shell'] }))).to.equal("declares the capability shell, which is the interface's own");
      expect(await rejection(derive({ capabilities: [{ ...Read, declares: JSON.parse('"table"') }] }, claims))).to.equal('declares the capability notes_read by something else than defineCapability');
    });

    it('where extension.json claims a section that the code gives no schema for, and the other way round', async () => {
      expect(await rejection(derive({ config: [] }))).to.equal('extension.json claims the config section "notes", but the code gives no schema for it');
      expect(await rejection(derive({}, { config: [] }))).to.equal('the code gives a schema for the config section "notes", which extension.json does not claim');
    });

    it('where a route is there twice', async () => {
      expect(await rejection(derive({ activate: (ctx) => void ctx.routes.add(listNotes, { ...listNotes, id: 'listAgain' }) }))).to.equal('declares the route GET /api/notes twice');
    });

    it('where two timers have one name', async () => {
      const twice: ExtensionDefinition['activate'] = (ctx) => {
        ctx.timers.every('beat', 1, () => undefined);
        ctx.timers.after('beat', 1, () => undefined);
      };
      expect(await rejection(derive({ activate: twice }))).to.equal('has two timers called beat');
    });
  });
});
