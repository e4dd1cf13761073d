/** What the pipeline itself answers; areas have their own tables. The codes have no prefix: they stand in the interface. */
import { defineErrors } from '@svc/api';

/** Of the API, as an Accept header names them. */
export const VERSIONS: readonly string[] = ['v1'];

export const httpErrors = defineErrors('', {
  bad_idempotency_key: { status: 400, retry: false, message: () => 'The Idempotency-Key must have 1 to 255 printable ASCII characters.', hint: 'For example, use a UUID.' },
  starting: { status: 503, retry: true, message: () => 'The service is starting.', hint: 'Try again in a second.' },
  stopping: { status: 503, retry: true, message: () => 'The service is stopping.', hint: 'Try again when it is back.' },
  reloading: { status: 503, retry: true, message: (path: string) => `The extension that answers ${path} is being reloaded.`, hint: 'Try again in a moment.' },
  security_unavailable: { status: 503, retry: true, message: (why: string) => `Closed: ${why}`, hint: 'Run `svc doctor`; only public routes answer until the security extensions are back.' },
  not_found: { status: 404, retry: false, message: (path: string) => `Nothing answers at ${path}.`, hint: 'GET /api/openapi.json lists all routes.' },
  extension_off: {
    status: 404,
    retry: true,
    message: (path: string, id: string) => `The extension ${id}, which answers ${path}, is not running.`,
    hint: '`svc ext list` shows why, and `svc ext enable` switches it on.',
  },
  method_not_allowed: { status: 405, retry: false, message: (method: string, path: string) => `${path} does not support ${method}.`, hint: 'The Allow header lists the supported methods.' },
  upgrade_required: { status: 426, retry: false, message: (path: string) => `${path} expects a WebSocket.`, hint: 'Connect with a WebSocket client.' },
  unknown_version: { status: 406, retry: false, message: (asked: string) => `There is no API version ${asked}.`, hint: 'Use v1, or leave the version out.' },
  bad_path_encoding: { status: 400, retry: false, message: () => 'The path is not valid percent-encoded UTF-8.', hint: 'Encode each path segment with encodeURIComponent.' },
  unauthorized: { status: 401, retry: false, message: () => 'The API key is missing or wrong.', hint: 'Send the header Authorization: Bearer <API_KEY>.' },
  forbidden: { status: 403, retry: false, message: (why: string) => why },
  check_failed: { status: 503, retry: true, message: () => 'The permission check failed, so the call was refused.', hint: 'See the log for this request id.' },
  rate_limited: { status: 429, retry: true, message: (why: string) => why, hint: 'Wait for the number of seconds in Retry-After.' },
  audit_unavailable: {
    status: 503,
    retry: true,
    message: () => 'The audit trail cannot be written, so this was not done.',
    hint: 'See `svc doctor`; often the disk is full. `[audit] required` lists what is refused without an audit entry.',
  },
  forbidden_host: {
    status: 403,
    retry: false,
    message: (host: string) => `Without an api_key, only this machine can call; "${host}" is not one of its names.`,
    hint: 'Call 127.0.0.1 or localhost, or set api_key.',
  },
  forbidden_origin: {
    status: 403,
    retry: false,
    message: (origin: string) => `Pages from "${origin}" are not allowed to call this service.`,
    hint: 'Add the origin to cors_origins in [api]. "*" works only with an api_key.',
  },
  body_too_large: { status: 413, retry: false, message: (max: number) => `The body has more than ${max} bytes.`, hint: 'Send less, or use the upload routes.' },
  unsupported_media_type: { status: 415, retry: false, message: (got: string) => `The body must be JSON, not "${got}".`, hint: 'Send content-type: application/json.' },
  body_required: { status: 400, retry: false, message: () => 'This call needs a JSON body.' },
  body_too_slow: { status: 408, retry: true, message: (rate: number) => `The body arrived more slowly than ${rate} bytes per second.` },
  body_aborted: { status: 400, retry: true, message: () => 'The body is shorter than its Content-Length.' },
  invalid_json: { status: 400, retry: false, message: (where: string) => `The body is not valid JSON: ${where}.` },
  json_too_deep: { status: 400, retry: false, message: (max: number) => `The body nests deeper than ${max} levels.` },
  json_too_many_values: { status: 413, retry: false, message: (max: number) => `The body contains more than ${max} values.`, hint: 'Send it in parts.' },
  request_timeout: { status: 408, retry: true, message: () => 'The request was not complete in time.' },
  too_many_frames: { status: 429, retry: true, message: () => 'This socket sends frames too fast.', hint: 'Reconnect and send less.' },
  too_many_refused_frames: { status: 429, retry: true, message: () => 'Too many frames of this socket were invalid.', hint: 'The error frames before this one say why. Reconnect and send less.' },
  frame_not_text: { status: 400, retry: false, message: () => 'Frames must be text; this one was binary.' },
  too_many_connections: { status: 503, retry: true, message: () => 'Too many connections are open.', hint: 'Close some, or try again in a moment.' },
  invalid_request: { status: 400, retry: false, message: (what: string) => what },
  internal_error: { status: 500, retry: false, message: () => 'Internal server error', hint: 'See the log for this request id.' },
  route_conflict: { status: 500, retry: false, message: (what: string) => what },
  route_refused: { status: 500, retry: false, message: (what: string) => what },
});
