/** Commands of an extension that runs in a process of its own: in the command line as long as it is installed, and none of its code with them. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, ownerKeyOf, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type Bench, createBench, type Ran } from '../../kernel/cli/test/program.js';

const ID = 'acme-goals';
const CONFIG = `${OPEN_RATE}[extensions]\nthird_party = "any"\nisolation = "isolated"\n`;
const BEFORE = `const T = api.Type;
  const Goal = T.Object({ id: T.String(), title: T.String(), kind: T.String(), weight: T.Integer(), tags: T.Array(T.String()), done: T.Boolean(), due: T.Union([T.String(), T.Null()]), port: T.Integer(), made_at: T.String() });
  const one = { path: '/api/acme-goals/{id}', params: T.Object({ id: T.String() }) };
  const usual = { auth: 'bearer', permission: 'acme.write', cost: 1, summary: 'Goals' };`;
const ACTIVATE = `const goals = new Map();
  ctx.routes.add(
    api.defineRoute({ ...usual, id: 'listAims', method: 'GET', path: '/api/acme-goals', query: T.Object({ kind: T.Optional(T.String()), limit: T.Integer({ default: 2 }), offset: T.Integer({ default: 0 }) }), responses: { 200: T.Object({ goals: T.Array(Goal), total: T.Integer(), offset: T.Integer() }) },
      handler: async ({ query }) => { const all = [...goals.values()].filter(({ kind }) => query.kind === undefined || kind === query.kind); return api.reply(200, { goals: all.slice(query.offset, query.offset + query.limit), total: all.length, offset: query.offset }); } }),
    api.defineRoute({ ...usual, id: 'createAim', method: 'POST', path: '/api/acme-goals', responses: { 201: Goal },
      body: T.Object({ title: T.String({ minLength: 2 }), kind: api.OneOf(['life', 'work'], { default: 'work', description: 'Where it belongs' }), weight: T.Integer({ default: 1 }), tags: T.Array(T.String(), { default: [] }), done: T.Boolean({ default: false }), due: T.Union([T.String(), T.Null()], { default: null }), port: T.Integer({ default: 0 }) }),
      handler: async ({ body }) => { const goal = { id: 'g' + (goals.size + 1), ...body, made_at: ctx.clock.iso() }; goals.set(goal.id, goal); return api.reply(201, goal); } }),
    api.defineRoute({ ...usual, ...one, id: 'getAim', method: 'GET', responses: { 200: Goal }, handler: async ({ params }) => api.reply(200, goals.get(params.id)) }),
    api.defineRoute({ ...usual, ...one, id: 'deleteAim', method: 'DELETE', responses: { 200: T.Object({ id: T.String() }) }, handler: async ({ params }) => { goals.delete(params.id); return api.reply(200, { id: params.id }); } }),
  );`;
const COMMANDS = [
  {
    command: 'aims list',
    summary: 'goals, oldest first',
    operation: 'listAims',
    output: {
      kind: 'table',
      rows: 'goals',
      columns: [{ field: 'id' }, { field: 'title', shrinks: true }, { field: 'weight', format: 'number' }, { field: 'made_at', title: 'MADE', format: 'ago' }],
      empty: 'There are no goals.',
    },
  },
  { command: 'aims show', summary: 'one goal', operation: 'getAim', output: { kind: 'record', fields: ['title', 'tags', 'due', 'done'] } },
  { command: 'aims create', summary: 'a new goal', operation: 'createAim', args: ['title'], output: { kind: 'line', text: 'Goal {id} is {title}.' } },
  { command: 'aims delete', summary: 'delete one', operation: 'deleteAim', confirm: 'Delete the goal {id}?', output: { kind: 'line', text: 'Goal {id} is deleted.' } },
];

const COMPLETION = { name: 'aims', fields: ['id'], operation: 'listAims', rows: 'goals', value: 'id' };

const spec = (commandWords: readonly object[] = [{ word: 'aims', summary: 'what agents work towards' }], commands: readonly object[] = COMMANDS, completions: readonly object[] = [COMPLETION]) => ({
  id: ID,
  before: BEFORE,
  activate: ACTIVATE,
  rest: `commands: ${JSON.stringify(commands)}, commandWords: ${JSON.stringify(commandWords)}, completions: ${JSON.stringify(completions)},`,
});

describe('commands of an extension in a process of its own', function () {
  this.timeout(60_000);
  let home: string;
  let kernel: TestKernel;
  let bench: Bench;

  const packaged = async (made = spec()): Promise<string> => {
    const one = await thirdParty(made);
    await writeFile(join(one.folder, 'package.json'), JSON.stringify({ name: `@acme/${one.id}`, version: one.version, description: 'Goals of agents.', license: 'MIT' }));
    await writeFile(join(one.folder, 'contributions.json'), JSON.stringify(one.contributions));
    return one.folder;
  };
  const svc = (...args: string[]): Promise<Ran> => bench.run(args, { env: { SVC_HOME: home, SVC_PORT: new URL(kernel.url).port, SVC_API_KEY: ownerKeyOf(home) ?? '' } });
  const ok = async (...args: string[]): Promise<string> => {
    const ran = await svc(...args);
    expect(ran.code, `${args.join(' ')}: ${ran.stderr}`).to.equal(0);
    return ran.stdout;
  };
  const refused = async (...args: string[]): Promise<[number | null, string]> => {
    const { code, stderr } = await svc(...args);
    return [code, stderr];
  };

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'svc-words-')));
    kernel = await bootTestKernel({ home, config: CONFIG });
    bench = createBench(Number(new URL(kernel.url).port));
    const status = await kernel.daemon.kernel.installation.install({ source: await packaged(), enable: true });
    expect(status.state, String(status.reason)).to.equal('active');
  });
  after(async () => {
    bench.clean();
    await stopTestKernels();
    await removeThirdParties();
    await rm(home, { recursive: true, force: true });
  });

  it('call its routes with what was typed, and print as they declare', async () => {
    expect(await ok('aims', 'list')).to.equal('There are no goals.\n');
    expect(await ok('aims', 'create', 'read more', '--kind', 'life', '--weight', '1200', '--tags', 'a', '--tags', 'b', '--done', '--due', 'May', '--field-port', '7')).to.equal(
      '✓ Goal g1 is read more.\n',
    );
    expect(JSON.parse(await ok('aims', 'show', 'g1', '--json'))).to.deep.include({ id: 'g1', title: 'read more', kind: 'life', weight: 1200, tags: ['a', 'b'], done: true, due: 'May', port: 7 });
    expect(await ok('aims', 'show', 'g1')).to.equal('  title  read more\n  tags   a, b\n  due    May\n  done   true\n');
    expect(await ok('aims', 'list')).to.equal('ID  TITLE      WEIGHT  MADE\ng1  read more  1,200   just now\n');
    await ok('aims', 'create', 'x y', '--no-due');
    await ok('aims', 'create', 'third');
    const page = await svc('aims', 'list');
    expect(page.stdout.split('\n')).to.have.length(4);
    expect(page.stderr).to.contain('--offset 2');
    expect(await ok('aims', 'list', '--offset', '2')).to.contain('third');
    expect(await ok('aims', 'list', '--kind', 'life'))
      .to.contain('g1')
      .and.not.contain('g2');
  });

  it('take a whole body from a file, and flags above it', async () => {
    const file = join(home, 'goal.json');
    await writeFile(file, JSON.stringify({ title: 'from a file', weight: 5 }));
    const made = JSON.parse(await ok('aims', 'create', 'by hand', '--file', file, '--json'));
    expect(made).to.deep.include({ title: 'by hand', weight: 5 });
    expect(await refused('aims', 'create', 'x', '--file', join(home, 'nowhere'))).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('it is not there'));
  });

  it('refuse what does not fit before the daemon is asked, and hand on what the daemon refuses', async () => {
    expect(await refused('aims', 'create', 'abc', '--weight', 'heavy')).to.deep.equal([2, 'Error  --weight is "heavy"; a whole number was expected.\n']);
    expect((await refused('aims', 'create', 'abc', '--kind', 'play'))[1]).to.contain('expected one of these: life, work');
    expect((await refused('aims', 'show'))[0]).to.equal(2);
    const [code, text] = await refused('aims', 'create', 'x');
    expect(code).to.equal(1);
    expect(text).to.contain('title');
    expect((await refused('aims', 'creat'))[1]).to.contain('svc aims create');
  });

  it('ask before what they say, and do nothing where nobody answers', async () => {
    const [code, text] = await refused('aims', 'delete', 'g1');
    expect([code, text.split('\n')[0]]).to.deep.equal([2, 'Error  Delete the goal g1? No terminal to answer the question.']);
    await ok('aims', 'show', 'g1');
    expect(await ok('aims', 'delete', 'g1', '--yes')).to.equal('✓ Goal g1 is deleted.\n');
  });

  it('stand in the help and in what Tab offers', async () => {
    expect(await ok('--help')).to.match(/^ +aims +What agents work towards$/m);
    expect(await ok('aims', 'create', '--help'))
      .to.contain('--kind <text>')
      .and.contain('Where it belongs (life, work; default: work)')
      .and.contain('--file <file>');
    expect(await ok('help', 'aims')).to.contain('oldest first');
    const script = await ok('completion', 'bash');
    expect(/^ *'aims show'\).*$/m.exec(script)?.[0]).to.contain("source='aims'");
    expect((await ok('completion', 'aims')).split('\n')).to.include('g2');
    expect(script).to.contain("'aims create')").and.contain('--weight');
  });

  it('say so while it is off, and are gone with it', async () => {
    await kernel.daemon.kernel.disable(ID);
    const [code, text] = await refused('aims', 'list');
    expect(code).to.equal(1);
    expect(text).to.contain('acme-goals is off').and.contain(`svc ext enable ${ID}`);
    await kernel.daemon.kernel.installation.uninstall(ID, { purge: false });
    expect((await refused('aims', 'list'))[0]).to.equal(2);
    const status = await kernel.daemon.kernel.installation.install({ source: await packaged(), enable: true });
    expect(status.state, String(status.reason)).to.equal('active');
  });

  it('may not take a word that svc or another area has', async () => {
    await kernel.daemon.kernel.installation.uninstall(ID, { purge: false });
    const source = await packaged(spec([{ word: 'aims', summary: 'mine' }]));
    const file = join(source, 'contributions.json');
    const { default: built } = await import(file, { with: { type: 'json' } });
    for (const word of ['status', 'agent']) {
      await writeFile(file, JSON.stringify({ ...built, commandWords: [{ word, summary: 'mine' }], commands: COMMANDS.map((one) => ({ ...one, command: one.command.replace('aims', word) })) }));
      const failure = await kernel.daemon.kernel.installation.install({ source }).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure, word).to.deep.include({ code: 'install_command_taken' });
    }
  });
});
