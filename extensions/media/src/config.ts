import { defineConfig, type Plain, Type } from '@svc/api';

const Media = Type.Object(
  {
    audio_provider: Type.Optional(Type.String({ maxLength: 64, description: 'The provider that transcribes. By default, the first with a key that can' })),
    audio_model: Type.Optional(Type.String({ maxLength: 200, description: "Its model. By default, the provider's usual one" })),
    audio_language: Type.Optional(Type.String({ maxLength: 20, description: 'The language of recordings, where a request names none (ISO 639-1). By default, the model finds it' })),
    audio_prompt: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words that the model should expect in recordings, where a request gives none' })),
    transcription_timeout_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 60, description: 'How long a transcription may take' }),
    request_timeout_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 180, description: 'How long an image, a spoken text or a song may take' }),
    video_poll_secs: Type.Number({
      minimum: 0.05,
      maximum: 600,
      default: 5,
      description: 'How soon a provider is first asked whether a video is ready. Later questions come less often, at least every 30 seconds',
    }),
    video_timeout_secs: Type.Integer({ minimum: 1, maximum: 86_400, default: 3_600, description: 'A video that is not ready after this time has failed' }),
    prices: Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1_000 }), {
      default: {},
      description: 'US dollars for one image, character, second or song, by PROVIDER/MODEL, where the built-in price is not yours',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    'x-waiting': {
      image_description: true,
      audio_transcription: true,
      video_description: true,
      max_concurrency: true,
      ffmpeg_timeout_secs: true,
      image_provider: true,
      image_model: true,
      custom_stt: 'name your server in [provider_urls] and as audio_provider',
    },
  },
);
export type MediaConfig = Plain<typeof Media>;
export const MediaSection = defineConfig('media', Media);
