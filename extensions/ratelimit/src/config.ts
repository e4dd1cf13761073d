import { Type, defineConfig } from '@svc/api';

export const RateLimitSection = defineConfig(
  'rate_limit',
  Type.Object(
    {
      window_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 60, description: 'The burst is this many seconds of the rate; also what Retry-After says' }),
      max_ws_per_ip: Type.Integer({ minimum: 1, maximum: 100_000, default: 50, description: 'Open WebSockets per address (IPv6: per /64)' }),
      max_addresses: Type.Integer({ minimum: 100, maximum: 10_000_000, default: 100_000, description: 'Addresses (IPv6: networks of /64) remembered at once; the longest idle are forgotten first' }),
    },
    { additionalProperties: false, default: {} },
  ),
);

/** Owned by the kernel; here for the rate. */
export const ApiSection = defineConfig('api', Type.Object({ rate_limit_per_second: Type.Number() }));
