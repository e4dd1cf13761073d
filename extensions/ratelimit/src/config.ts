import { Type, defineConfig } from '@svc/api';

export const RateLimitSection = defineConfig(
  'rate_limit',
  Type.Object(
    {
      window_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 60, description: 'The burst is this many seconds of the rate. Also the value of Retry-After' }),
      max_ws_per_ip: Type.Integer({ minimum: 1, maximum: 100_000, default: 50, description: 'Open WebSockets per address (IPv6: per /64)' }),
      max_ws_per_user: Type.Integer({ minimum: 1, maximum: 100_000, default: 100, description: 'Open WebSockets of one person, from all addresses together' }),
      max_addresses: Type.Integer({
        minimum: 100,
        maximum: 10_000_000,
        default: 100_000,
        description: 'Maximum number of addresses (IPv6: networks of /64) to track; the longest idle are dropped first',
      }),
    },
    {
      additionalProperties: false,
      default: {},
      'x-waiting': {
        api_requests_per_minute: '[api] rate_limit_per_second is kept',
        auth_rate_limit_per_ip: 'failed sign-ins cost what other requests cost',
        ws_messages_per_minute: 'a message on a socket costs what a request costs',
        ws_idle_timeout_secs: 'idle sockets end after their own time',
        retry_after_secs: true,
        ws_terminal_messages_per_minute: true,
        ws_debounce_ms: true,
        ws_debounce_chars: true,
      },
    },
  ),
);

/** A key of `[api]`, where the interface has it. */
export const RatePerSecond = defineConfig(
  'api.rate_limit_per_second',
  Type.Number({ default: 50, minimum: 0.01, maximum: 100_000, description: 'Tokens that an address regains per second; the burst is `window_secs` of them' }),
);
