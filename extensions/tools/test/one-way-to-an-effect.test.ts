import { type AnyTool, type Capabilities, factsOf, type HookHandle, SvcError, type ToolFacts, type ToolList, type ToolOutput, type ToolRequest } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { virtualClock } from '@svc/platform/clock/clock';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { expect } from 'chai';
import { callDigest, canonicalJson } from '../src/call-digest.js';
import { toolErrors } from '../src/errors.js';
import { capText, RESULT_BYTES, TOOL_TEXT_BYTES } from '../src/result-size.js';
import { createToolsService } from '../src/service.js';
import { createToolRegistry, exclusionOf } from '../src/tool-registry.js';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { createWorkspaces } from '../src/builtin/workspace.js';
import { AGENT, ALL, call, echo, noSpilling, openTools, toolThat } from './tools-kit.js';

const listOf = (fill: (tools: readonly ToolFacts[], context: object) => readonly ToolFacts[] | undefined): HookHandle<typeof ToolList> => ({
  isEmpty: () => false,
  call: async (tools, context) => fill(tools, context) ?? tools,
});
const NO_LIST: HookHandle<typeof ToolList> = { isEmpty: () => true, call: async (tools) => tools };

describe('which tools there are', () => {
  const kernelOf = (owned: ReadonlyArray<{ owner: string; tool: AnyTool }>, bundled: Readonly<Record<string, boolean>> = {}) => ({
    tools: () => owned.map((row) => ({ ...row, bundled: bundled[row.owner] ?? true })),
  });
  const other = toolThat('other', async () => '');

  it('says where each comes from: the daemon, or an extension of others', () => {
    const { info } = createToolRegistry(
      kernelOf(
        [
          { owner: 'tools', tool: echo },
          { owner: 'theirs', tool: other },
        ],
        { tools: true, theirs: false },
      ),
      NO_LIST,
    );
    expect(info(echo)).to.deep.equal({ name: 'echo', description: 'Says it back.', input_schema: echo.params, source: 'builtin', risk: 'read', replay: 'safe', parallel: true });
    expect(info(other).source).to.equal('theirs');
    expect(info(echo)).to.equal(info(echo));
  });

  it('asks the list for whom it is, and finds an own tool without asking', async () => {
    const asked: unknown[] = [];
    const list = listOf((tools, context) => {
      asked.push(context);
      return [...tools, factsOf(toolThat('added', async () => ''))];
    });
    const registry = createToolRegistry(
      kernelOf([
        { owner: 'tools', tool: echo },
        { owner: 'tools', tool: other },
      ]),
      list,
    );
    const agent = { agentId: AGENT, ownerId: 'owner', capabilities: ALL };
    expect((await registry.all()).map(({ name }) => name)).to.deep.equal(['echo', 'other']);
    expect(await registry.all(agent)).to.have.length(2);
    expect(registry.find('echo')).to.equal(echo);
    expect(registry.find('other')).to.equal(other);
    expect(registry.find('added')).to.equal(undefined);
    expect(asked).to.deep.equal([{ agentId: '' }, agent]);
  });

  it('leaves out what lacks its surroundings, and what is of no use without another', async () => {
    const owned = [
      { owner: 'tools', tool: echo },
      { owner: 'tools', tool: other },
    ];
    const rules = { unavailable: (name: string) => (name === 'echo' ? 'it has no mouth' : undefined), companionOf: () => undefined };
    const lacking = createToolRegistry(kernelOf(owned), NO_LIST, rules);
    expect((await lacking.all()).map(({ name }) => name)).to.deep.equal(['other']);
    expect([lacking.unavailable('echo'), lacking.find('echo')]).to.deep.equal(['it has no mouth', echo]);
    const paired = { unavailable: () => undefined, companionOf: (name: string) => (name === 'other' ? 'echo' : undefined) };
    const without = (left: string) =>
      createToolRegistry(
        kernelOf(owned),
        listOf((tools) => tools.filter(({ name }) => name !== left)),
        paired,
      ).all();
    expect((await without('echo')).map(({ name }) => name)).to.deep.equal([]);
    expect((await without('other')).map(({ name }) => name)).to.deep.equal(['echo']);
  });

  it('are kept from an agent by its manifest, for the first reason of three', () => {
    const manifest = { tools_disabled: false, tool_blocklist: [] as string[], tool_allowlist: [] as string[], capabilities: ALL };
    expect(exclusionOf('echo', manifest)).to.equal(undefined);
    expect(exclusionOf('echo', { ...manifest, tool_allowlist: ['e*'] })).to.equal(undefined);
    expect(exclusionOf('echo', { ...manifest, tool_allowlist: ['x'], tool_blocklist: ['x'] })).to.match(/not in the tool_allowlist/);
    expect(exclusionOf('echo', { ...manifest, tool_allowlist: ['e*'], tool_blocklist: ['echo'] })).to.match(/in the tool_blocklist/);
    expect(exclusionOf('echo', { ...manifest, tools_disabled: true, tool_blocklist: ['echo'] })).to.match(/switches all tools off/);
  });
});

