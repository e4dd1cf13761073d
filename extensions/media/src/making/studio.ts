/** What is made while the caller waits: images, speech, music, and the text of recordings. */
import type { ConfigHandle, Db, Events, Logger, Write } from '@svc/api';
import type { UploadsService } from '@svc/ext-runs/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import { MediaSection } from '../config.js';
import { MediaChanged } from '../contract.js';
import type { MusicWish, Recording, Sound, SpeechFormat, Target } from '../drivers/driver.js';
import type { Wire } from '../drivers/driver.js';
import { mediaErrors } from '../errors.js';
import type { Kind } from '../offers.js';
import { choose, type Chosen, type ChoosingDeps } from './choosing.js';
import { type StoredFile, storeFile } from './files.js';
import { mostSeconds, soundFacts } from './sound.js';
import { reserve, spend, type SpendingDeps, usd, type Who } from './spending.js';

export interface StudioDeps extends ChoosingDeps, SpendingDeps {
  readonly config: ConfigHandle;
  readonly db: Db;
  readonly events: Pick<Events, 'event'>;
  readonly llm: Pick<LlmService, 'reserveUnits' | 'settleUnits'>;
  readonly log: Logger;
  readonly uploads: Pick<UploadsService, 'create'>;
  readonly wire: Wire;
}

