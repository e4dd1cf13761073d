/** Media as agents use it, and videos over a restart of the daemon. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MEDIA_KEYS, type MediaServer, startMediaServer } from '@svc/fixtures/providers/media-server';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const MEDIA = `${OPEN_RATE}\n[media]\nvideo_poll_secs = 0.05\nvideo_timeout_secs = 5\nprices = { "minimax/image-01" = 1 }\n`;

describe('media in runs', function () {
  this.timeout(120_000);
  let server: MediaServer;
  let world: ModelKernel;
  before(async () => {
    server = await startMediaServer();
    world = await bootWithModel(undefined, { config: MEDIA, env: { MINIMAX_API_KEY: MEDIA_KEYS.minimax ?? '' } });
    await world.http.expect(200, 'PUT', '/api/providers/minimax/url', { url: `${server.url}/minimax` });
  });
  after(async () => {
    await stopModelKernels();
    await server.close();
  });
  beforeEach(() => server.beginAnew());

  const agent = async (name: string, manifest: object): Promise<string> => (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name, ...manifest } })).body.agent_id;
  const ask = async (id: string, tool: string, args: object) => {
    let result = '';
    world.model.script(({ body }) => {
      // A picture of a result stands in a message of its own behind it.
      const last = body.messages.slice(-2).find(({ role }: { role: string }) => role === 'tool');
      if (!last) return { toolCalls: [{ name: tool, args }] };
      result = last.content;
      return { text: 'done' };
    });
    const { body } = await world.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'go' });
    return { result, body };
  };

  it('tools are there for agents with `media_create` alone', async () => {
    const plain = await agent('plain', {});
    await ask(plain, 'image_generate', { prompt: 'x' });
    const offered = (index: number): string[] => (world.model.requests.at(index)?.body.tools ?? []).map(({ function: { name } }: { function: { name: string } }) => name);
    expect(offered(-1)).not.to.include('image_generate');
    expect(server.requests).to.deep.equal([]);
    const maker = await agent('maker', { capabilities: { media_create: true, file_system: true } });
    await ask(maker, 'video_status', { task_id: '00000000-0000-4000-8000-000000000000' });
    expect(offered(-1)).to.include.members(['image_generate', 'text_to_speech', 'music_generate', 'video_generate', 'video_status', 'speech_to_text', 'media_transcribe']);
  });

  it('S1 what an agent makes is a file beside its answer, and counts under its limit', async () => {
    const id = await agent('painter', { capabilities: { media_create: true }, resources: { max_cost_per_hour_usd: 1.5 } });
    const { result } = await ask(id, 'image_generate', { prompt: 'a kettle', provider: 'minimax' });
    const file = /\/api\/uploads\/([0-9a-f-]{36}) \(image\/png\)/.exec(result)?.[1];
    expect(result).to.include('minimax/image-01');
    expect((await world.http.expect(200, 'GET', `/api/uploads?agent_id=${id}`)).body.rows.map(({ file_id: one, filename }: { file_id: string; filename: string }) => [one, filename])).to.deep.equal([
      [file, 'image-a-kettle.png'],
    ]);
    const { body } = await world.http.expect(200, 'GET', '/api/budget/agents');
    expect(body.find(({ agent_id: one }: { agent_id: string }) => one === id).today_cost_usd)
      .to.be.greaterThan(1)
      .and.lessThan(1.01);
    expect((await ask(id, 'image_generate', { prompt: 'another', provider: 'minimax' })).result).to.include('may spend 1.5 USD per hour');
    expect(server.requests.filter(({ path: at }) => at.endsWith('/image_generation'))).to.have.length(1);
  });

  it('an agent begins a video and finds it when it is there', async () => {
    const id = await agent('filmer', { capabilities: { media_create: true } });
    const { result } = await ask(id, 'video_generate', { prompt: 'waves' });
    const task = /[0-9a-f-]{36}/.exec(result)?.[0] ?? '';
    for (let tries = 0; tries < 500; tries += 1) {
      if ((await world.http.expect(200, 'GET', `/api/media/video/${task}?provider=minimax`)).body.status === 'completed') break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { result: status } = await ask(id, 'video_status', { task_id: task });
    expect(status).to.match(/The video is ready\.\n\/api\/uploads\/[0-9a-f-]{36} \(video\/mp4\)/);
  });

  it('T1 a video that never ends is over after its time, and one at a private address at once', async () => {
    const begin = async (): Promise<string> => (await world.http.expect(202, 'POST', '/api/media/video', { prompt: 'waves', provider: 'minimax' })).body.task_id;
    const over = async (task: string): Promise<{ status: string; error?: string }> => {
      for (let tries = 0; tries < 600; tries += 1) {
        const { body } = await world.http.expect(200, 'GET', `/api/media/video/${task}?provider=minimax`);
        if (body.status !== 'processing') return body;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error('it never ended');
    };
    server.answer('/files/retrieve', { body: { file: { file_id: '776', download_url: 'http://169.254.169.254/latest/meta-data' }, base_resp: { status_code: 0 } } });
    const { status, error } = await over(await begin());
    expect(status).to.equal('failed');
    expect(error).to.contain('169.254.169.254');
    server.beginAnew();
    server.answer('/query/video_generation', { body: { status: 'Processing', base_resp: { status_code: 0 } } });
    expect(await over(await begin())).to.deep.include({ status: 'failed' });
  });

  it('a recording of the workspace becomes text in it, and no other file is reached', async () => {
    const id = await agent('listener', { capabilities: { media_create: true, file_system: true } });
    const { wav } = await import('@svc/fixtures/providers/media-samples');
    await world.http.expect(200, 'PUT', '/api/providers/elevenlabs/url', { url: `${server.url}/elevenlabs` });
    await world.http.expect(200, 'POST', '/api/providers/elevenlabs/key', { api_key: MEDIA_KEYS.elevenlabs });
    await world.http.expect(200, 'PUT', `/api/agents/${id}/files/talk.wav`, { content: wav(1_000).toString('base64'), encoding: 'base64' });
    expect((await ask(id, 'speech_to_text', { path: 'talk.wav', provider: 'elevenlabs' })).result).to.include('hello from eleven');
    expect((await ask(id, 'media_transcribe', { path: 'talk.wav', provider: 'elevenlabs' })).result).to.include('17 characters to talk.txt');
    expect((await world.http.expect(200, 'GET', `/api/agents/${id}/files/talk.txt`)).body.content).to.equal('hello from eleven');
    for (const [tool, args] of [
      ['speech_to_text', { path: '../other/talk.wav' }],
      ['media_transcribe', { path: 'talk.wav', out_path: 'AGENTS.md' }],
      ['media_transcribe', { path: 'talk.wav', out_path: '../x.txt' }],
    ] as const)
      expect((await ask(id, tool, { ...args, provider: 'elevenlabs' })).result, JSON.stringify(args)).to.match(/workspace|withheld|Path traversal denied/);
    expect((await world.http.expect(200, 'GET', `/api/agents/${id}/files`)).body.files.map(({ name }: { name: string }) => name))
      .to.include('talk.txt')
      .and.not.include('x.txt');
  });
});

describe('videos over a restart', function () {
  this.timeout(120_000);
  let server: MediaServer;
  let home: string;
  before(async () => {
    server = await startMediaServer();
    home = await mkdtemp(path.join(tmpdir(), 'svc-media-'));
  });
  after(async () => {
    await stopTestKernels();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });
  const boot = (): Promise<TestKernel> =>
    bootTestKernel({ home, config: `${OPEN_RATE}\n[provider_urls]\nminimax = "${server.url}/minimax"\n[media]\nvideo_poll_secs = 0.05\n`, env: { MINIMAX_API_KEY: MEDIA_KEYS.minimax ?? '' } });

  it('T3 goes on after it, is begun once and stored once', async () => {
    server.answer('/query/video_generation', { body: { status: 'Processing', base_resp: { status_code: 0 } } });
    const first = await boot();
    const { task_id: id } = (await first.http.expect(202, 'POST', '/api/media/video', { prompt: 'waves' })).body;
    await first.stop();
    server.answer('/query/video_generation', undefined);
    const second = await boot();
    let found = { status: 'processing' };
    for (let tries = 0; tries < 1_000 && found.status === 'processing'; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      found = (await second.http.expect(200, 'GET', `/api/media/video/${id}?provider=minimax`)).body;
    }
    expect(found).to.include({ status: 'completed' });
    const count = (end: string): number => server.requests.filter(({ path: at }) => at.endsWith(end)).length;
    expect([count('/video_generation') - count('/query/video_generation'), count('/download/776')]).to.deep.equal([1, 1]);
    // Reserved by a process that ended, and settled by the next one.
    expect((await second.http.expect(200, 'GET', '/api/usage')).body.total_cost_usd).to.be.closeTo(0.282, 1e-9);
  });
});