describe('the digest of a call', () => {
  it('is of its JSON with sorted keys at every depth, and without what JSON leaves out', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 'x' }, null], a: undefined, A: true })).to.equal('{"A":true,"b":[{"c":"x","d":1},null]}');
    expect([canonicalJson(undefined), canonicalJson(null), canonicalJson('"'), canonicalJson([])]).to.deep.equal(['null', 'null', '"\\""', '[]']);
    expect(callDigest('t', { a: 1 })).to.match(/^[0-9a-f]{64}$/);
    // Kept in the journal: an earlier build named the same call so.
    expect(callDigest('echo', { text: 'x' })).to.equal(callDigest('echo', { text: 'x', gone: undefined }));
  });
});

describe('the text of a result', () => {
  it('is whole up to its limit, counted in bytes', () => {
    for (const text of ['', 'a'.repeat(300), 'ü'.repeat(150), 'a'.repeat(100)]) expect(capText(text, 300)).to.equal(text);
    expect(capText('a'.repeat(301), 300)).to.match(/^a+\n\n\[cut: 301 bytes in all/);
    expect(capText('ü'.repeat(151), 300)).to.match(/^ü+\n\n\[cut: 302 bytes in all/);
  });

  it('is cut so that all of it, note included, has no more bytes, and no character is halved', () => {
    for (const letter of ['a', 'ü', '語', '🚀'])
      for (let limit = 200; limit < 208; limit++) {
        const text = capText(letter.repeat(300), limit);
        expect(Buffer.byteLength(text), `${letter} ${limit}`).to.be.within(limit - 4, limit);
        expect(text, letter).not.to.contain('\uFFFD');
      }
    expect(capText('a'.repeat(300), 5)).to.match(/^\n\n\[cut/);
  });

  it('leaves room for what taps add', () => {
    expect([TOOL_TEXT_BYTES, RESULT_BYTES]).to.deep.equal([63_488, 65_536]);
  });
});

describe('the one way to an effect', () => {
  it('T1 tells what a call would be, whatever becomes of it', async () => {
    const keyed = toolThat('keyed', async () => '', { replay: 'keyed', parallel: false });
    const { service, taps } = openTools([echo, keyed]);
    const decided = (name: string, args: unknown) => service.decide(call(name, args));
    expect(await decided('echo', { text: 'x' })).to.deep.equal({ verdict: 'run', digest: callDigest('echo', { text: 'x' }), replay: 'safe', parallel: true });
    expect(await decided('keyed', { text: 5 })).to.include({ verdict: 'deny', replay: 'keyed', parallel: false });
    expect(await decided('nobody', {})).to.include({ verdict: 'deny', replay: 'never', parallel: false, code: 'tools_unknown' });
    taps.before = () => ({ deny: 'no' });
    expect(await decided('echo', { text: 'x' })).to.include({ verdict: 'deny', reason: 'no', code: 'tool_denied' });
    taps.before = () => undefined;
    expect(await decided('echo', { text: 'x' })).to.include({ verdict: 'run' });
  });

  it('T1 names the place of a bad argument, or the whole, and what the model sent that is no JSON', async () => {
    const { service } = openTools([echo]);
    const reason = async (args: unknown, more = {}) => (await service.decide(call('echo', args, more))).reason;
    expect(await reason({})).to.equal("The arguments of echo cannot be used: text is missing in the arguments. Send one JSON object that fits the tool's schema.");
    expect(await reason([])).to.match(/cannot be used: The arguments must be object/);
    expect(await reason({ text: 'x' }, { argsError: 'y'.repeat(600) })).to.match(/: y{500}\. /);
  });

  it('T0 goes by the capabilities of the agent, whatever the caller names', async () => {
    const seen: Capabilities[] = [];
    const look = {
      ...echo,
      run: async (_args: unknown, { capabilities }: { capabilities: Capabilities }) => {
        seen.push(capabilities);
        return 'looked';
      },
    };
    const { service, taps } = openTools([look]);
    const narrow: Capabilities = { ...ALL, shell: [], network: [] };
    taps.manifest = { capabilities: narrow };
    taps.before = ({ call: { capabilities } }) => void seen.push(capabilities);
    const request = call('echo', { text: 'x' });
    await service.decide(request);
    await service.execute(request);
    expect(request.call.capabilities.shell).to.deep.equal(['*']);
    expect(seen).to.deep.equal([narrow, narrow]);
  });

  it('T1 asks the manifest before the taps and the arguments, and no manifest where there is no agent', async () => {
    const { direct: service, taps } = openTools([echo]);
    let asked = 0;
    taps.before = () => void asked++;
    taps.manifest = { tools_disabled: true };
    expect(await service.decide(call('echo', { text: 5 }))).to.include({ code: 'tools_not_offered' });
    const direct = call('echo', { text: 'x' });
    expect(asked).to.equal(0);
    expect(await service.decide({ ...direct, call: { ...direct.call, agentId: '' } })).to.include({ verdict: 'run' });
    expect(asked).to.equal(1);
  });

  interface More {
    readonly agents?: AgentsService['get'];
  }
  const serviceOf = (tools: readonly AnyTool[], { agents }: More = {}) => {
    const clock = virtualClock(0);
    const logged: string[] = [];
    const manifest = { tools_disabled: false, tool_allowlist: [], tool_blocklist: [], capabilities: ALL };
    const service = createToolsService({
      registry: createToolRegistry({ tools: () => tools.map((tool) => ({ owner: 'test', bundled: true, tool })) }, NO_LIST),
      // The one method of agents that tools calls.
      agents: { get: agents ?? (async () => ({ manifest })) } as unknown as AgentsService,
      schemas: createValueChecks(),
      before: { isEmpty: () => true, call: async () => undefined },
      missed: { isEmpty: () => true, call: async () => undefined },
      checkpoint: { isEmpty: () => true, call: async () => undefined },
      workspaces: createWorkspaces(openDir('/nowhere')),
      grants: { isEmpty: () => true, call: async (capabilities: Capabilities) => capabilities },
      start: { isEmpty: () => true, call: async () => undefined },
      after: { isEmpty: () => true, call: async (output: ToolOutput) => output },
      transform: { isEmpty: () => true, call: async (output: ToolOutput) => output },
      clock,
      timeSettings: () => ({ defaultSecs: 120, byName: {} }),
      spilling: noSpilling,
      lazyAbove: () => 40,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (message) => void logged.push(message) },
    });
    return { service, clock, logged };
  };

  it('T1 refuses a call whose agent has gone, and lets other troubles of agents through', async () => {
    const gone = new SvcError('agent_not_found', 'gone', { status: 404 });
    expect(await serviceOf([echo], { agents: () => Promise.reject(gone) }).service.decide(call('echo', { text: 'x' }))).to.include({ verdict: 'deny', code: 'tools_not_offered' });
    for (const error of [new SvcError('storage_full', 'x', { status: 507 }), new TypeError('agent_not_found')])
      expect(
        await serviceOf([echo], { agents: () => Promise.reject(error) })
          .service.decide(call('echo', { text: 'x' }))
          .catch((caught: unknown) => caught),
      ).to.equal(error);
  });

  it('T2 answers a call that cannot run with a result, and runs nothing', async () => {
    let ran = 0;
    const { service } = serviceOf([toolThat('counts', async () => String(++ran))]);
    expect(await service.execute(call('nobody', {}))).to.include({ isError: true, status: 'error' });
    expect((await service.execute(call('counts', { text: 5 }))).content).to.match(/text in the arguments must be string/);
    expect((await service.execute(call('counts', { text: 'x' }, { argsError: 'broken' }))).content).to.match(/broken/);
    expect(ran).to.equal(0);
  });

  it('T2 tells a result from a failure, in the words of the tool', async () => {
    const outcome = (output: string | ToolOutput) => serviceOf([toolThat('says', async () => output)]).service.execute(call('says', { text: '' }));
    expect(await outcome('plain')).to.deep.equal({ content: 'plain', isError: false, status: 'completed' });
    expect(await outcome({ content: 'bad', isError: true })).to.deep.equal({ content: 'bad', isError: true, status: 'error' });
    expect(await outcome({ content: 'odd', status: 'denied' })).to.deep.equal({ content: 'odd', isError: false, status: 'denied' });
  });

  it('T5 shows an error that was made to be shown, and of one from inside nothing but that it was', async () => {
    const inside = new SvcError('storage_broken', '/home/svc/secret', { status: 500 });
    const { service, logged } = serviceOf([toolThat('inside', () => Promise.reject(inside)), toolThat('shown', () => Promise.reject(toolErrors.cancelled('shown')))]);
    expect((await service.execute(call('inside', { text: '' }))).content).to.match(/^inside failed for a reason inside/);
    expect(logged).to.have.length(1);
    expect((await service.execute(call('shown', { text: '' }))).content).to.equal('shown was cancelled.');
    expect(logged).to.have.length(1);
    await serviceOf([toolThat('text', () => Promise.reject('only a text'))]).service.execute(call('text', { text: '' }));
  });

  it('T3 ends a call after two minutes where the tool says nothing else, and leaves no timer behind', async () => {
    const { service, clock } = serviceOf([toolThat('stuck', () => new Promise(() => undefined)), echo]);
    const running = service.execute(call('stuck', { text: '' }));
    while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    let isDone = false;
    void running.then(() => {
      isDone = true;
    });
    await clock.advance(119_999);
    expect(isDone).to.equal(false);
    await clock.advance(1);
    expect((await running).content).to.match(/did not end within 120 s/);
    await service.execute(call('echo', { text: 'x' }));
    expect(clock.pending()).to.equal(0);
  });

  it('T3 gives the limit as the reason when the tool heeds its signal with an error of its own', async () => {
    const heeds = toolThat('heeds', (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))), { timeoutMs: 1_000 });
    const { service, clock, logged } = serviceOf([heeds]);
    const running = service.execute(call('heeds', { text: '' }));
    while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1_000);
    expect((await running).content).to.match(/heeds did not end within 1 s/);
    expect(logged).to.deep.equal([]);
  });

  it('shows taps of tool.after the call as it was validated, and takes what they make of it', async () => {
    const { service, taps } = openTools([echo]);
    let seen: ToolRequest | undefined;
    taps.after = (output, request) => {
      seen = request;
      return { content: `${output.content}!`, isError: true };
    };
    const earlier = [{ digest: 'd', status: 'completed' }];
    expect(await service.execute(call('echo', { text: 'x' }, { earlier }))).to.deep.equal({ content: 'x!', isError: true, status: 'error' });
    expect(seen).to.deep.include({ args: { text: 'x' }, digest: callDigest('echo', { text: 'x' }), earlier, tool: factsOf(echo) });
  });

  it('lists tools by name, in whatever order they came', async () => {
    const named = (...names: string[]) => names.map((name) => toolThat(name, async () => ''));
    for (const order of [named('b', 'd', 'a', 'c'), named('d', 'c', 'b', 'a'), named('a', 'b', 'c', 'd')]) {
      const { service, manifest } = openTools(order);
      const { actor, agentId } = call('a', {}).call;
      expect((await service.all()).map(({ name }) => name)).to.deep.equal(['a', 'b', 'c', 'd']);
      expect((await service.list(actor, agentId, manifest())).map(({ name }) => name)).to.deep.equal(['a', 'b', 'c', 'd']);
    }
  });

  it('lists for an agent with its owner and its grants', async () => {
    const { service, taps, manifest } = openTools([echo]);
    taps.list = (tools) => tools.filter(({ name }) => name !== 'echo');
    const { actor, agentId } = call('echo', {}).call;
    expect(await service.list(actor, agentId, manifest())).to.deep.equal([]);
  });
});

