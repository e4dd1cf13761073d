/** The 16 security systems of the interface, each with the extension that reports it; `kernel` is no extension and always there. */
export interface System {
  readonly name: string;
  readonly owner: string;
}

const KERNEL = 'kernel';

/** In the order of interface.md, GET /api/security. */
export const SYSTEMS: readonly System[] = [
  { name: 'merkle_audit_trail', owner: 'audit' },
  { name: 'taint_tracking', owner: 'taint' },
  { name: 'wasm_dual_metering', owner: 'skills' },
  { name: 'security_headers', owner: KERNEL },
  { name: 'health_redaction', owner: 'system' },
  { name: 'subprocess_sandbox', owner: KERNEL },
  { name: 'manifest_signing', owner: KERNEL },
  { name: 'gcra_rate_limiter', owner: 'ratelimit' },
  { name: 'secret_zeroization', owner: 'vault' },
  { name: 'path_traversal_prevention', owner: KERNEL },
  { name: 'ssrf_protection', owner: KERNEL },
  { name: 'capability_inheritance_validation', owner: 'capabilities' },
  { name: 'ofp_hmac_auth', owner: 'ofp' },
  { name: 'prompt_injection_scanning', owner: 'taint' },
  { name: 'loop_guard', owner: 'loop-guard' },
  { name: 'session_repair', owner: 'sessions' },
];
