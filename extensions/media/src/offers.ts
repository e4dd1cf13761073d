/** Who makes what: the order in which providers are tried, and the usual model of each. */
export const KINDS = ['image', 'speech', 'video', 'music', 'transcription'] as const;
export type Kind = (typeof KINDS)[number];

export const CAPABILITIES = ['ImageGeneration', 'TextToSpeech', 'VideoGeneration', 'MusicGeneration', 'Transcription'] as const;

/** In words, for errors. */
export const WORDS: Readonly<Record<Kind, string>> = { image: 'images', speech: 'speech', video: 'video', music: 'music', transcription: 'transcription' };

export const CAPABILITY_OF: Readonly<Record<Kind, (typeof CAPABILITIES)[number]>> = {
  image: 'ImageGeneration',
  speech: 'TextToSpeech',
  video: 'VideoGeneration',
  music: 'MusicGeneration',
  transcription: 'Transcription',
};

/** By provider: the model of each kind that it makes. In order of preference. */
export const OFFERS: Readonly<Record<string, Readonly<Partial<Record<Kind, string>>>>> = {
  openai: { image: 'dall-e-3', speech: 'tts-1', transcription: 'whisper-1' },
  gemini: { image: 'imagen-3.0-generate-002', transcription: 'gemini-2.5-flash' },
  elevenlabs: { speech: 'eleven_multilingual_v2', transcription: 'scribe_v1' },
  minimax: { image: 'image-01', speech: 'speech-2.8-hd', video: 'MiniMax-Hailuo-2.3', music: 'music-2.5' },
  google_tts: { speech: 'standard' },
  groq: { transcription: 'whisper-large-v3-turbo' },
  fireworks: { transcription: 'whisper-v3-turbo' },
  together: { transcription: 'openai/whisper-large-v3' },
  siliconflow: { transcription: 'FunAudioLLM/SenseVoiceSmall' },
};

/** Groq first: the same model, at a fraction of the price and time. */
const TRANSCRIBERS = ['groq', 'openai', 'gemini', 'elevenlabs', 'fireworks', 'together', 'siliconflow'];

export const orderOf = (kind: Kind): readonly string[] => (kind === 'transcription' ? TRANSCRIBERS : Object.keys(OFFERS).filter((name) => OFFERS[name]?.[kind] !== undefined));

const ALIASES: ReadonlyMap<string, string> = new Map<string, string>(Object.entries({ google: 'gemini' }));
export const providerName = (name: string): string => ALIASES.get(name.toLowerCase()) ?? name;
