/** Media over HTTP, with providers on their own wires. */
import { createHash } from 'node:crypto';
import { MEDIA_KEYS, type MediaServer, MP4, startMediaServer } from '@svc/fixtures/providers/media-server';
import { PNG, wav } from '@svc/fixtures/providers/media-samples';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { owner: 'media-root-key', alice: 'media-alice-key', bob: 'media-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const NAMES = ['openai', 'gemini', 'elevenlabs', 'minimax', 'google_tts'];
const QUICK = '[media]\nvideo_poll_secs = 0.05\nrequest_timeout_secs = 20\n';

const config = (url: string, more = ''): string =>
  `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}[provider_urls]\n${NAMES.map((name) => `${name} = "${url}/${name}"\n`).join('')}${QUICK}${more}`;

describe('media', function () {
  this.timeout(120_000);
  let server: MediaServer;
  let kernel: TestKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  let bob: TestHttp;
  before(async () => {
    server = await startMediaServer();
    kernel = await bootTestKernel({ config: config(server.url), key: KEYS.owner });
    owner = kernel.http;
    [alice, bob] = [kernel.as(KEYS.alice), kernel.as(KEYS.bob)];
    const { body } = await alice.expect(400, 'POST', '/api/media/image', { prompt: 'x' });
    expect([body.code, body.error]).to.deep.equal(['media_no_provider', 'No provider for images has an API key. Add one with `svc providers set-key openai`.']);
    for (const name of NAMES) await owner.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: MEDIA_KEYS[name] });
  });
  after(async () => {
    await stopTestKernels();
    await server.close();
  });
  beforeEach(() => server.beginAnew());

  const made = async (path: string, body: object, http = alice) => (await http.expect(200, 'POST', `/api/media/${path}`, body)).body;
  const refused = async (status: number, path: string, body: object, http = alice): Promise<string> => (await http.expect(status, 'POST', `/api/media/${path}`, body)).body.code;
  const bytesOf = async (url: string, http = alice) => {
    const answer = await http.raw('GET', url, undefined);
    expect(answer.status, url).to.equal(200);
    return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const last = () => server.requests.at(-1);
  const spent = async (): Promise<number> => (await owner.expect(200, 'GET', '/api/usage')).body.total_cost_usd;
  const video = async (id: string, http = alice) => (await http.expect(200, 'GET', `/api/media/video/${id}?provider=minimax`)).body;
  const over = async (id: string) => {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const found = await video(id);
      if (found.status !== 'processing') return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`the video ${id} never ended`);
  };

  it('lists who makes what, in order, and who has a key', async () => {
    const { providers } = (await alice.expect(200, 'GET', '/api/media/providers')).body;
    expect(
      providers.slice(0, 6).map(({ name, configured, capabilities }: { name: string; configured: boolean; capabilities: string[] }) => `${name} ${configured}: ${capabilities.join(' ')}`),
    ).to.deep.equal([
      'openai true: ImageGeneration TextToSpeech Transcription',
      'gemini true: ImageGeneration Transcription',
      'elevenlabs true: TextToSpeech Transcription',
      'minimax true: ImageGeneration TextToSpeech VideoGeneration MusicGeneration',
      'google_tts true: TextToSpeech',
      'groq false: Transcription',
    ]);
  });

  it('make images in the form of each provider, stored as uploads of the person', async () => {
    const one = await made('image', { prompt: ' A red kettle ', width: 1_800, height: 1_000, count: 2 });
    expect([one.provider, one.model, one.revised_prompt, one.images.length]).to.deep.equal(['openai', 'dall-e-3', 'revised: A red kettle', 2]);
    expect(server.requests.map(({ path, body }) => [path, body.n, body.size, body.response_format, body.prompt])).to.deep.equal(
      Array.from({ length: 2 }, () => ['/openai/images/generations', 1, '1792x1024', 'b64_json', 'A red kettle']),
    );
    expect(last()?.headers.authorization).to.equal(`Bearer ${MEDIA_KEYS.openai}`);
    const { type, bytes } = await bytesOf(one.images[0].url);
    expect([type, Buffer.compare(bytes, PNG)]).to.deep.equal(['image/png', 0]);
    expect((await bob.raw('GET', one.images[0].url, undefined)).status).to.equal(404);

    await made('image', { prompt: 'x', provider: 'openai', model: 'gpt-image-1', quality: 'high', height: 2_000, width: 1_000 });
    expect(last()?.body).to.deep.equal({ model: 'gpt-image-1', prompt: 'x', n: 1, size: '1024x1536', quality: 'high' });
    await made('image', { prompt: 'x', provider: 'google', count: 3, aspect_ratio: '16:9' });
    expect([last()?.path, last()?.body, last()?.headers['x-goog-api-key']]).to.deep.equal([
      '/gemini/v1beta/models/imagen-3.0-generate-002:predict',
      { instances: [{ prompt: 'x' }], parameters: { sampleCount: 3, aspectRatio: '16:9' } },
      MEDIA_KEYS.gemini,
    ]);
    expect((await made('image', { prompt: 'x', provider: 'gemini', model: 'gemini-2.5-flash-image' })).images).to.have.length(1);
    expect(last()?.body.generationConfig).to.deep.equal({ responseModalities: ['IMAGE'] });
    expect((await made('image', { prompt: 'x', provider: 'minimax', count: 2, width: 900, height: 1_600 })).images).to.have.length(2);
    expect(last()?.body).to.deep.equal({ model: 'image-01', prompt: 'x', n: 2, aspect_ratio: '9:16', response_format: 'base64' });
  });

  it('download an image that a provider names by its address, from its own server or the public web alone', async () => {
    server.answer('/images/generations', { body: { data: [{ url: `${server.url}/openai/made/1.png` }] } });
    server.answer('/made/1.png', { body: PNG });
    expect((await made('image', { prompt: 'x', provider: 'openai' })).images).to.have.length(1);
    expect(last()?.headers.authorization).to.equal(undefined);
    server.answer('/images/generations', { body: { data: [{ url: `${server.url}/elsewhere/1.png` }] } });
    expect(await refused(502, 'image', { prompt: 'x', provider: 'openai' })).to.equal('media_upstream_failed');
    expect(server.requests.filter(({ path }) => path.startsWith('/elsewhere'))).to.deep.equal([]);
  });

  it('read texts aloud, and tell how long it is', async () => {
    const one = await made('speech', { text: 'hello', format: 'wav', speed: 1.5 });
    expect(one).to.include({ provider: 'openai', model: 'tts-1', format: 'wav', duration_ms: 2_000, sample_rate: 8_000 });
    expect(last()?.body).to.deep.equal({ model: 'tts-1', input: 'hello', voice: 'alloy', response_format: 'wav', speed: 1.5 });
    expect((await bytesOf(one.url)).type).to.equal('audio/wav');
    await made('speech', { text: 'hello', provider: 'elevenlabs' });
    expect([last()?.path, last()?.query, last()?.headers['xi-api-key'], last()?.body.model_id]).to.deep.equal([
      '/elevenlabs/text-to-speech/21m00Tcm4TlvDq8ikWAM',
      { output_format: 'mp3_44100_128' },
      MEDIA_KEYS.elevenlabs,
      'eleven_multilingual_v2',
    ]);
    expect(await made('speech', { text: 'hello', provider: 'minimax', format: 'wav', pitch: 2 })).to.include({ duration_ms: 1_500, sample_rate: 32_000 });
    expect(last()?.body).to.deep.include({ text: 'hello', stream: false, audio_setting: { format: 'wav', sample_rate: 32_000 } });
    await made('speech', { text: 'hallo', provider: 'google_tts', format: 'wav', voice: 'de-DE-Neural2-B' });
    expect(last()?.body).to.deep.equal({ input: { text: 'hallo' }, voice: { languageCode: 'de-DE', name: 'de-DE-Neural2-B' }, audioConfig: { audioEncoding: 'LINEAR16' } });
  });

  it('make songs from a prompt or lyrics, where empty texts count as none', async () => {
    expect(await made('music', { lyrics: 'la', prompt: ' ', instrumental: false, format: 'wav' })).to.include({ provider: 'minimax', duration_ms: 3_000, sample_rate: 44_100, format: 'wav' });
    expect([last()?.path, 'prompt' in (last()?.body ?? {}), last()?.body.lyrics]).to.deep.equal(['/minimax/music_generation', false, 'la']);
    expect(await refused(400, 'music', { prompt: '', lyrics: ' ' })).to.equal('media_invalid');
    expect(await refused(400, 'music', {})).to.equal('media_invalid');
  });

  it('write down recordings: the body itself, or the file of a form', async () => {
    const send = async (type: string, sent: Buffer | string, query = '') => {
      const body = Buffer.from(sent as string);
      const answer = await fetch(`${alice.url}/api/media/transcribe${query}`, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': type, authorization: `Bearer ${KEYS.alice}` } });
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    };
    const one = await send('audio/wav; codecs=1', wav(4_000), '?language=en');
    expect(one.body).to.deep.include({ text: 'the kettle is boiling', provider: 'openai', model: 'whisper-1', duration_ms: 4_000, cost_usd: 0.0003 });
    const sent = last()?.raw.toString('latin1') ?? '';
    expect(sent).to.include('name="file"; filename="recording.wav"').and.include('name="model"\r\n\r\nwhisper-1').and.include('name="language"\r\n\r\nen');
    const form = Buffer.concat([Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n'), wav(1_000), Buffer.from('\r\n--b--\r\n')]);
    expect((await send('multipart/form-data; boundary=b', form, '?provider=gemini')).body.text).to.equal('hello from gemini');
    expect(last()?.body.contents[0].parts[1].inline_data).to.deep.equal({ mime_type: 'audio/wav', data: wav(1_000).toString('base64') });
    expect((await send('audio/mpeg', wav(1_000), '?provider=elevenlabs')).body.text).to.equal('hello from eleven');
    for (const [type, body, status, code] of [
      ['text/plain', 'x', 400, 'media_not_audio'],
      ['audio/wav', '', 400, 'media_no_audio'],
      ['multipart/form-data; boundary=b', 'no form', 400, 'media_no_audio'],
      ['audio/wav', Buffer.alloc(10 * 1_048_576 + 1), 413, 'body_too_large'],
    ] as const) {
      const answer = await send(type, body as Buffer);
      expect([answer.status, answer.body.code], type).to.deep.equal([status, code]);
    }
  });

  it('T2 begin videos, which go on by themselves and belong to one person', async () => {
    let asked = 0;
    server.answer('/query/video_generation', () => ({
      body: { status: ['Preparing', 'Processing'][asked++] ?? 'Success', file_id: 776, video_width: 1_366, video_height: 768, base_resp: { status_code: 0 } },
    }));
    const before = await spent();
    const { task_id: id, provider } = (await alice.expect(202, 'POST', '/api/media/video', { prompt: 'waves', duration_secs: 10 })).body;
    expect([provider, server.requests[0]?.body]).to.deep.equal(['minimax', { model: 'MiniMax-Hailuo-2.3', prompt: 'waves', duration: 10 }]);
    expect(await video(id)).to.include({ status: 'processing', task_id: id });
    for (const [status, path] of [
      [404, `/api/media/video/${id}?provider=openai`],
      [404, '/api/media/video/00000000-0000-4000-8000-000000000000?provider=minimax'],
      [400, `/api/media/video/${id}`],
      [404, '/api/media/video/x?provider=minimax'],
    ] as const)
      await alice.expect(status, 'GET', path);
    await bob.expect(404, 'GET', `/api/media/video/${id}?provider=minimax`);
    const found = await over(id);
    expect(found.result).to.include({ width: 1_366, height: 768, duration_secs: 10, provider: 'minimax', model: 'MiniMax-Hailuo-2.3' });
    expect([asked, server.requests.filter(({ path }) => path.endsWith('/download/776')).length]).to.deep.equal([3, 1]);
    const { type, bytes } = await bytesOf(found.result.file_url);
    expect([type, Buffer.compare(bytes, MP4)]).to.deep.equal(['video/mp4', 0]);
    expect(found.cost_usd).to.equal(0.47);
    expect((await spent()) - before).to.be.closeTo(0.47, 1e-9);
  });

  it('T4 a video that the provider refuses fails at once, one that it cannot make fails later; neither costs anything', async () => {
    const before = await spent();
    server.answer('/video_generation', { body: { base_resp: { status_code: 1_026, status_msg: 'sensitive' } } });
    expect(await refused(400, 'video', { prompt: 'x' })).to.equal('media_content_refused');
    server.beginAnew();
    server.answer('/query/video_generation', { body: { status: 'Fail', base_resp: { status_code: 0 } } });
    const { task_id: id } = (await alice.expect(202, 'POST', '/api/media/video', { prompt: 'x' })).body;
    expect(await over(id)).to.deep.equal({ status: 'failed', task_id: id, error: 'minimax rejected the request: minimax could not make the video' });
    expect((await spent()) - before).to.equal(0);
  });

  it('a provider that stumbles while a video is made is asked again', async () => {
    let asked = 0;
    server.answer('/query/video_generation', () =>
      asked++ < 2 ? { status: 503, body: { error: { message: 'busy' } } } : { body: { status: 'Success', file_id: '776', base_resp: { status_code: 0 } } },
    );
    const { task_id: id } = (await alice.expect(202, 'POST', '/api/media/video', { prompt: 'x' })).body;
    expect([(await over(id)).status, asked]).to.deep.equal(['completed', 3]);
  });

  it('S1 what was made stands in the usage, by unit', async () => {
    const before = await spent();
    const { cost_usd: image } = await made('image', { prompt: 'x', quality: 'hd', count: 2 });
    const { cost_usd: speech } = await made('speech', { text: 'a'.repeat(1_000), format: 'wav' });
    expect([image, speech]).to.deep.equal([0.16, 0.015]);
    expect((await spent()) - before).to.be.closeTo(0.175, 1e-9);
  });

  it('S1 a limit of cost holds for media as it does for models', async () => {
    await owner.expect(200, 'PUT', '/api/budget', { daily_limit_usd: (await spent()) + 0.05 });
    try {
      const answers = await Promise.all([1, 2, 3].map(() => alice.send('POST', '/api/media/image', { prompt: 'x' })));
      expect(answers.map(({ status, body }) => (status === 200 ? 'made' : body.code)).sort()).to.deep.equal(['budget_exceeded', 'budget_exceeded', 'made']);
      expect(server.requests).to.have.length(1);
      expect((await alice.expect(429, 'POST', '/api/media/video', { prompt: 'x' })).body.code).to.equal('budget_exceeded');
    } finally {
      await owner.expect(200, 'PUT', '/api/budget', { daily_limit_usd: 0 });
    }
  });

  it('S2 a refused request costs nothing, one whose end nobody knows counts', async () => {
    const before = await spent();
    server.answer('/images/generations', { status: 400, body: { error: { message: 'rejected by our safety system', code: 'content_policy_violation' } } });
    expect(await refused(400, 'image', { prompt: 'x' })).to.equal('media_content_refused');
    expect((await spent()) - before).to.equal(0);
    server.answer('/images/generations', { body: '<html>' });
    expect(await refused(502, 'image', { prompt: 'x' })).to.equal('media_upstream_failed');
    expect((await spent()) - before).to.be.closeTo(0.04, 1e-9);
  });

  it('W2 errors of providers have the status of the interface, and never show the key', async () => {
    for (const [name, path, body] of [
      ['openai', 'image', { prompt: 'x' }],
      ['gemini', 'image', { prompt: 'x' }],
      ['elevenlabs', 'speech', { text: 'x' }],
      ['minimax', 'video', { prompt: 'x' }],
    ] as const) {
      await owner.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: `wrong-${'k'.repeat(30)}` });
      const answer = await alice.expect(502, 'POST', `/api/media/${path}`, { ...body, provider: name });
      expect(answer.body.code, name).to.equal('media_unauthorized');
      expect(JSON.stringify(answer.body)).not.to.include('wrong-');
      await owner.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: MEDIA_KEYS[name] });
    }
    for (const [status, code, body, wanted] of [
      [429, 429, {}, 'media_rate_limited'],
      [402, 502, {}, 'media_credit'],
      [500, 502, { error: { message: 'boom sk-aaaaaaaaaaaaaaaaaaaaaaaa' } }, 'media_upstream_failed'],
      [422, 400, { detail: 'no such size' }, 'media_rejected'],
    ] as const) {
      server.answer('/images/generations', { status, body });
      const answer = await alice.expect(code, 'POST', '/api/media/image', { prompt: 'x' });
      expect(answer.body.code).to.equal(wanted);
      expect(JSON.stringify(answer.body)).not.to.include('sk-aaaa');
    }
  });

  it('M1 a named provider is used or the request fails', async () => {
    for (const provider of ['nobody', 'constructor']) expect(await refused(400, 'image', { prompt: 'x', provider }), provider).to.equal('media_unknown_provider');
    expect(await refused(400, 'image', { prompt: 'x', provider: 'elevenlabs' })).to.equal('media_not_supported');
    expect(await refused(400, 'video', { prompt: 'x', provider: 'openai' })).to.equal('media_not_supported');
    const { body } = await alice.expect(400, 'POST', '/api/media/image', { prompt: 'x', provider: 'together', model: 'flux' });
    expect([body.code, body.error]).to.deep.equal(['media_key_missing', 'together has no API key. Add it with `svc providers set-key together`.']);
    // Any other server of this protocol, which a person named by its address.
    await owner.expect(200, 'PUT', '/api/providers/painter/url', { url: `${server.url}/painter`, create: true });
    server.answer('/painter/images/generations', { body: { data: [{ b64_json: PNG.toString('base64') }] } });
    expect(await refused(400, 'image', { prompt: 'x', provider: 'painter' })).to.equal('media_invalid');
    expect(await made('image', { prompt: 'x', provider: 'painter', model: 'flux' })).to.include({ provider: 'painter', cost_usd: 0 });
  });

  it('a file that is not what it should be is an error of the provider', async () => {
    for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', '<!doctype html><script>alert(1)</script>', '']) {
      server.answer('/images/generations', { body: { data: [{ b64_json: Buffer.from(text).toString('base64') }] } });
      expect(await refused(502, 'image', { prompt: 'x', provider: 'openai' }), text).to.equal('media_upstream_failed');
    }
    server.answer('/audio/speech', { headers: { 'content-type': 'audio/mpeg' }, body: 'not a sound' });
    expect(await refused(502, 'speech', { text: 'x' })).to.equal('media_upstream_failed');
    server.answer('/audio/speech', { body: '' });
    expect(await refused(502, 'speech', { text: 'x' })).to.equal('media_upstream_failed');
  });

  it('refuse what no provider should be asked', async () => {
    for (const [path, body] of [
      ['image', {}],
      ['image', { prompt: ' \n' }],
      ['image', { prompt: 'a\u0007b' }],
      ['image', { prompt: 'a'.repeat(4_001) }],
      ['image', { prompt: 'a', count: 10 }],
      ['image', { prompt: 'a', width: 0 }],
      ['speech', { text: 'a', speed: 5 }],
      ['speech', { text: 'a', voice: '../x' }],
      ['speech', { text: 'a', provider: 'elevenlabs', voice: 'nova' }],
      ['video', { prompt: 'a', duration_secs: 61 }],
      ['video', { prompt: 'a', image_url: 'http://127.0.0.1/x.png' }],
      ['music', { prompt: 'a', format: 'exe' }],
    ] as const)
      await alice.expect(400, 'POST', `/api/media/${path}`, body);
    expect(server.requests).to.deep.equal([]);
  });

  it('the same Idempotency-Key makes and charges once', async () => {
    const before = await spent();
    const headers = { 'idempotency-key': 'picture-1' };
    const one = await alice.expect(200, 'POST', '/api/media/image', { prompt: 'x' }, headers);
    const two = await alice.expect(200, 'POST', '/api/media/image', { prompt: 'x' }, headers);
    expect(two.body).to.deep.equal(one.body);
    expect(server.requests).to.have.length(1);
    expect((await spent()) - before).to.be.closeTo(0.04, 1e-9);
    const tasks = await Promise.all([1, 2].map(() => alice.expect(202, 'POST', '/api/media/video', { prompt: 'x' }, { 'idempotency-key': `v-${Math.random()}` })));
    expect(new Set(tasks.map(({ body }) => body.task_id)).size).to.equal(2);
  });
});