interface Named {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface ImageRequest extends Named {
  readonly prompt: string;
  readonly count?: number | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly quality?: string | undefined;
  readonly seed?: number | undefined;
}

export interface SpeechRequest extends Named {
  readonly text: string;
  readonly voice?: string | undefined;
  readonly format?: SpeechFormat | undefined;
  readonly speed?: number | undefined;
  readonly language?: string | undefined;
  readonly pitch?: number | undefined;
}

export interface MusicRequest extends Named {
  readonly prompt?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly instrumental?: boolean | undefined;
  readonly format?: MusicWish['format'] | undefined;
}

export interface TranscriptionRequest extends Named, Pick<Recording, 'data' | 'type'> {
  readonly language?: string | undefined;
  readonly prompt?: string | undefined;
}

/** Made files beside the answer, for tools. */
export interface Made<A> {
  readonly answer: A;
  readonly files: readonly StoredFile[];
}

/** Writes that keep an answer under the caller's key. */
export type Receipt<A> = (answer: A) => readonly Write[];
const NONE = (): readonly Write[] => [];

/** A limit that nobody could use more of. */
const MUSIC_TRACKS = 1;

export const createStudio = (deps: StudioDeps) => ({
  image: (who: Who, request: ImageRequest, receipt?: Receipt<ImageAnswer>) => image(deps, who, request, receipt ?? NONE),
  speech: (who: Who, request: SpeechRequest, receipt?: Receipt<SoundAnswer>) => speech(deps, who, request, receipt ?? NONE),
  music: (who: Who, request: MusicRequest, receipt?: Receipt<SoundAnswer>) => music(deps, who, request, receipt ?? NONE),
  transcribe: (who: Who, request: TranscriptionRequest) => transcribe(deps, who, request),
});
export type Studio = ReturnType<typeof createStudio>;

export interface ImageAnswer {
  readonly images: ReadonlyArray<{ readonly url: string }>;
  readonly model: string;
  readonly provider: string;
  readonly revised_prompt: string | null;
  readonly cost_usd: number;
}

export interface SoundAnswer {
  readonly url: string;
  readonly format: string;
  readonly provider: string;
  readonly model: string;
  readonly duration_ms: number;
  readonly sample_rate: number;
  readonly cost_usd: number;
}

const timeoutOf = ({ config }: StudioDeps, kind: Kind): number => {
  const { transcription_timeout_secs: transcription, request_timeout_secs: others } = config.get(MediaSection);
  return (kind === 'transcription' ? transcription : others) * 1_000;
};

const targetOf = (deps: StudioDeps, kind: Kind, { provider, model, baseUrl, secret }: Chosen, { signal }: Who): Target => ({
  provider,
  model,
  baseUrl,
  secret,
  timeoutMs: timeoutOf(deps, kind),
  signal,
});

const changed = ({ events }: StudioDeps, { actor }: Who, id: string): Write => events.event(MediaChanged, { id, ownerId: actor.ownerId, change: 'made' });

const words = (name: string, text: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') throw mediaErrors.invalid(`\`${name}\` is empty`);
  return trimmed;
};

const image = async (deps: StudioDeps, who: Who, request: ImageRequest, receipt: Receipt<ImageAnswer>): Promise<Made<ImageAnswer>> => {
  const prompt = words('prompt', request.prompt);
  const { count = 1, quality, seed, aspect_ratio: aspectRatio } = request;
  const chosen = await choose(deps, 'image', request);
  const [wide, high] = request.width === undefined && request.height === undefined && aspectRatio !== undefined ? aspectRatio.split(':').map(Number) : [request.width, request.height];
  const size = chosen.driver.sizeFor?.(chosen.model, wide, high);
  const target = targetOf(deps, 'image', chosen, who);
  const money = await reserve(deps, who, { ...chosen, kind: 'image', quality, size }, count, target.timeoutMs * count);
  return spend(
    deps,
    money,
    async () => needed(chosen.driver.image)(deps.wire, target, { prompt, count, size, aspectRatio, quality, seed }),
    async ({ files, revisedPrompt }) => {
      const stored: StoredFile[] = [];
      for (const file of files.slice(0, count)) stored.push(await storeFile(deps.uploads, who, chosen.provider, { kind: 'image', prompt }, { data: file.data, type: undefined }));
      const answer = { images: stored.map(({ url }) => ({ url })), model: chosen.model, provider: chosen.provider, revised_prompt: revisedPrompt, cost_usd: usd(money, stored.length) };
      return { used: stored.length, answer: { answer, files: stored }, writes: [...receipt(answer), ...stored.map(({ id }) => changed(deps, who, id))] };
    },
  );
};

const speech = async (deps: StudioDeps, who: Who, request: SpeechRequest, receipt: Receipt<SoundAnswer>): Promise<Made<SoundAnswer>> => {
  const text = words('text', request.text);
  const { format = 'mp3', voice, speed, language, pitch } = request;
  const chosen = await choose(deps, 'speech', request);
  const target = targetOf(deps, 'speech', chosen, who);
  const characters = [...text].length;
  const money = await reserve(deps, who, { ...chosen, kind: 'speech' }, characters, target.timeoutMs);
  return spend(
    deps,
    money,
    async () => needed(chosen.driver.speech)(deps.wire, target, { text, voice, format, speed, language, pitch }),
    async (sound) => soundAnswer(deps, who, chosen, { sound, format, prompt: text, kind: 'speech', costUsd: usd(money, characters), used: characters }, receipt),
  );
};

const music = async (deps: StudioDeps, who: Who, request: MusicRequest, receipt: Receipt<SoundAnswer>): Promise<Made<SoundAnswer>> => {
  const [prompt, lyrics] = [request.prompt?.trim() || undefined, request.lyrics?.trim() || undefined];
  if (prompt === undefined && lyrics === undefined) throw mediaErrors.invalid('it has neither `prompt` nor `lyrics`');
  const { format = 'mp3', instrumental: isInstrumental = false } = request;
  const chosen = await choose(deps, 'music', request);
  const target = targetOf(deps, 'music', chosen, who);
  const money = await reserve(deps, who, { ...chosen, kind: 'music' }, MUSIC_TRACKS, target.timeoutMs);
  return spend(
    deps,
    money,
    async () => needed(chosen.driver.music)(deps.wire, target, { prompt, lyrics, isInstrumental, format }),
    async (sound) => soundAnswer(deps, who, chosen, { sound, format, prompt: prompt ?? lyrics ?? '', kind: 'music', costUsd: usd(money, MUSIC_TRACKS), used: MUSIC_TRACKS }, receipt),
  );
};

interface SoundMade {
  readonly sound: Sound;
  readonly format: string;
  readonly prompt: string;
  readonly kind: 'speech' | 'music';
  readonly costUsd: number;
  readonly used: number;
}

const soundAnswer = async (deps: StudioDeps, who: Who, { provider, model }: Chosen, { sound, format, prompt, kind, costUsd, used }: SoundMade, receipt: Receipt<SoundAnswer>) => {
  const stored = await storeFile(deps.uploads, who, provider, { kind, prompt }, sound);
  const facts = await soundFacts(sound.data, sound.type, deps.log);
  const answer = {
    url: stored.url,
    format,
    provider,
    model,
    duration_ms: Math.round(sound.durationMs ?? facts.durationMs),
    sample_rate: Math.round(sound.sampleRate ?? facts.sampleRate),
    cost_usd: costUsd,
  };
  return { used, answer: { answer, files: [stored] }, writes: [...receipt(answer), changed(deps, who, stored.id)] };
};

const transcribe = async (deps: StudioDeps, who: Who, request: TranscriptionRequest) => {
  const { data, type } = request;
  const { audio_language: usualLanguage, audio_prompt: usualPrompt } = deps.config.get(MediaSection);
  const chosen = await choose(deps, 'transcription', request);
  const target = targetOf(deps, 'transcription', chosen, who);
  const facts = await soundFacts(data, type, deps.log);
  const seconds = mostSeconds(facts, data.byteLength);
  const money = await reserve(deps, who, { ...chosen, kind: 'transcription' }, seconds, target.timeoutMs);
  return spend(
    deps,
    money,
    async () => needed(chosen.driver.transcribe)(deps.wire, target, { data, type, language: request.language ?? usualLanguage, prompt: request.prompt ?? usualPrompt }),
    async ({ text, seconds: measured }) => {
      const used = Math.min(seconds, measured === undefined ? seconds : Math.ceil(measured));
      const answer = { text, provider: chosen.provider, model: chosen.model, duration_ms: facts.durationMs, cost_usd: usd(money, used) };
      return { used, answer, writes: [] };
    },
  );
};

/** `choose` looked for it. */
export const needed = <F>(found: F | undefined): F => {
  if (found === undefined) throw new Error('the driver lacks what it was chosen for');
  return found;
};
