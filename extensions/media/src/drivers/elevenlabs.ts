/** ElevenLabs: speech and transcription. */
import { mediaErrors } from '../errors.js';
import type { MediaDriver, SpeechFormat } from './driver.js';
import { formOf } from './form.js';
import { AUDIO_TYPES, given } from './values.js';

const KEY = 'xi-api-key';
const DEFAULT_VOICE = '21m00Tcm4TlvDq8ikWAM';
const VOICE = /^[A-Za-z0-9]{20}$/;
const FORMATS: Readonly<Partial<Record<SpeechFormat, string>>> = { mp3: 'mp3_44100_128', opus: 'opus_48000_32' };

export const elevenlabs: MediaDriver = {
  speech: async (wire, target, { text, voice = DEFAULT_VOICE, format, speed, language }) => {
    const output = FORMATS[format];
    if (output === undefined) throw mediaErrors.invalid(`elevenlabs gives mp3 or opus, not ${format}`);
    if (!VOICE.test(voice)) throw mediaErrors.invalid(`"${voice}" is no voice of elevenlabs, whose ids have 20 letters and digits`);
    const body = given({ text, model_id: target.model, language_code: language, voice_settings: speed === undefined ? undefined : { speed } });
    const file = await wire.bytes(target, { path: `/text-to-speech/${voice}`, query: { output_format: output }, keyHeader: KEY, body });
    return { data: file.data, type: AUDIO_TYPES[format] };
  },
  transcribe: async (wire, target, { data, type, language }) => {
    const form = formOf({ fields: { model_id: target.model, language_code: language }, file: { name: 'file', type, data } });
    const body = await wire.json(target, { path: '/speech-to-text', keyHeader: KEY, body: form });
    if (typeof body.text !== 'string') throw mediaErrors.upstream_failed(target.provider, 'its answer has no text');
    return { text: body.text };
  },
};
