/**
 * The document in which the page runs what a model wrote, in a frame within it.
 *
 * B1  Both have an opaque origin: no cookie, no storage, no page around them. They open no window, and go nowhere: the outer
 *     document's policy holds for the inner one, and lets it frame nothing that has an address.
 * B2  Neither opens a connection. `Connection-Allowlist` extends that to WebRTC, which no Content-Security-Policy forbids; of
 *     the browsers of today Chromium enforces it (decision 0042).
 */
export const SANDBOX = 'sandbox.html';

const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "connect-src 'none'",
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');

export const SANDBOX_HEADERS = { 'content-security-policy': POLICY, 'connection-allowlist': '()', 'x-dns-prefetch-control': 'off' };