const LONG = 'x'.repeat(500);

describe('errors of tools', () => {
  it('have the status that says whose doing it is', () => {
    const statuses = [
      toolErrors.unknown('x', []),
      toolErrors.not_offered('x', 'y'),
      toolErrors.bad_arguments('x', 'y'),
      toolErrors.timed_out('x', 1),
      toolErrors.cancelled('x'),
      toolErrors.failed('x'),
      toolErrors.path_denied('x'),
      toolErrors.no_file('x'),
      toolErrors.not_a_folder('x'),
      toolErrors.file_too_large('x', 2, 1),
      toolErrors.not_text('x'),
      toolErrors.patch_invalid('x', 1),
      toolErrors.patch_conflict('x', 'y'),
      toolErrors.patch_too_costly(),
      toolErrors.page_too_large(1),
    ].map(({ code, status, retry }) => `${code} ${status}${retry ? ' retry' : ''}`);
    expect(statuses).to.deep.equal([
      'tools_unknown 404',
      'tools_not_offered 403',
      'tools_bad_arguments 400',
      'tools_timed_out 504 retry',
      'tools_cancelled 499 retry',
      'tools_failed 500',
      'tools_path_denied 403',
      'tools_no_file 404',
      'tools_not_a_folder 400',
      'tools_file_too_large 413',
      'tools_not_text 415',
      'tools_patch_invalid 400',
      'tools_patch_conflict 409',
      'tools_patch_too_costly 413',
      'tools_page_too_large 413',
    ]);
  });

  it('quote no more of what a model wrote than a person would read', () => {
    expect(toolErrors.unknown(LONG, []).message).to.match(/"x{100}"\.$/);
    for (const error of [toolErrors.path_denied(LONG), toolErrors.no_file(LONG), toolErrors.not_a_folder(LONG), toolErrors.file_too_large(LONG, 2, 1), toolErrors.not_text(LONG)])
      expect(error.message, error.code).to.match(/"x{200}"/);
  });

  it('name the tools that may have been meant, where there are any', () => {
    expect(toolErrors.unknown('a', ['b', 'c']).message).to.equal('There is no tool "a". Did you mean b or c?');
    expect(toolErrors.unknown('a', []).message).to.equal('There is no tool "a".');
  });
});
