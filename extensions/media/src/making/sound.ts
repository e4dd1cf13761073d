/** How long a sound is, and its sample rate, from its own header. */
import type { Logger } from '@svc/api';

export interface SoundFacts {
  readonly durationMs: number;
  readonly sampleRate: number;
}

/** Of a recording whose length nobody can tell: few are packed tighter. */
const LEAST_BYTES_PER_SEC = 2_000;

/** Both are 0 where it cannot be told. */
export const soundFacts = async (data: Uint8Array, type: string | undefined, log: Logger): Promise<SoundFacts> => {
  const { parseBuffer } = await import('music-metadata');
  try {
    const { format } = await parseBuffer(data, type === undefined ? undefined : { mimeType: type }, { duration: true, skipCovers: true });
    return { durationMs: Math.round((format.duration ?? 0) * 1_000), sampleRate: format.sampleRate ?? 0 };
  } catch (error) {
    log.debug('the length of a sound cannot be told', { type, cause: error });
    return { durationMs: 0, sampleRate: 0 };
  }
};

/** Seconds at most, for what is reserved. */
export const mostSeconds = ({ durationMs }: SoundFacts, bytes: number): number => Math.max(1, Math.ceil(durationMs > 0 ? durationMs / 1_000 : bytes / LEAST_BYTES_PER_SEC));
