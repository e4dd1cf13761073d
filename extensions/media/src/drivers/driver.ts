/** What a driver does: one request in the form of one provider. */
import type { SecretRef } from '@svc/api';

export interface Target {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly secret: SecretRef | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface MadeFile {
  readonly data: Uint8Array;
  /** As the provider declares it; its bytes decide. */
  readonly type: string | undefined;
}

export interface WireRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** By default, `Authorization: Bearer`. */
  readonly keyHeader?: string;
  readonly body?: Readonly<Record<string, unknown>> | { readonly type: string; readonly bytes: Uint8Array };
  /** Another base than the target's. */
  readonly base?: string;
}

export type Json = Readonly<Record<string, unknown>>;

export interface Wire {
  json(target: Target, request: WireRequest): Promise<Json>;
  bytes(target: Target, request: WireRequest): Promise<MadeFile>;
  download(target: Target, url: string): Promise<MadeFile>;
}

export interface ImageWish {
  readonly prompt: string;
  readonly count: number;
  /** As `sizeFor` gave it. */
  readonly size: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly quality: string | undefined;
  readonly seed: number | undefined;
}

export interface SpeechWish {
  readonly text: string;
  readonly voice: string | undefined;
  readonly format: SpeechFormat;
  readonly speed: number | undefined;
  readonly language: string | undefined;
  readonly pitch: number | undefined;
}

export const SPEECH_FORMATS = ['mp3', 'wav', 'opus', 'flac'] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export interface Sound extends MadeFile {
  readonly durationMs?: number | undefined;
  readonly sampleRate?: number | undefined;
}

export interface VideoWish {
  readonly prompt: string;
  readonly seconds: number;
  readonly resolution: string | undefined;
  readonly imageUrl: string | undefined;
  readonly optimizePrompt: boolean | undefined;
}

export type VideoState =
  | { readonly state: 'processing' }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'completed'; readonly url: string; readonly width: number; readonly height: number };

export interface MusicWish {
  readonly prompt: string | undefined;
  readonly lyrics: string | undefined;
  readonly isInstrumental: boolean;
  readonly format: 'mp3' | 'wav';
}

export interface Recording {
  readonly data: Uint8Array;
  readonly type: string;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
}

export interface MediaDriver {
  /** The size that the provider is asked for, of the nearest form. Undefined: its own. */
  sizeFor?(model: string, width: number | undefined, height: number | undefined): string | undefined;
  image?(wire: Wire, target: Target, wish: ImageWish): Promise<{ readonly files: readonly MadeFile[]; readonly revisedPrompt: string | null }>;
  speech?(wire: Wire, target: Target, wish: SpeechWish): Promise<Sound>;
  /** Gives the provider's name for the task. */
  beginVideo?(wire: Wire, target: Target, wish: VideoWish): Promise<string>;
  videoState?(wire: Wire, target: Target, upstreamId: string): Promise<VideoState>;
  music?(wire: Wire, target: Target, wish: MusicWish): Promise<Sound>;
  transcribe?(wire: Wire, target: Target, recording: Recording): Promise<{ readonly text: string; readonly seconds?: number | undefined }>;
}
