/** Media over HTTP. */
import { Nullable, OneOf, reply, type Req, type RouteDecl, routeGroup, Type, Uuid, UuidText } from '@svc/api';
import type { TaskRow } from './contract.js';
import { SPEECH_FORMATS } from './drivers/driver.js';
import { CAPABILITIES } from './offers.js';
import { mediaProviders, type ChoosingDeps } from './making/choosing.js';
import type { Who } from './making/spending.js';
import type { Studio } from './making/studio.js';
import { recordingOf } from './recording.js';
import type { Tasks } from './tasks.js';

const route = routeGroup({ area: 'media', errors: [400] });

const TEXT = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$';
const words = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, pattern: TEXT, description });
const Provider = Type.Optional(Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$', description: 'By default, the first that makes this and has a key' }));
const Model = Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9._:/-]+$', description: "By default, the provider's usual one" }));
const Language = Type.String({ maxLength: 20, pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$' });
const Url = Type.String({ pattern: '^/api/uploads/', description: 'Of the upload: GET it with your key' });
const Cost = Type.Number({ description: 'US dollars, by the list price' });
const Pixels = Type.Optional(Type.Integer({ minimum: 1, maximum: 16_384, description: 'The nearest form that the model has is used' }));

export const ImageBody = Type.Object(
  {
    prompt: words(4_000, 'What the image shows'),
    provider: Provider,
    model: Model,
    width: Pixels,
    height: Pixels,
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, default: 1 })),
    aspect_ratio: Type.Optional(Type.String({ pattern: '^[1-9][0-9]?:[1-9][0-9]?$', description: 'Instead of width and height: `16:9`' })),
    quality: Type.Optional(Type.String({ maxLength: 20, pattern: '^[a-z]+$', description: "The model's own word, such as `hd` or `high`" })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  },
  { additionalProperties: false },
);

export const SpeechBody = Type.Object(
  {
    text: words(10_000, 'What is said'),
    provider: Provider,
    model: Model,
    voice: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_. -]+$', description: "The provider's name for a voice" })),
    format: Type.Optional(OneOf(SPEECH_FORMATS, { default: 'mp3' })),
    speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
    language: Type.Optional(Language),
    pitch: Type.Optional(Type.Number({ minimum: -20, maximum: 20 })),
  },
  { additionalProperties: false },
);

export const VideoBody = Type.Object(
  {
    prompt: words(2_000, 'What the video shows'),
    provider: Provider,
    model: Model,
    duration_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60, default: 6 })),
    resolution: Type.Optional(Type.String({ maxLength: 10, pattern: '^[0-9]{3,4}P$', description: 'Such as `768P` or `1080P`' })),
    image_url: Type.Optional(Type.String({ maxLength: 4_000, pattern: '^https://[^\\s]+$', description: 'The picture that it begins with' })),
    optimize_prompt: Type.Optional(Type.Boolean({ description: 'Whether the provider may reword the prompt' })),
  },
  { additionalProperties: false },
);

const song = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, pattern: TEXT, description }));
export const MusicBody = Type.Object(
  {
    prompt: song(2_000, 'Style, mood, instruments. An empty text counts as none'),
    lyrics: song(3_500, 'What is sung'),
    instrumental: Type.Optional(Type.Boolean({ default: false })),
    format: Type.Optional(OneOf(['mp3', 'wav'], { default: 'mp3' })),
    provider: Provider,
    model: Model,
  },
  { additionalProperties: false },
);

const SoundAnswer = {
  url: Url,
  format: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  duration_ms: Type.Integer({ description: '0 where it cannot be told' }),
  sample_rate: Type.Integer({ description: '0 where it cannot be told' }),
  cost_usd: Cost,
};

const MAX_RECORDING_BYTES = 10 * 1_048_576;
const Bytes = Type.String({ format: 'binary' });
const RecordingForm = Type.Object({ file: Type.String({ format: 'binary', description: 'The recording' }) }, { 'x-name': 'RecordingForm' });

const Processing = Type.Object({ status: OneOf(['processing']), task_id: Uuid, provider: Type.String(), model: Type.String(), created_at: Type.String({ format: 'date-time' }) });
const Completed = Type.Object({
  status: OneOf(['completed']),
  task_id: Uuid,
  result: Type.Object({ file_url: Url, width: Type.Integer(), height: Type.Integer(), duration_secs: Type.Number(), provider: Type.String(), model: Type.String() }),
  cost_usd: Cost,
});
const Failed = Type.Object({ status: OneOf(['failed']), task_id: Uuid, error: Type.String() });

