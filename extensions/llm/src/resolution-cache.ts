/**
 * What a choice resolved to a moment ago. One message asks three times which model it means,
 * and the answer changes only when a person changes a key or a setting.
 *
 * R3  A change that is announced drops everything at once; one that is not is seen within a second.
 * R4  Only answers are kept, never failures.
 */
import type { AtOnce, Clock } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { type Choice, type ResolutionDeps, type Resolved, resolveChoice } from './resolution.js';

const KEEP_MS = 1_000;
const MAX_KEPT = 500;

export interface ResolutionCache {
  resolve(choice: Choice): AtOnce<Resolved>;
  /** The daemon's own fallback chain. */
  fallbacks(): AtOnce<Awaited<ReturnType<ProvidersService['fallbacks']>>>;
  clear(): void;
}

interface Kept<T> {
  readonly value: T;
  readonly untilMs: number;
}

export const createResolutionCache = (deps: ResolutionDeps & { clock: Pick<Clock, 'mono'> }): ResolutionCache => {
  const resolved = new Map<string, Kept<Resolved>>();
  let fallbacks: Kept<Awaited<ReturnType<ProvidersService['fallbacks']>>> | undefined;
  let changes = 0;
  const resolveAnew = async (key: string, choice: Choice): Promise<Resolved> => {
    const before = changes;
    const value = await resolveChoice(deps, choice);
    if (before !== changes) return value;
    if (resolved.size >= MAX_KEPT) resolved.clear();
    resolved.set(key, { value, untilMs: deps.clock.mono() + KEEP_MS });
    return value;
  };
  const askFallbacks: ProvidersService['fallbacks'] = async () => {
    const before = changes;
    const value = await deps.providers.fallbacks();
    if (before === changes) fallbacks = { value, untilMs: deps.clock.mono() + KEEP_MS };
    return value;
  };
  return {
    resolve: (choice) => {
      const key = `${choice.provider}\n${choice.model}`;
      const kept = resolved.get(key);
      return kept && kept.untilMs > deps.clock.mono() ? kept.value : resolveAnew(key, choice);
    },
    fallbacks: () => (fallbacks && fallbacks.untilMs > deps.clock.mono() ? fallbacks.value : askFallbacks()),
    clear: () => {
      changes += 1;
      resolved.clear();
      fallbacks = undefined;
    },
  };
};
