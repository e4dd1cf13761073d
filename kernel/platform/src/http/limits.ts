/** What one client may take of the server before anybody knows who it is. The defaults of `[api]`, in the units used here. */
export interface HttpLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** From the first byte, or from the opening, to the end of the headers. */
  readonly headersMs: number;
  /** Between an answer and the next request. */
  readonly keepAliveMs: number;
  /** How long a body may take to begin with; then it has to come at the rate below. An answer has to be taken at the same rate. */
  readonly bodyGraceMs: number;
  readonly bodyBytesPerSecond: number;
  /** For what is left of a refused request, and for the client to take the last bytes of its answer. */
  readonly lingerMs: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 512,
  headersMs: 15_000,
  keepAliveMs: 70_000,
  bodyGraceMs: 10_000,
  bodyBytesPerSecond: 1_024,
  lingerMs: 10_000,
};

/** What the keys of `[api]` say. */
export interface LimitSettings {
  readonly max_connections: number;
  readonly max_connections_per_ip: number;
  readonly headers_timeout_secs: number;
  readonly keep_alive_secs: number;
  readonly min_body_bytes_per_second: number;
}

export const limitsOf = (api: LimitSettings): HttpLimits => ({
  ...DEFAULT_LIMITS,
  maxConnections: api.max_connections,
  maxConnectionsPerAddress: api.max_connections_per_ip,
  headersMs: api.headers_timeout_secs * 1_000,
  keepAliveMs: api.keep_alive_secs * 1_000,
  bodyBytesPerSecond: api.min_body_bytes_per_second,
});
