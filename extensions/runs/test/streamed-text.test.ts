/** Text of a model goes out as it comes, from whichever driver; a run that is stopped ends the driver's stream. */
import { type DriverEvent, ModelDriver, type ModelRequest } from '@svc/ext-llm/contract';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';

const Bedrock = ModelDriver('bedrock');

describe('text of a model', () => {
  afterEach(stopTestKernels);

  /** A driver that says a word, waits for the test or for its end, and says another. */
  const open = async () => {
    const seen = { calls: 0, ended: 0 };
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const driver = fixtureExtension({
      id: 'far',
      manifest: { provides: { [Bedrock.name]: '1.0.0' } },
      definition: {
        activate: (ctx) =>
          void ctx.services.provide(Bedrock, {
            async *stream(_target, _request, { signal }): AsyncGenerator<DriverEvent> {
              seen.calls += 1;
              try {
                yield { type: 'text', text: 'the first ' };
                await Promise.race([isReleased, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
                if (signal.aborted) throw new Error('cancelled');
                yield { type: 'text', text: 'and the last' };
                yield { type: 'stop', reason: 'end' };
              } finally {
                seen.ended += 1;
              }
            },
          }),
      },
    });
    const kernel = await bootTestKernel({
      extra: [driver],
      config: `${OPEN_RATE}[extensions]\nenable = ["far"]\n`,
      env: { AWS_ACCESS_KEY_ID: 'a' },
    });
    const manifest_toml = 'name = "far"\n[model]\nprovider = "bedrock"\nmodel = "any"\n';
    const agent: string = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml })).body.agent_id;
    return { kernel, agent, seen, release };
  };

  /** Sends a message and gives what has come so far, and all of it in the end. */
  const follow = async (kernel: TestKernel, agent: string) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${kernel.url}/api/agents/${agent}/message/stream`, { method: 'POST', headers, body: JSON.stringify({ message: 'go' }) });
    let text = '';
    const whole = (async () => {
      const decoder = new TextDecoder();
      for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true });
    })();
    return { soFar: () => text, whole };
  };

  it('is told while the model still speaks, and whole in the end', async () => {
    const { kernel, agent, seen, release } = await open();
    const { soFar, whole } = await follow(kernel, agent);
    await until(() => soFar().includes('the first '));
    expect(soFar()).to.not.contain('and the last');
    expect(seen).to.deep.equal({ calls: 1, ended: 0 });
    release();
    await whole;
    expect(soFar())
      .to.match(/event: chunk\n.*and the last/)
      .and.to.match(/"response":"the first and the last"/);
  });

  it('ends with its run: a stop ends the stream of the driver, and nobody asks again', async () => {
    const { kernel, agent, seen } = await open();
    const { soFar, whole } = await follow(kernel, agent);
    await until(() => soFar().includes('the first '));
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/stop`);
    await whole;
    await until(() => seen.ended === 1);
    expect(seen).to.deep.equal({ calls: 1, ended: 1 });
    expect(soFar())
      .to.match(/"finish":"cancelled"/)
      .and.to.not.contain('and the last');
  });

  it('is followed by calls that go back with what their provider wants to see again', async () => {
    const asked: ModelRequest[] = [];
    const driver = fixtureExtension({
      id: 'far',
      manifest: { provides: { [Bedrock.name]: '1.0.0' } },
      definition: {
        activate: (ctx) =>
          void ctx.services.provide(Bedrock, {
            async *stream(_target, request): AsyncGenerator<DriverEvent> {
              asked.push(request);
              if (asked.length === 1) yield { type: 'call', id: 'c1', name: 'system_time', argsText: '{}', signature: 'sealed' };
              else yield { type: 'text', text: 'noon' };
              yield { type: 'stop', reason: asked.length === 1 ? 'tool_calls' : 'end' };
            },
          }),
      },
    });
    const kernel = await bootTestKernel({ extra: [driver], config: `${OPEN_RATE}[extensions]\nenable = ["far"]\n`, env: { AWS_ACCESS_KEY_ID: 'a' } });
    const manifest_toml = 'name = "far"\n[model]\nprovider = "bedrock"\nmodel = "any"\n';
    const agent: string = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml })).body.agent_id;
    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'what time is it?' });
    const call = asked[1]?.messages.flatMap(({ parts }) => parts).find((part) => part.type === 'tool_call');
    expect(call).to.deep.include({ id: 'c1', signature: 'sealed' });
  });
});
