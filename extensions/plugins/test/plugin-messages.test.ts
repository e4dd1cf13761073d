/** Hooks of plugins in real messages, with a model on its wire. */
import { readFile, writeFile } from 'node:fs/promises';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const INGEST = 'request=$(cat)\necho \'{"type":"ingest_result","memories":[{"content":"The person lives in Lisbon."}]}\'\n';

interface Trace {
  readonly plugin: string;
  readonly hook: string;
  readonly error: string | null;
  readonly message: string | null;
  readonly correlation_id: string | null;
  readonly input_preview: string;
  readonly output_preview: string;
}

describe('hooks of plugins', function () {
  this.timeout(90_000);
  let svc: ModelKernel;
  before(async () => {
    svc = await bootWithModel(undefined, { config: `${OPEN_RATE}[context_engine]\nplugin_stack = ["where", "absent"]\n[context_engine.hooks]\nafter_turn = "~/none.sh"\nruntime = "bash"\n` });
    await svc.http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'where', runtime: 'bash' });
    await write(INGEST);
  });
  after(stopModelKernels);

  const file = (path: string): string => `${svc.kernel.home}/plugins/where/${path}`;
  const write = (text: string): Promise<void> => writeFile(file('hooks/ingest.sh'), text);
  const setting = async (from: string, to: string): Promise<void> => {
    const toml = await readFile(file('plugin.toml'), 'utf8');
    await writeFile(file('plugin.toml'), toml.replace(from, to));
  };
  const say = async (message: string) => {
    svc.model.beginAnew({ text: 'Understood.' });
    const { status, body } = await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message });
    return { status, body, asked: JSON.stringify(svc.model.requests[0]?.body ?? null) };
  };
  const traces = async (query: string): Promise<Trace[]> => (await svc.http.expect(200, 'GET', `/api/context-engine/traces?${query}`)).body.traces;
  const newest = async (): Promise<Trace | undefined> => (await traces('plugin=where&limit=200')).find(({ hook }) => hook === 'ingest');

  it('E3 ingest runs once for a message, and the model reads what it says as text from its plugin', async () => {
    const { status, asked } = await say('Where do I live?');
    expect(status).to.equal(200);
    expect(asked).to.contain('where: The person lives in Lisbon.');
    await until(async () => (await traces('plugin=where')).some(({ hook }) => hook === 'ingest'));
    const calls = (await traces('plugin=where')).filter(({ hook }) => hook === 'ingest');
    expect(calls).to.have.length(1);
    expect(JSON.parse(calls[0]?.input_preview ?? '')).to.deep.equal({ type: 'ingest', agent_id: svc.agent.id, message: 'Where do I live?', peer_id: null });
    expect(calls[0]?.correlation_id).to.be.a('string');
    const session = (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}`)).body.session_id ?? svc.agent.session_id;
    expect(session).to.be.a('string');
  });

  it('E4 after_turn gets the conversation behind the answer', async () => {
    await writeFile(file('hooks/after_turn.sh'), 'request=$(cat)\nprintf \'{"type":"ok","got":%s}\\n\' "$request"\n');
    await say('Remember the blue door.');
    await until(async () => (await traces('plugin=where')).some(({ hook, output_preview: out }) => hook === 'after_turn' && out.includes('blue door')));
    const found = (await traces('plugin=where')).find(({ hook, output_preview: out }) => hook === 'after_turn' && out.includes('blue door'));
    const { got } = JSON.parse(found?.output_preview ?? '');
    expect(got).to.deep.include({ type: 'after_turn', agent_id: svc.agent.id, message: 'Remember the blue door.', peer_id: null });
    expect(got.messages.slice(-2)).to.deep.equal([
      { role: 'user', content: 'Remember the blue door.' },
      { role: 'assistant', content: 'Understood.' },
    ]);
  });

  it('E2 a launcher that is missing, and each other failure, leaves a trace, and the message is answered', async () => {
    const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
      ScriptError: () => write('exit 7\n'),
      InvalidOutput: () => write('echo hello\n'),
      Timeout: () => write('sleep 60\n'),
      LauncherNotFound: () => setting('runtime = "bash"', 'runtime = "v"'),
    };
    await setting('# hook_timeout_secs = 30', 'hook_timeout_secs = 1');
    for (const [kind, spoil] of Object.entries(FAULTS)) {
      await spoil();
      const { status, asked } = await say(`Are you there, ${kind}?`);
      expect(status, kind).to.equal(200);
      expect(asked, kind).to.contain(`Are you there, ${kind}?`);
      await until(async () => (await newest())?.error === kind);
    }
    expect((await newest())?.message).to.match(/^LauncherNotFound: v for the hook ingest is not on PATH/);
    await setting('runtime = "v"', 'runtime = "bash"');
  });

  it('E1 what is disabled does not run, and its files count at once', async () => {
    await svc.http.expect(200, 'POST', '/api/plugins/where/disable');
    await write(INGEST.replace('Lisbon', 'Porto'));
    expect((await say('And now?')).asked).to.not.contain('lives in Porto');
    await svc.http.expect(200, 'POST', '/api/plugins/where/enable');
    expect((await say('And now again?')).asked).to.contain('where: The person lives in Porto.');
    const { body } = await svc.http.expect(200, 'GET', '/api/plugins/where/status');
    expect(body).to.deep.include({ active: true, stack_position: 0, active_as_single: false, restart_required: false });
  });

  it('E2 stops the run of a plugin that says so', async () => {
    await setting('# on_hook_failure = "warn"', 'on_hook_failure = "abort"');
    await write('exit 1\n');
    const { status, body } = await say('Is this answered?');
    expect([status, body.finish, body.response]).to.deep.equal([200, 'cancelled', '']);
    expect(svc.model.requests).to.have.length(0);
  });

  it('the doctor names a plugin that does not run', async () => {
    const { body } = await svc.http.expect(200, 'GET', '/api/health/detail');
    expect(JSON.stringify(body.doctor)).to.contain('The plugin absent does not run: it is not installed.');
  });
});
