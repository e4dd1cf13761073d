/** How many messages one daemon may send to agents: in windows of a minute from the first message on, and so many tokens within an hour. */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MAX_IDS = 10_000;
const MAX_ID_BYTES = 256;

export interface PeerLimits {
  readonly perMinute: number;
  readonly tokensPerHour: number;
}

export interface PeerRates {
  /** Why the message is refused; counts it where it is not. */
  take(nodeId: string, limits: PeerLimits): string | undefined;
  spent(nodeId: string, tokens: number): void;
}

interface Window {
  since: number;
  count: number;
}

const createWindows = (now: () => number, ms: number) => {
  const windows = new Map<string, Window>();
  return (id: string): Window | undefined => {
    const known = windows.get(id);
    if (known && now() - known.since < ms) return known;
    if (!known && windows.size >= MAX_IDS) for (const [other, { since }] of windows) if (now() - since >= ms) windows.delete(other);
    if (!known && windows.size >= MAX_IDS) return undefined;
    const fresh = { since: now(), count: 0 };
    windows.set(id, fresh);
    return fresh;
  };
};

export const createPeerRates = (now: () => number): PeerRates => {
  const messages = createWindows(now, MINUTE_MS);
  const tokens = createWindows(now, HOUR_MS);
  return {
    take: (nodeId, { perMinute, tokensPerHour }) => {
      if (Buffer.byteLength(nodeId) > MAX_ID_BYTES) return `peer_id exceeds maximum length of ${MAX_ID_BYTES} bytes`;
      const window = messages(nodeId);
      const spent = tokens(nodeId);
      if (!window || !spent) return 'Rate limit exceeded: too many peers';
      if (perMinute > 0 && window.count >= perMinute) return `Rate limit exceeded: ${window.count} messages in the current minute (max ${perMinute})`;
      if (tokensPerHour > 0 && spent.count >= tokensPerHour) return `Rate limit exceeded: ${spent.count} tokens in the current hour (max ${tokensPerHour})`;
      window.count += 1;
      return undefined;
    },
    spent: (nodeId, count) => {
      const window = tokens(nodeId);
      if (window) window.count += count;
    },
  };
};
