/** MiniMax: images, speech, music, and video as a task that is asked for. Errors come with status 200, in `base_resp`. */
import { mediaErrors } from '../errors.js';
import type { MediaDriver, Target } from './driver.js';
import { AUDIO_TYPES, base64File, given, hexFile, listAt, nearestSize, neededText, numberAt, textAt } from './values.js';
import type { Json, Wire, WireRequest } from './driver.js';
import { plain } from './wire.js';

const RATE_LIMITED = 1_002;
const UNAUTHORIZED: ReadonlySet<number> = new Set([1_004, 2_049]);
const NO_CREDIT = 1_008;
const CONTENT: ReadonlySet<number> = new Set([1_026, 1_027]);
const BAD_PARAMETERS = 2_013;

const SIZES = ['1x1', '16x9', '4x3', '3x2', '2x3', '3x4', '9x16', '21x9'];

const ask = async (wire: Wire, target: Target, request: WireRequest): Promise<Json> => {
  const body = await wire.json(target, request);
  const code = numberAt(body, 'base_resp', 'status_code') ?? 0;
  if (code === 0) return body;
  const said = plain(textAt(body, 'base_resp', 'status_msg') ?? `code ${code}`);
  const { provider } = target;
  if (code === RATE_LIMITED) throw mediaErrors.rate_limited(provider);
  if (UNAUTHORIZED.has(code)) throw mediaErrors.unauthorized(provider);
  if (code === NO_CREDIT) throw mediaErrors.credit(provider);
  if (CONTENT.has(code)) throw mediaErrors.content_refused(provider, said);
  if (code === BAD_PARAMETERS) throw mediaErrors.rejected(provider, said);
  throw mediaErrors.upstream_failed(provider, said);
};

export const minimax: MediaDriver = {
  sizeFor: (_model, width, height) => nearestSize(SIZES, width, height),
  image: async (wire, target, { prompt, count, aspectRatio, size, seed }) => {
    const body = given({ model: target.model, prompt, n: count, aspect_ratio: aspectRatio ?? size?.replace('x', ':'), seed, response_format: 'base64' });
    const files = listAt(await ask(wire, target, { path: '/image_generation', body }), 'data', 'image_base64').flatMap((data) => (typeof data === 'string' ? [base64File(data)] : []));
    if (files.length === 0) throw mediaErrors.content_refused(target.provider, 'it gave no image');
    return { files, revisedPrompt: null };
  },
  speech: async (wire, target, { text, voice = 'English_Graceful_Lady', format, speed, language, pitch }) => {
    if (format === 'opus') throw mediaErrors.invalid('minimax gives mp3, wav or flac, not opus');
    const body = {
      ...given({ model: target.model, text, language_boost: language }),
      stream: false,
      voice_setting: given({ voice_id: voice, speed, pitch }),
      audio_setting: { format, sample_rate: 32_000 },
    };
    const answer = await ask(wire, target, { path: '/t2a_v2', body });
    return {
      ...hexFile(neededText(target.provider, answer, 'data', 'audio'), AUDIO_TYPES[format]),
      durationMs: numberAt(answer, 'extra_info', 'audio_length'),
      sampleRate: numberAt(answer, 'extra_info', 'audio_sample_rate'),
    };
  },
  music: async (wire, target, { prompt, lyrics, isInstrumental, format }) => {
    const body = { ...given({ model: target.model, prompt, lyrics }), is_instrumental: isInstrumental, output_format: 'hex', audio_setting: { format, sample_rate: 44_100, bitrate: 256_000 } };
    const answer = await ask(wire, target, { path: '/music_generation', body });
    return {
      ...hexFile(neededText(target.provider, answer, 'data', 'audio'), AUDIO_TYPES[format]),
      durationMs: numberAt(answer, 'extra_info', 'music_duration') ?? numberAt(answer, 'extra_info', 'audio_length'),
      sampleRate: numberAt(answer, 'extra_info', 'music_sample_rate') ?? numberAt(answer, 'extra_info', 'audio_sample_rate'),
    };
  },
  beginVideo: async (wire, target, { prompt, seconds, resolution, imageUrl, optimizePrompt }) => {
    const body = given({ model: target.model, prompt, duration: seconds, resolution, first_frame_image: imageUrl, prompt_optimizer: optimizePrompt });
    return neededText(target.provider, await ask(wire, target, { path: '/video_generation', body }), 'task_id');
  },
  videoState: async (wire, target, upstreamId) => {
    const answer = await ask(wire, target, { method: 'GET', path: '/query/video_generation', query: { task_id: upstreamId } });
    const status = textAt(answer, 'status');
    if (status === 'Fail') return { state: 'failed', error: `${target.provider} could not make the video` };
    if (status !== 'Success') return { state: 'processing' };
    const file = await ask(wire, target, { method: 'GET', path: '/files/retrieve', query: { file_id: neededId(target, answer) } });
    return { state: 'completed', url: neededText(target.provider, file, 'file', 'download_url'), width: numberAt(answer, 'video_width') ?? 0, height: numberAt(answer, 'video_height') ?? 0 };
  },
};

/** Ids are texts or numbers. */
const neededId = ({ provider }: Target, answer: Json): string => {
  const id = textAt(answer, 'file_id') ?? numberAt(answer, 'file_id')?.toString();
  if (id === undefined) throw mediaErrors.upstream_failed(provider, 'its answer has no file_id');
  return id;
};
