/** The platforms that are known by name: what each is, and whether svc has an adapter for it. */
import platforms from './platforms.json' with { type: 'json' };

export interface Platform {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly protocol: string;
  readonly tags: readonly string[];
  readonly url: string;
  readonly docs: string;
}

/** Their makers switched them off: Guilded in December 2025; the own interface of Gitter in 2023, when it moved to Matrix. */
const CLOSED: ReadonlySet<string> = new Set(['guilded', 'gitter']);

export const PLATFORMS: readonly Platform[] = platforms;

export const platformOf = (id: string): Platform | undefined => PLATFORMS.find((one) => one.id === id);

export const isClosed = (id: string): boolean => CLOSED.has(id);
