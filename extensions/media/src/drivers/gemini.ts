/** Google's Gemini API: Imagen, images of Gemini models, and transcription by a Gemini model. */
import { mediaErrors } from '../errors.js';
import type { MadeFile, MediaDriver, Target } from './driver.js';
import { base64File, given, listAt, nearestSize, textAt } from './values.js';
import type { WireRequest } from './driver.js';

const SIZES = ['1x1', '16x9', '9x16', '4x3', '3x4'];

const request = ({ baseUrl, model }: Target, method: string, body: Record<string, unknown>): WireRequest => ({
  base: /\/v\d+\w*$/.test(baseUrl.replace(/\/$/, '')) ? baseUrl : `${baseUrl.replace(/\/$/, '')}/v1beta`,
  path: `/models/${model.split('/').map(encodeURIComponent).join('/')}:${method}`,
  keyHeader: 'x-goog-api-key',
  body,
});

const ratioOf = (aspectRatio: string | undefined, size: string | undefined): string | undefined => aspectRatio ?? size?.replace('x', ':');

export const gemini: MediaDriver = {
  sizeFor: (_model, width, height) => nearestSize(SIZES, width, height),
  image: async (wire, target, { prompt, count, aspectRatio, size, seed }) => {
    const ratio = ratioOf(aspectRatio, size);
    if (target.model.startsWith('imagen')) {
      const body = await wire.json(target, request(target, 'predict', { instances: [{ prompt }], parameters: given({ sampleCount: count, aspectRatio: ratio, seed }) }));
      const files = listAt(body, 'predictions').flatMap((one) => {
        const data = textAt(one, 'bytesBase64Encoded');
        return data === undefined ? [] : [base64File(data, textAt(one, 'mimeType'))];
      });
      // Imagen leaves out what its filter stopped, and says nothing.
      if (files.length === 0) throw mediaErrors.content_refused(target.provider, textAt(body, 'predictions', 0, 'raiFilteredReason') ?? 'it gave no image');
      return { files, revisedPrompt: null };
    }
    const files: MadeFile[] = [];
    for (let round = 0; round < count; round += 1) {
      const generationConfig = given({ responseModalities: ['IMAGE'], seed, imageConfig: ratio === undefined ? undefined : { aspectRatio: ratio } });
      const body = await wire.json(target, request(target, 'generateContent', { contents: [{ parts: [{ text: prompt }] }], generationConfig }));
      const found = listAt(body, 'candidates', 0, 'content', 'parts').flatMap((part) => {
        const data = textAt(part, 'inlineData', 'data');
        return data === undefined ? [] : [base64File(data, textAt(part, 'inlineData', 'mimeType'))];
      });
      if (found.length === 0) throw mediaErrors.content_refused(target.provider, textAt(body, 'promptFeedback', 'blockReason') ?? textAt(body, 'candidates', 0, 'finishReason') ?? 'it gave no image');
      files.push(...found);
    }
    return { files: files.slice(0, count), revisedPrompt: null };
  },
  transcribe: async (wire, target, { data, type, language, prompt }) => {
    const ask = [
      'Write down word for word what is said in this recording. Answer with the text alone.',
      ...(language === undefined ? [] : [`The language is ${language}.`]),
      ...(prompt === undefined ? [] : [`Words that may occur: ${prompt}`]),
    ].join(' ');
    const parts = [{ text: ask }, { inline_data: { mime_type: type, data: Buffer.from(data).toString('base64') } }];
    const body = await wire.json(target, request(target, 'generateContent', { contents: [{ parts }], generationConfig: { temperature: 0 } }));
    const said = listAt(body, 'candidates', 0, 'content', 'parts').map((part) => textAt(part, 'text') ?? '');
    if (said.length === 0) throw mediaErrors.content_refused(target.provider, textAt(body, 'promptFeedback', 'blockReason') ?? 'it gave no text');
    return { text: said.join('').trim() };
  },
};