export interface RouteDeps extends Pick<ChoosingDeps, 'providers'> {
  readonly studio: Studio;
  readonly tasks: Tasks;
}

const LIMITS =
  'Its cost is reserved before and settled after, under [budget] (429 where a limit is reached), and it is in the usage. Without a key the answer is 400 with the command that adds one; a key that the provider refuses is 502.';
const SPENDS = [413, 429, 502, 503];

const whoOf = ({ actor, id }: Pick<Req, 'actor' | 'id'>): Who => ({ actor, agentId: '', runId: id });

export const mediaRoutes = (deps: RouteDeps): RouteDecl[] => [imageRoute(deps), speechRoute(deps), musicRoute(deps), transcribeRoute(deps), ...videoRoutes(deps), providersRoute(deps)];

const imageRoute = ({ studio }: RouteDeps): RouteDecl =>
  route({
    id: 'generateImage',
    method: 'POST',
    path: '/api/media/image',
    summary: 'Make images from a text',
    description: `Answers when they are made. Each is an upload of yours. ${LIMITS} Where a provider makes fewer than \`count\`, those that it made are charged.`,
    cost: 20,
    idempotent: true,
    audit: 'image_generated',
    body: ImageBody,
    examples: {
      'one picture': { prompt: 'A lighthouse in a storm, oil on canvas' },
      'a wide one': { prompt: 'A lighthouse in a storm', width: 1_792, height: 1_024 },
      'three of another provider': { prompt: 'A lighthouse in a storm', provider: 'minimax', count: 3, aspect_ratio: '16:9' },
    },
    errors: SPENDS,
    responses: { 200: Type.Object({ images: Type.Array(Type.Object({ url: Url })), model: Type.String(), provider: Type.String(), revised_prompt: Nullable(Type.String()), cost_usd: Cost }) },
    handler: async (req) => reply(200, (await studio.image(whoOf(req), req.body, (answer) => req.receipt(reply(200, answer)))).answer),
  });

const speechRoute = ({ studio }: RouteDeps): RouteDecl =>
  route({
    id: 'generateSpeech',
    method: 'POST',
    path: '/api/media/speech',
    summary: 'Read a text aloud',
    description: `Answers when it is spoken. The sound is an upload of yours. ${LIMITS}`,
    cost: 20,
    idempotent: true,
    audit: 'speech_generated',
    body: SpeechBody,
    examples: {
      'a sentence': { text: 'The kettle is boiling.' },
      'another voice, faster': { text: 'The kettle is boiling.', voice: 'nova', speed: 1.25 },
      'another provider': { text: 'Das Wasser kocht.', provider: 'google_tts', voice: 'de-DE-Neural2-B', format: 'opus' },
    },
    errors: SPENDS,
    responses: { 200: Type.Object(SoundAnswer) },
    handler: async (req) => reply(200, (await studio.speech(whoOf(req), req.body, (answer) => req.receipt(reply(200, answer)))).answer),
  });

const musicRoute = ({ studio }: RouteDeps): RouteDecl =>
  route({
    id: 'generateMusic',
    method: 'POST',
    path: '/api/media/music',
    summary: 'Make a song',
    description: `From a prompt, lyrics or both. Answers when it is made, which takes a minute or two. The sound is an upload of yours. ${LIMITS}`,
    cost: 20,
    idempotent: true,
    audit: 'music_generated',
    body: MusicBody,
    examples: {
      'a mood': { prompt: 'Calm piano, rain, late evening', instrumental: true },
      'with words': { prompt: 'Folk, guitar', lyrics: '[verse]\nThe kettle sings\nthe morning in' },
      'words alone, uncompressed': { lyrics: '[chorus]\nBoil, boil', format: 'wav' },
    },
    errors: SPENDS,
    responses: { 200: Type.Object(SoundAnswer) },
    handler: async (req) => reply(200, (await studio.music(whoOf(req), req.body, (answer) => req.receipt(reply(200, answer)))).answer),
  });

