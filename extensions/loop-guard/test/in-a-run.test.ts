/** The loop guard inside runs: it counts what the run did before, from whichever life. */
import { Type, defineTool } from '@svc/api';
import { OPEN_RATE, OWNER, type TestKernel, bootTestKernel, fixtureExtension, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type AskedModel, type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';

describe('the loop guard in a run', () => {
  let model: HeldServer;
  let looks: number;

  const looking = () =>
    fixtureExtension({
      id: 'looking',
      contributions: { tools: [{ name: 'look', risk: 'read', replay: 'safe' }] },
      definition: {
        activate: (ctx) => {
          ctx.tools.add(
            defineTool({
              name: 'look',
              description: 'Looks.',
              params: Type.Object({ at: Type.String() }),
              risk: 'read',
              replay: 'safe',
              parallel: false,
              run: async () => {
                looks += 1;
                return 'the same as before';
              },
            }),
          );
        },
      },
    });

  beforeEach(async () => {
    looks = 0;
    model = await startHeldServer();
  });

  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  const boot = async (): Promise<{ kernel: TestKernel; answered: Promise<string> }> => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["looking"]\n${model.config}`, env: model.env, extra: [looking()] });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    return { kernel, answered: kernel.http.send('POST', `/api/agents/${agent}/message`, { message: 'look' }).then((answer) => answer.body.response) };
  };

  const callLook = async (at: string): Promise<AskedModel> => {
    const asked = await model.asked();
    asked.answer({ toolCalls: [{ name: 'look', args: { at } }] });
    return asked;
  };

  /** What the model read as the result of its last call. */
  const lastResult = (asked: AskedModel): string => String(asked.request.body.messages.at(-1).content);

  const outcomes = (asked: AskedModel): string[] =>
    (asked.request.body.messages as Array<{ role: string; content: unknown }>)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => (String(content).includes('Blocked') ? 'blocked' : String(content).includes('[loop guard]') ? 'warned' : 'run'));

  it('warns at the third identical call and blocks the fifth, one model call after the other', async () => {
    const { answered } = await boot();
    for (let call = 1; call <= 5; call++) await callLook('here');
    const last = await model.asked();
    last.answer({ text: 'I stop' });

    expect(await answered).to.equal('I stop');
    expect(outcomes(last)).to.deep.equal(['run', 'run', 'warned', 'warned', 'blocked']);
    expect(looks).to.equal(4);
  });

  it('counts the calls of one message in their order', async () => {
    const { answered } = await boot();
    (await model.asked()).answer({ toolCalls: ['here', 'here', 'there', 'here', 'here', 'here'].map((at) => ({ name: 'look', args: { at } })) });
    const last = await model.asked();
    last.answer({ text: 'I stop' });
    await answered;

    expect(outcomes(last)).to.deep.equal(['run', 'run', 'run', 'warned', 'warned', 'blocked']);
    expect(looks).to.equal(5);
  });

  for (const [what, callOf] of [
    ['names that no tool has, each another', (n: number) => ({ name: `no_such_tool_${n}`, args: { n } })],
    ['one name that no tool has', () => ({ name: 'no_such_tool', args: { at: 'here' } })],
    ['arguments that no call can have, each another', (n: number) => ({ name: 'look', args: { at: n } })],
    ['names and arguments that are wrong by turns', (n: number) => (n % 2 === 0 ? { name: 'look', args: { where: n } } : { name: `Look${n}`, args: {} })],
  ] as const) {
    it(`warns at 3, blocks at 5 and ends the run at 30 blocked calls: ${what}`, async () => {
      const { answered } = await boot();
      (await model.asked()).answer({ toolCalls: Array.from({ length: 5 }, (_, n) => callOf(n)) });
      const asked = await model.asked();
      expect(outcomes(asked)).to.deep.equal(['run', 'run', 'warned', 'warned', 'blocked']);
      asked.answer({ toolCalls: Array.from({ length: 28 }, (_, n) => callOf(n + 5)) });
      (await model.asked()).answer({ toolCalls: [callOf(40)] });
      expect(await answered).to.equal(undefined);
      expect([looks, model.inFlight()]).to.deep.equal([0, 0]);
    });
  }

  it('begins the streak anew after a call that reached its tool', async () => {
    const { answered } = await boot();
    const missing = [0, 1].map((n) => ({ name: `no_such_tool_${n}`, args: {} }));
    const more = [2, 3].map((n) => ({ name: `no_such_tool_${n}`, args: {} }));
    (await model.asked()).answer({ toolCalls: [...missing, { name: 'look', args: { at: 'here' } }, ...more] });
    const last = await model.asked();
    last.answer({ text: 'I stop' });
    await answered;
    expect(outcomes(last)).to.deep.equal(['run', 'run', 'run', 'run', 'run']);
  });

  it('says the how-manieth call it was, in words that people use', async () => {
    const { answered } = await boot();
    (await model.asked()).answer({ toolCalls: Array.from({ length: 24 }, () => ({ name: 'look', args: { at: 'here' } })) });
    const last = await model.asked();
    last.answer({ text: 'I stop' });
    await answered;

    const said = JSON.stringify(last.request.body.messages).match(/this is the \w+ time/g) ?? [];
    expect(said.map((words) => words.split(' ')[3])).to.deep.equal('5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th 17th 18th 19th 20th 21st 22nd 23rd 24th'.split(' '));
  });

  it('ends the run at the thirtieth blocked call and says why', async () => {
    const { kernel } = await boot();
    (await model.asked()).answer({ toolCalls: Array.from({ length: 33 }, () => ({ name: 'look', args: { at: 'here' } })) });
    (await model.asked()).answer({ toolCalls: [{ name: 'look', args: { at: 'here' } }] });

    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    let session = '';
    for (let tries = 0; tries < 500 && !session.includes('The run was ended'); tries++) {
      session = JSON.stringify(await kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent' }));
      await kernel.http.get(`/api/agents/${agent}/session`);
    }
    expect(session).to.contain('run_loop_guard_break').and.to.contain('30 of its tool calls were blocked');
    expect([looks, model.inFlight()]).to.deep.equal([4, 0]);
  });

  it('forgets the calls of one run in the next', async () => {
    const { kernel, answered } = await boot();
    for (let call = 1; call <= 4; call++) await callLook('here');
    (await model.asked()).answer({ text: 'first' });
    await answered;
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;

    const again = kernel.http.send('POST', `/api/agents/${agent}/message`, { message: 'again' });
    await callLook('here');
    const asked = await model.asked();
    asked.answer({ text: 'second' });
    await again;

    expect(lastResult(asked)).to.equal('the same as before');
    expect(looks).to.equal(5);
  });

  it('remembers the calls of a run that a reload handed to the next generation', async () => {
    const { kernel, answered } = await boot();
    for (let call = 1; call <= 3; call++) await callLook('here');
    const fourth = await model.asked();
    const reloaded = kernel.daemon.kernel.reload('runs');
    fourth.answer({ toolCalls: [{ name: 'look', args: { at: 'here' } }] });
    await reloaded;

    await callLook('here');
    const asked = await model.asked();
    asked.answer({ text: 'I stop' });
    await answered;

    expect(lastResult(asked)).to.contain('Blocked').and.to.contain('5th time');
    expect(looks).to.equal(4);
  });
});
