/** Slash commands of an extension that runs in a process of its own: they are listed, answered and taken away like those of svc. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-dice';
const BEFORE = `const T = api.Type;
  const errors = api.defineErrors('acme_dice', { missing: { status: 404, retry: false, message: (id) => 'There is no roll ' + id + '.' } });
  const Rolls = api.defineCollection({ area: '${ID}', one: 'roll', path: '/api/${ID}', fields: T.Object({ sides: T.Integer() }), list: {}, missing: errors.missing });`;
const ACTIVATE = `const rolls = api.openCollection(ctx, Rolls);
  ctx.routes.add(...rolls.routes);
  ctx.slashCommands.add(
    api.defineSlashCommand({ name: 'roll', aliases: ['dice'], usage: '/roll [SIDES]', summary: 'Roll a die', permission: 'runs.send', takes: 'text', order: 5,
      run: async ({ actor, agentId, sessionId, args, signal }) => {
        await rolls.create(actor, { sides: Number(args || 6) });
        const { total } = await rolls.list(actor, { limit: 1 });
        return { message: 'You rolled ' + total + ' times.', data: { agent_id: agentId, session_id: sessionId, aborted: signal.aborted } };
      } }),
    api.defineSlashCommand({ name: 'cheat', usage: '/cheat', summary: 'Answer with something else', permission: 'runs.send', run: async () => ({ message: 7 }) }),
  );`;
const REST = 'collections: [Rolls],';

describe('slash commands of an extension in a process of its own', function () {
  this.timeout(60_000);
  let home: string;
  let kernel: TestKernel;
  let agent: { id: string; session_id: string };

  const packaged = async (change: (built: object) => object = (built) => built): Promise<string> => {
    const one = await thirdParty({ id: ID, manifest: { tables: ['rolls'], events: { publishes: ['rolls.changed'] } }, before: BEFORE, activate: ACTIVATE, rest: REST });
    await writeFile(join(one.folder, 'package.json'), JSON.stringify({ name: `@acme/${ID}`, version: one.version, description: 'Dice.', license: 'MIT' }));
    await writeFile(join(one.folder, 'contributions.json'), JSON.stringify(change(one.contributions)));
    return one.folder;
  };
  const install = async (source: string) => kernel.daemon.kernel.installation.install({ source, enable: true });
  const refusal = (source: string): Promise<{ code: string; message: string } | undefined> =>
    install(source).then(
      () => undefined,
      (error: { code: string; message: string }) => error,
    );
  const send = (message: string) => kernel.http.post(`/api/agents/${agent.id}/message`, { message });

  before(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'svc-slash-')));
    kernel = await bootTestKernel({ home, config: `${OPEN_RATE}[extensions]\nthird_party = "any"\nisolation = "isolated"\n` });
    [agent = { id: '', session_id: '' }] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
    const status = await install(await packaged());
    expect(status.state, String(status.reason)).to.equal('active');
  });
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
    await rm(home, { recursive: true, force: true });
  });

  it('stand in the list and in the help, where their order says', async () => {
    const { commands } = (await kernel.http.expect(200, 'GET', '/api/commands')).body;
    expect(commands.map(({ name }: { name: string }) => name).slice(0, 3)).to.deep.equal(['help', 'roll', 'new']);
    expect((await kernel.http.expect(200, 'GET', '/api/commands/dice')).body).to.deep.equal({
      cmd: '/roll',
      name: 'roll',
      desc: 'Roll a die',
      usage: '/roll [SIDES]',
      aliases: ['dice'],
      source: 'builtin',
      permission: 'runs.send',
    });
    expect((await send('/help')).body.response).to.match(/^\/roll \[SIDES\] +Roll a die$/m);
  });

  it('are answered by their process, on behalf of whoever sent them', async () => {
    const first = await send('/roll 20');
    expect(first.body.response, first.text).to.equal('You rolled 1 times.');
    expect((await send('/DICE')).body).to.include({ response: 'You rolled 2 times.', session_id: agent.session_id });
    expect((await kernel.http.expect(200, 'GET', `/api/${ID}`)).body.total).to.equal(2);
    expect((await send('/rol')).body.error).to.contain('Did you mean /roll');
  });

  it('are refused where the answer is not what a command answers', async () => {
    const { status, body } = await send('/cheat');
    expect([status, body.code]).to.deep.equal([502, 'command_bad_answer']);
    expect(body.error).to.contain('/cheat').and.contain('message');
  });

  it('go when the extension is switched off', async () => {
    await kernel.daemon.kernel.disable(ID);
    const { status, body } = await send('/roll');
    expect([status, body.code]).to.deep.equal([400, 'command_unknown']);
    expect((await kernel.http.get('/api/commands/roll')).status).to.equal(404);
    await kernel.daemon.kernel.enable(ID);
    expect((await kernel.http.get('/api/commands/roll')).status).to.equal(200);
  });

  it('may not take the name or the alias of another, or say what cannot be typed', async () => {
    await kernel.daemon.kernel.installation.uninstall(ID, { purge: true });
    const facts = { name: 'roll', usage: '/roll', summary: 'Roll a die', permission: 'runs.send' };
    const withCommands = (...slashCommands: readonly object[]): Promise<string> => packaged((built) => ({ ...built, slashCommands }));
    for (const [taken, wish] of [
      ['stop', { ...facts, name: 'stop' }],
      ['help', { ...facts, name: 'help' }],
      ['quit', { ...facts, aliases: ['quit'] }],
      ['reboot', { ...facts, name: 'reboot' }],
    ] as const) {
      const found = await refusal(await withCommands(wish));
      expect(found?.code, taken).to.equal('install_slash_taken');
      expect(found?.message).to.contain(`/${taken}`);
    }
    for (const [why, wish] of [
      ['not named in lower-case letters', { ...facts, name: 'Roll me' }],
      ['needs usage, summary and permission', { ...facts, summary: 'two\nlines' }],
      ['has "takes"', { ...facts, takes: { words: ['On'] } }],
      ['has aliases', { ...facts, aliases: 'dice' }],
      ['declared twice', { ...facts, aliases: ['roll'] }],
    ] as const)
      expect((await refusal(await withCommands(wish)))?.message, why).to.contain(why);
  });

  it('are held to what contributions.json says', async () => {
    const { state, reason } = await install(await packaged((built) => ({ ...built, slashCommands: [] })));
    expect(state).to.not.equal('active');
    expect(reason).to.contain('the slash command roll');
  });
});
