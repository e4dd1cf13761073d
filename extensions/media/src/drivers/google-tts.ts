/** Google Cloud Text-to-Speech. */
import { mediaErrors } from '../errors.js';
import type { MediaDriver, SpeechFormat } from './driver.js';
import { AUDIO_TYPES, base64File, given, neededText } from './values.js';

const ENCODINGS: Readonly<Partial<Record<SpeechFormat, string>>> = { mp3: 'MP3', wav: 'LINEAR16', opus: 'OGG_OPUS' };

export const googleTts: MediaDriver = {
  speech: async (wire, target, { text, voice, format, speed, language, pitch }) => {
    const audioEncoding = ENCODINGS[format];
    if (audioEncoding === undefined) throw mediaErrors.invalid(`google_tts gives mp3, wav or opus, not ${format}`);
    const body = {
      input: text.startsWith('<speak>') ? { ssml: text } : { text },
      // A name such as `de-DE-Neural2-B` begins with its language.
      voice: given({ languageCode: language ?? /^[a-z]{2,3}-[A-Z]{2}/.exec(voice ?? '')?.[0] ?? 'en-US', name: voice }),
      audioConfig: given({ audioEncoding, speakingRate: speed, pitch }),
    };
    const answer = await wire.json(target, { path: '/text:synthesize', keyHeader: 'x-goog-api-key', body });
    return base64File(neededText(target.provider, answer, 'audioContent'), AUDIO_TYPES[format]);
  },
};
