/** Every hook beside ingest and after_turn, in real messages with a model on its wire. */
import { readFile, writeFile } from 'node:fs/promises';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

interface Trace {
  readonly plugin: string;
  readonly hook: string;
  readonly error: string | null;
  readonly note: string | null;
  readonly input_preview: string;
  readonly output_preview: string;
}

const HEAD = `import json, sys
request = json.load(sys.stdin)
`;
const SAY = 'print(json.dumps(answer), flush=True)\n';

describe('every hook of plugins', function () {
  this.timeout(120_000);
  let svc: ModelKernel;
  before(async () => {
    svc = await bootWithModel(undefined, { config: `${OPEN_RATE}[context_engine]\nplugin_stack = ["shaper", "second"]\n` });
    for (const name of ['shaper', 'second']) {
      await svc.http.expect(200, 'POST', '/api/plugins/scaffold', { name, runtime: 'python' });
      await manifest(name, '');
    }
  });
  beforeEach(async () => {
    for (const name of ['shaper', 'second']) await manifest(name, '');
  });
  after(stopModelKernels);

  const folder = (name: string): string => `${svc.kernel.home}/plugins/${name}`;
  const manifest = (name: string, lines: string): Promise<void> => writeFile(`${folder(name)}/plugin.toml`, `name = "${name}"\nversion = "1.0.0"\n[hooks]\nruntime = "python"\n${lines}\n`);
  /** A plugin whose only hook is this one. */
  const hook = async (name: string, hookName: string, text: string, more = ''): Promise<void> => {
    await writeFile(`${folder(name)}/hooks/${hookName}.py`, `${HEAD}${text}\n${SAY}`);
    await manifest(name, `${hookName} = "hooks/${hookName}.py"\n${more}`);
    await svc.http.expect(200, 'POST', `/api/plugins/${name}/reload`);
  };
  const newSession = async (): Promise<string> => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/sessions`, {})).body.session_id;
  const say = async (message: string, session_id?: string): Promise<string> => {
    const before = svc.model.requests.length;
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message, ...(session_id ? { session_id } : {}) });
    return JSON.stringify(svc.model.requests.slice(before).map(({ body }) => body.messages));
  };
  const traces = async (query: string): Promise<Trace[]> => (await svc.http.expect(200, 'GET', `/api/context-engine/traces?limit=200&${query}`)).body.traces;
  const traced = async (hookName: string, fits: (one: Trace) => boolean = () => true): Promise<Trace> => {
    let found: Trace | undefined;
    await until(async () => {
      found = (await traces('')).find((one) => one.hook === hookName && fits(one));
      return found !== undefined;
    });
    return found as Trace;
  };

  it('A1 assemble leaves messages out and writes others, and the newest one stays', async () => {
    svc.model.beginAnew({ text: 'Fine.' });
    const session = await newSession();
    await say('The first thing.', session);
    await hook('shaper', 'assemble', 'newest = request["messages"][-1]\nanswer = {"type": "assemble_result", "messages": [{"role": "user", "content": "Earlier: a summary."}, newest]}');
    const sent = await say('The second thing.', session);
    expect(sent).to.contain('Earlier: a summary.').and.contain('The second thing.').and.not.contain('The first thing.');
    expect(JSON.parse((await traced('assemble')).input_preview)).to.include({ type: 'assemble', agent_id: svc.agent.id, message: 'The second thing.', peer_id: null });
    const { body } = await svc.http.expect(200, 'GET', `/api/sessions/${session}`);
    expect(JSON.stringify(body), 'nothing of it is stored').to.contain('The first thing.').and.not.contain('Earlier: a summary.');
  });

  it('A1 assemble that loses the newest message or the result of a tool is not used, and its trace says why', async () => {
    const session = await newSession();
    svc.model.beginAnew({ text: 'Fine.' });
    await hook('shaper', 'assemble', 'answer = {"type": "assemble_result", "messages": [{"role": "user", "content": "Only this."}]}');
    expect(await say('Am I here?', session))
      .to.contain('Am I here?')
      .and.not.contain('Only this.');
    await traced('assemble', ({ note }) => note === 'the newest message is not the last one as it was: it has no effect');
    await hook('shaper', 'assemble', 'answer = {"type": "assemble_result", "messages": [m for m in request["messages"] if not m.get("tool_calls")]}');
    svc.model.beginAnew([{ text: '', toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'It is late.' }]);
    expect(await say('What time is it?', session)).to.contain('system_time');
    await traced('assemble', ({ note }) => note?.includes('lost its tool call') ?? false);
  });

  it('of two plugins the one with the higher priority assembles, and the other is asked where it says nothing', async () => {
    svc.model.beginAnew({ text: 'Fine.' });
    const made = (text: string): string => `answer = {"type": "assemble_result", "messages": [{"role": "user", "content": "${text}"}, request["messages"][-1]]}`;
    await hook('shaper', 'assemble', made('From the first.'));
    await hook('second', 'assemble', made('From the second.'), 'priority = 5');
    expect(await say('Who comes first?'))
      .to.contain('From the second.')
      .and.not.contain('From the first.');
    await hook('second', 'assemble', 'answer = {"type": "assemble_result", "messages": []}', 'priority = 5');
    expect(await say('And now?')).to.contain('From the first.');
  });

  it('leaves no text of an incognito message in a trace', async () => {
    svc.model.beginAnew({ text: 'Fine.' });
    await hook('shaper', 'ingest', 'answer = {"type": "ingest_result", "memories": ["noted: " + request["message"]]}');
    const session = await newSession();
    for (const [message, incognito] of [
      ['Said openly.', false],
      ['Said in private.', true],
    ] as const)
      await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message, session_id: session, incognito });
    await traced('ingest', ({ input_preview: text }) => text.includes('Said openly.'));
    await until(async () => (await traces('')).filter(({ hook: name }) => name === 'ingest').length >= 2);
    expect(JSON.stringify(await traces('')))
      .to.contain('noted: Said openly.')
      .and.not.contain('in private');
  });

  it('A2 transform_tool_result changes what the model reads of a tool, and counts as text from outside', async () => {
    await hook('shaper', 'transform_tool_result', 'answer = {"content": request["tool_name"] + " said: " + request["content"].upper()[:4] + " (shortened)"}');
    svc.model.beginAnew([{ text: '', toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'Thanks.' }]);
    expect(await say('What time is it now?'))
      .to.contain('system_time said: ')
      .and.contain('(shortened)');
    const { input_preview: input } = await traced('transform_tool_result');
    expect(JSON.parse(input)).to.include({ tool_name: 'system_time', is_error: false, status: 'completed' });
    await hook('shaper', 'transform_tool_result', 'answer = {"content": 12}');
    svc.model.beginAnew([{ text: '', toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'Thanks.' }]);
    expect(await say('And now?')).to.not.contain('(shortened)":');
    await traced('transform_tool_result', ({ note }) => note === '"content" is no text: it has no effect');
  });

  it('compact says what stands in place of the older part, by itself or through the model', async () => {
    svc.model.beginAnew({ text: 'Fine.' });
    const long = async (): Promise<string> => {
      const session = await newSession();
      for (let at = 0; at < 12; at += 1) await say(`Thing ${at}.`, session);
      return session;
    };
    const session = await long();
    await hook(
      'shaper',
      'compact',
      'answer = {"type": "compact_result", "messages": [], "summary": "They spoke of " + str(len(request["messages"])) + " things, under " + request["token_pressure"]["recommendation"] + " pressure."}',
    );
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/session/compact?session_id=${session}`);
    expect(await say('Go on.', session)).to.match(/They spoke of \d+ things, under light pressure\./);
    const other = await long();
    await hook(
      'shaper',
      'compact',
      'answer = {"type": "request_llm_summary", "summarize": request["messages"][:2], "keep": ["user: the door is blue"], "max_tokens": 200, "prompt": "Make one haiku of this."}',
    );
    svc.model.beginAnew({ text: 'An old silent pond.' });
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/session/compact?session_id=${other}`);
    expect(JSON.stringify(svc.model.requests[0]?.body)).to.contain('Make one haiku of this.').and.contain('Thing 0.').and.not.contain('Thing 5.');
    expect(await say('Go on.', other))
      .to.contain('An old silent pond.')
      .and.contain('the door is blue');
  });

  it('prepare_subagent and merge_subagent are called around the message of one agent to another', async () => {
    const manifest_toml = `name = "asker"\n[model]\nprovider = "default"\nmodel = "default"\n[capabilities]\nagent_message = ["*"]\n`;
    const asker = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml })).body.agent_id;
    await hook('shaper', 'prepare_subagent', 'answer = {"type": "ok", "annotations": {"parent": request["parent_id"], "child": request["child_id"]}}');
    await writeFile(`${folder('shaper')}/hooks/merge_subagent.py`, `${HEAD}answer = {"type": "ok"}\n${SAY}`);
    await manifest('shaper', 'prepare_subagent = "hooks/prepare_subagent.py"\nmerge_subagent = "hooks/merge_subagent.py"');
    svc.model.beginAnew([{ text: '', toolCalls: [{ name: 'agent_send', args: { agent_id: svc.agent.id, message: 'Help me.' } }] }, { text: 'Here.' }, { text: 'Done.' }]);
    await svc.http.expect(200, 'POST', `/api/agents/${asker}/message`, { message: 'Ask the other.' });
    await traced('merge_subagent');
    expect(JSON.parse((await traced('prepare_subagent')).note ?? '')).to.deep.equal({ parent: asker, child: svc.agent.id });
  });

  it('on_event gets what after_turn of another plugin has to say, and its memories are kept', async () => {
    await hook('second', 'on_event', 'answer = {"got": request["event"]}');
    await hook(
      'shaper',
      'after_turn',
      'answer = {"type": "ok", "log": "looked at it", "events": [{"name": "mood", "payload": {"good": True}}], "memories": [{"content": "Violet prefers the left lane.", "tags": ["road"]}]}',
    );
    svc.model.beginAnew({ text: 'Fine.' });
    await say('How are you?');
    const { output_preview: out } = await traced('on_event');
    expect(JSON.parse(out)).to.deep.equal({ got: { name: 'mood', payload: { good: true }, source_plugin: 'shaper' } });
    expect((await traced('after_turn')).note).to.equal('looked at it');
    await until(async () => JSON.stringify((await svc.http.expect(200, 'GET', `/api/memory?agent_id=${svc.agent.id}`)).body ?? '').includes('Violet prefers the left lane.'));
  });

  it('B1 bootstrap is asked once, and narrows what ingest is asked', async () => {
    await hook('shaper', 'bootstrap', 'answer = {"type": "ok", "env_overrides": {"MOOD": "sunny", "PATH": "/evil"}, "ingest_filter": "weather"}');
    await writeFile(
      `${folder('shaper')}/hooks/ingest.py`,
      `import os\n${HEAD}answer = {"type": "ingest_result", "memories": [{"content": "Mood " + os.environ.get("MOOD", "none") + " " + str("/evil" in os.environ["PATH"])}]}\n${SAY}`,
    );
    await manifest('shaper', 'bootstrap = "hooks/bootstrap.py"\ningest = "hooks/ingest.py"');
    svc.model.beginAnew({ text: 'Fine.' });
    const session = await newSession();
    expect(await say('How is the food?', session)).to.not.contain('Mood');
    expect(await say('How is the weather?', session)).to.contain('shaper: Mood sunny False');
    expect((await traces('plugin=shaper')).filter((one) => one.hook === 'bootstrap')).to.have.length(1);
  });

  it('a response is used again for as long as the plugin says, a violation of its schema is named, and state and config are files', async () => {
    const count = `import os, pathlib
state = pathlib.Path(os.environ["SVC_STATE_FILE"])
n = int(state.read_text()) + 1 if state.exists() else 1
state.write_text(str(n))
colour = json.load(open(os.environ["SVC_PLUGIN_CONFIG"]))["colour"]
answer = {"type": "ingest_result", "memories": [{"content": "Call " + str(n) + " in " + colour}]}`;
    const lines =
      'enable_shared_state = true\nhook_cache_ttl_secs = 600\nmax_memory_mb = 512\n[hooks.hook_schemas.ingest.output]\nrequired = ["mood"]\n[config.colour]\ntype = "string"\ndefault = "green"';
    await hook('shaper', 'ingest', count, lines);
    svc.model.beginAnew({ text: 'Fine.' });
    for (const session of [await newSession(), await newSession()]) expect(await say('Is it the same?', session)).to.contain('Call 1 in green');
    expect(await say('Is it another?', await newSession())).to.contain('Call 2 in green');
    const notes = (await traces('plugin=shaper')).slice(0, 3).map(({ note }) => note ?? '');
    expect(notes.filter((note) => note.includes('answered from its cache'))).to.have.length(1);
    for (const note of notes) expect(note).to.contain('hook_schemas.ingest: ');
    await svc.http.expect(200, 'POST', '/api/plugins/shaper/reload');
    expect(await say('Is it the same?', await newSession())).to.contain('Call 3 in green');
  });

  it('every hook runs on a sample, and lint refuses what cannot be kept', async () => {
    await hook('shaper', 'compact', 'answer = {"type": "compact_result", "summary": "short"}');
    const { body } = await svc.http.expect(200, 'POST', '/api/plugins/shaper/test-hook', { hook: 'compact' });
    expect(body).to.deep.include({ success: true, note: null });
    const text = await readFile(`${folder('shaper')}/plugin.toml`, 'utf8');
    await writeFile(`${folder('shaper')}/plugin.toml`, `${text}\nhook_protocol_version = 2\nprewarm_subprocesses = true\n[hooks.hook_schemas.nothing.input]\n`);
    const { errors } = (await svc.http.expect(200, 'GET', '/api/plugins/shaper/lint')).body;
    expect(errors.join('\n')).to.match(/hook_protocol_version is not 1.*hook_schemas.nothing is for a hook that does not exist.*prewarm_subprocesses needs persistent_subprocess/s);
  });
});