const transcribeRoute = ({ studio }: RouteDeps): RouteDecl =>
  route({
    id: 'transcribeAudio',
    method: 'POST',
    path: '/api/media/transcribe',
    summary: 'Write down what is said in a recording',
    description: `Send the bytes with their \`Content-Type\` (audio/…), or a form with the field \`file\`. At most 10 MiB. Nothing of the recording is stored. ${LIMITS}`,
    cost: 20,
    audit: 'audio_transcribed',
    query: Type.Object({
      provider: Provider,
      model: Model,
      language: Type.Optional(Language),
      prompt: Type.Optional(Type.String({ maxLength: 1_000, pattern: TEXT, description: 'Words to expect' })),
    }),
    rawBody: true,
    maxBodyBytes: MAX_RECORDING_BYTES,
    takes: { 'multipart/form-data': RecordingForm, 'audio/*': Bytes },
    errors: SPENDS,
    responses: { 200: Type.Object({ text: Type.String(), provider: Type.String(), model: Type.String(), duration_ms: Type.Integer({ description: '0 where it cannot be told' }), cost_usd: Cost }) },
    handler: async (req) => reply(200, await studio.transcribe(whoOf(req), { ...req.query, ...(await recordingOf(req.headers['content-type'], req.body as Uint8Array)) })),
  });

const videoRoutes = ({ tasks }: RouteDeps): RouteDecl[] => [
  route({
    id: 'generateVideo',
    method: 'POST',
    path: '/api/media/video',
    summary: 'Begin a video',
    description: `Answers when the provider took it. It goes on by itself, also after a restart; ask GET /api/media/video/{task_id} for the result. ${LIMITS}`,
    cost: 20,
    idempotent: true,
    audit: 'video_begun',
    body: VideoBody,
    examples: {
      'six seconds': { prompt: 'Waves at a lighthouse, slow zoom' },
      'ten, sharper': { prompt: 'Waves at a lighthouse', duration_secs: 10, resolution: '1080P' },
      'from a picture': { prompt: 'The light begins to turn', provider: 'minimax', image_url: 'https://example.com/lighthouse.png' },
    },
    errors: [404, ...SPENDS],
    responses: { 202: Type.Object({ task_id: Uuid, provider: Type.String() }) },
    handler: async (req) => {
      const begun = await tasks.begin(whoOf(req), req.body, (answer) => req.receipt(reply(202, answer)));
      return reply(202, begun, { location: `/api/media/video/${begun.task_id}?provider=${begun.provider}` });
    },
  }),
  route({
    id: 'getVideo',
    method: 'GET',
    path: '/api/media/video/{task_id}',
    summary: 'Get the state of a video',
    description: 'With the file when it is completed, and the reason when it failed. svc itself asks the provider; this only reads what is known.',
    params: Type.Object({ task_id: UuidText('The task_id of the answer that began it') }),
    query: Type.Object({ provider: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$', description: 'The provider of that answer' }) }),
    errors: [404],
    responses: { 200: Type.Union([Processing, Completed, Failed]) },
    handler: async ({ actor, params, query }) => {
      const row = await tasks.get(actor, params.task_id, query.provider);
      return reply(200, videoOf(row, tasks.costOf(row)));
    },
  }),
];

export const videoOf = (row: TaskRow, costUsd: number) => {
  const { id, provider, model } = row;
  if (row.state === 'failed') return { status: 'failed' as const, task_id: id, error: row.error ?? '' };
  if (row.state === 'processing') return { status: 'processing' as const, task_id: id, provider, model, created_at: row.created_at };
  const result = { file_url: `/api/uploads/${row.file_id ?? ''}`, width: row.width ?? 0, height: row.height ?? 0, duration_secs: row.seconds, provider, model };
  return { status: 'completed' as const, task_id: id, result, cost_usd: costUsd };
};

const MediaProvider = Type.Object(
  { name: Type.String(), configured: Type.Boolean({ description: 'Whether it has a key' }), capabilities: Type.Array(OneOf(CAPABILITIES)) },
  { 'x-name': 'MediaProvider' },
);

const providersRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'listMediaProviders',
    method: 'GET',
    path: '/api/media/providers',
    summary: 'List providers of media',
    description: 'In the order in which they are tried, with what each makes and whether it has a key. Any other server that speaks the protocol of OpenAI can be named too.',
    responses: { 200: Type.Object({ providers: Type.Array(MediaProvider) }) },
    handler: async () => reply(200, { providers: await mediaProviders(deps) }),
  });
