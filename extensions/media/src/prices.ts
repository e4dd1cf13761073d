/**
 * What one image, character, second or song costs, in micro-dollars. List prices of the providers.
 *
 * A model without a price counts with the dearest of its kind, so that a limit holds; a server without a key counts with nothing.
 */
import type { Units } from '@svc/ext-llm/contract';
import type { Kind } from './offers.js';

export interface Priced {
  readonly kind: Kind;
  readonly provider: string;
  readonly model: string;
  readonly isKeyless: boolean;
  readonly quality?: string | undefined;
  readonly resolution?: string | undefined;
  /** Of an image, as it is asked of the provider: `1024x1792`. */
  readonly size?: string | undefined;
}

const PER_MODEL: Readonly<Record<string, number>> = {
  'openai/dall-e-2': 20_000,
  'openai/gpt-image-1': 167_000,
  'openai/gpt-image-1-mini': 36_000,
  'openai/tts-1': 15,
  'openai/tts-1-hd': 30,
  'openai/gpt-4o-mini-tts': 15,
  'openai/whisper-1': 100,
  'openai/gpt-4o-transcribe': 100,
  'openai/gpt-4o-mini-transcribe': 50,
  'gemini/imagen-3.0-generate-002': 30_000,
  'gemini/imagen-4.0-generate-001': 40_000,
  'gemini/gemini-2.5-flash-image': 39_000,
  'gemini/gemini-2.5-flash': 32,
  'elevenlabs/eleven_multilingual_v2': 300,
  'elevenlabs/eleven_v3': 300,
  'elevenlabs/eleven_turbo_v2_5': 150,
  'elevenlabs/eleven_flash_v2_5': 150,
  'elevenlabs/scribe_v1': 112,
  'minimax/image-01': 3_500,
  'minimax/speech-2.8-hd': 100,
  'minimax/speech-2.8-turbo': 60,
  'minimax/music-2.5': 150_000,
  'google_tts/standard': 4,
  'groq/whisper-large-v3-turbo': 12,
  'groq/whisper-large-v3': 31,
  'fireworks/whisper-v3-turbo': 15,
  'fireworks/whisper-v3': 25,
  'together/openai/whisper-large-v3': 25,
  'siliconflow/FunAudioLLM/SenseVoiceSmall': 0,
};

const DEAREST: Readonly<Record<Kind, number>> = { image: 250_000, speech: 300, video: 500_000, music: 150_000, transcription: 112 };

export const UNIT_OF: Readonly<Record<Kind, Units['unit']>> = { image: 'image', speech: 'character', video: 'second', music: 'track', transcription: 'second' };

export const priceMicros = (asked: Priced, own: Readonly<Record<string, number>>): number => {
  const name = `${asked.provider}/${asked.model}`;
  const mine = Object.hasOwn(own, name) ? own[name] : undefined;
  if (mine !== undefined) return mine * 1_000_000;
  if (asked.isKeyless) return 0;
  return byForm(name, asked) ?? (Object.hasOwn(PER_MODEL, name) ? PER_MODEL[name] : undefined) ?? DEAREST[asked.kind];
};

/** Models whose price depends on what is asked of them. */
const byForm = (name: string, { quality, resolution, size }: Priced): number | undefined => {
  const isWide = size !== undefined && size !== '1024x1024';
  if (name === 'openai/dall-e-3') return (quality === 'hd' ? 80_000 : 40_000) + (isWide ? 40_000 : 0);
  if (name === 'openai/gpt-image-1') return isWide ? 250_000 : 167_000;
  if (/^minimax\/MiniMax-Hailuo/.test(name)) return resolution === '1080P' ? 82_000 : 47_000;
  return undefined;
};
