/**
 * How confidence falls with time.
 *
 * D1  It is computed from the base confidence and the time since the last access, never from an earlier result: a second sweep changes nothing.
 * D2  Use slows it down, and only so far: what was read often still fades.
 * D3  A date in the future is now.
 */
const DAY_MS = 86_400_000;
const MAX_BOOST = 4;

export interface Fading {
  readonly confidence: number;
  readonly accessed_at: string;
  readonly access_count: number;
}

export const decayed = ({ confidence, accessed_at: at, access_count: count }: Fading, ratePerDay: number, now: number): number => {
  const idleDays = Math.max(0, now - Date.parse(at)) / DAY_MS;
  if (!(idleDays > 1)) return confidence;
  const boost = Math.min(1 + Math.log2(Math.max(count, 1)), MAX_BOOST);
  return Math.round(confidence * Math.exp((-ratePerDay / boost) * idleDays) * 1_000) / 1_000;
};
