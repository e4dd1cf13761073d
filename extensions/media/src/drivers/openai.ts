/** OpenAI's own form, and that of every server which speaks it. */
import { mediaErrors } from '../errors.js';
import type { MadeFile, MediaDriver, Target } from './driver.js';
import { formOf } from './form.js';
import { AUDIO_TYPES, base64File, given, listAt, nearestSize, numberAt, textAt } from './values.js';
import type { Json, Wire } from './driver.js';

const DALL_E_3 = ['1024x1024', '1792x1024', '1024x1792'];
const GPT_IMAGE = ['1024x1024', '1536x1024', '1024x1536'];
const DALL_E_2 = [256, 512, 1_024];

const isGptImage = (model: string): boolean => model.startsWith('gpt-image');

/** DALL·E 2 makes squares of three sizes. */
const squareFor = (width: number | undefined, height: number | undefined): string | undefined => {
  const wanted = width ?? height;
  if (wanted === undefined) return undefined;
  const side = DALL_E_2.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0] ?? 1_024;
  return `${side}x${side}`;
};

export const openai: MediaDriver = {
  sizeFor: (model, width, height) => (model === 'dall-e-2' ? squareFor(width, height) : nearestSize(isGptImage(model) ? GPT_IMAGE : DALL_E_3, width, height)),
  image: async (wire, target, { prompt, count, size, quality }) => {
    const { model } = target;
    // DALL·E 3 makes one image with each request.
    const rounds = model === 'dall-e-3' ? count : 1;
    const body = given({ model, prompt, n: rounds > 1 ? 1 : count, size, quality, ...(isGptImage(model) ? {} : { response_format: 'b64_json' }) });
    const answers: Json[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const answer = await wire.json(target, { path: '/images/generations', body }).catch((error: unknown) => error);
      if (answer instanceof Error && round === 0) throw answer;
      // Those before it are made and paid for.
      if (answer instanceof Error) break;
      answers.push(answer as Json);
    }
    const found = answers.flatMap((answer) => listAt(answer, 'data'));
    const files: MadeFile[] = [];
    for (const one of found) files.push(await imageOf(wire, target, one));
    if (files.length === 0) throw mediaErrors.upstream_failed(target.provider, 'its answer has no image');
    return { files, revisedPrompt: textAt(found[0], 'revised_prompt') ?? null };
  },
  speech: async (wire, target, { text, voice = 'alloy', format, speed }) => {
    const file = await wire.bytes(target, { path: '/audio/speech', body: given({ model: target.model, input: text, voice, response_format: format, speed }) });
    return { data: file.data, type: AUDIO_TYPES[format] };
  },
  transcribe: async (wire, target, { data, type, language, prompt }) => {
    const form = formOf({ fields: { model: target.model, response_format: 'json', language, prompt }, file: { name: 'file', type, data } });
    const body = await wire.json(target, { path: '/audio/transcriptions', body: form });
    const text = body.text;
    if (typeof text !== 'string') throw mediaErrors.upstream_failed(target.provider, 'its answer has no text');
    return { text, seconds: numberAt(body, 'usage', 'seconds') ?? numberAt(body, 'duration') };
  },
};

/** Some servers give an address, whatever form was asked for. */
const imageOf = async (wire: Wire, target: Target, one: unknown): Promise<MadeFile> => {
  const data = textAt(one, 'b64_json');
  if (data !== undefined) return base64File(data);
  const url = textAt(one, 'url');
  if (url === undefined) throw mediaErrors.upstream_failed(target.provider, 'its answer has no image');
  return wire.download(target, url);
};
