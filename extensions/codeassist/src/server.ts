/** The requests to the server that people log in at: RFC 8628 as GitHub has it, and sessions for models. */
import { type Disposable, type ExtensionContext, type FetchResponse, isSvcError, isTable, type SecretRef } from '@svc/api';
import type { CodeassistConfig } from './config.js';
import { codeassistErrors } from './errors.js';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64 * 1_024;
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628, 3.2. */
const USUAL_INTERVAL_SECS = 5;
const MAX_INTERVAL_SECS = 300;
const MAX_EXPIRY_SECS = 3_600;
/** What an error code of the protocol looks like. */
const CODE = /^[a-z_]{1,60}$/;
const PRINTABLE = /^[\x21-\x7e]{1,4096}$/;

/** By which the server knows an editor; it refuses calls without them. */
export const EDITOR_HEADERS = { 'editor-version': 'svc/0.1.0', 'editor-plugin-version': 'svc-codeassist/0.1.0', 'copilot-integration-id': 'vscode-chat', 'user-agent': 'svc/0.1.0' } as const;

export interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly expiresInSecs: number;
  readonly intervalSecs: number;
}

export type Polled =
  | { readonly kind: 'pending' }
  /** `intervalSecs`: the server's own, where it says one. */
  | { readonly kind: 'slow_down'; readonly intervalSecs: number }
  | { readonly kind: 'authorized'; readonly token: string }
  | { readonly kind: 'ended'; readonly error: string };

/** What calls of models are made with, for a while. */
export interface Session {
  readonly token: string;
  readonly expiresAtMs: number;
}

export type ServerDeps = Pick<ExtensionContext, 'egress' | 'fetch'>;

export const createServer = ({ egress, fetch }: ServerDeps, settings: () => CodeassistConfig) => {
  const allowed = new Map<'login' | 'api', { readonly origin: string; readonly open: Disposable }>();
  /** An address of the settings, open from here on. */
  const address = (which: 'login' | 'api', path: string): string => {
    const { login_url, api_url } = settings();
    const base = (which === 'login' ? login_url : api_url).replace(/\/+$/, '');
    const { origin } = new URL(base);
    const before = allowed.get(which);
    if (before?.origin !== origin) {
      allowed.set(which, { origin, open: egress.allow(origin, 'server') });
      before?.open.dispose();
    }
    return `${base}${path}`;
  };
  const form = async (path: string, fields: Readonly<Record<string, string>>, secretForm?: Readonly<Record<string, SecretRef>>): Promise<Answered> => {
    const url = address('login', path);
    const { host } = new URL(url);
    try {
      const response = await fetch(url, {
        purpose: 'server',
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
        ...(secretForm ? { secretForm } : {}),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        redirect: 'manual',
      });
      return { host, status: response.status, body: await objectOf(response) };
    } catch (error) {
      throw isOfFetch(error) ? codeassistErrors.unreachable(host, error.message) : error;
    }
  };
  return {
    /** Throws `codeassist_unreachable`, `codeassist_refused`. */
    start: async (): Promise<DeviceCode> => {
      const answered = await form('/login/device/code', { client_id: settings().client_id, scope: 'read:user' });
      const { device_code: deviceCode, user_code: userCode, verification_uri: verificationUri, expires_in, interval } = answered.body;
      if (!isText(deviceCode) || !isText(userCode) || !isAddress(verificationUri)) throw codeassistErrors.refused(answered.host, reasonIn(answered));
      return { deviceCode, userCode, verificationUri, expiresInSecs: within(expires_in, 900, MAX_EXPIRY_SECS), intervalSecs: within(interval, USUAL_INTERVAL_SECS, MAX_INTERVAL_SECS) };
    },
    /** Asks once. Throws `codeassist_unreachable` where that says nothing about the login. */
    poll: async (deviceCode: SecretRef): Promise<Polled> => {
      const answered = await form('/login/oauth/access_token', { client_id: settings().client_id, grant_type: GRANT }, { device_code: deviceCode });
      const { access_token: token, error, interval } = answered.body;
      if (isText(token)) return { kind: 'authorized', token };
      if (typeof error !== 'string' || !CODE.test(error)) throw codeassistErrors.unreachable(answered.host, `it answered ${answered.status} without a result.`);
      if (error === 'authorization_pending') return { kind: 'pending' };
      if (error === 'slow_down') return { kind: 'slow_down', intervalSecs: within(interval, 0, MAX_INTERVAL_SECS) };
      return { kind: 'ended', error };
    },
    /** A session for models. Throws `codeassist_session_refused`, `codeassist_session_failed`, each with the class of a driver's failure. */
    session: async (token: SecretRef, nowMs: number): Promise<Session> => {
      const url = address('api', '/copilot_internal/v2/token');
      const { host } = new URL(url);
      const failed = (why: string, errorClass: string) => codeassistErrors.session_failed(host, why).with({ details: { errorClass } });
      let answered: Answered;
      try {
        const response = await fetch(url, {
          purpose: 'server',
          headers: { accept: 'application/json', ...EDITOR_HEADERS },
          secretHeaders: { authorization: { ...token, prefix: 'token ' } },
          timeoutMs: TIMEOUT_MS,
          maxBytes: MAX_BYTES,
          redirect: 'manual',
        });
        answered = { host, status: response.status, body: await objectOf(response) };
      } catch (error) {
        throw isOfFetch(error) ? failed(error.message, 'network') : error;
      }
      const { status, body } = answered;
      if (REFUSALS.has(status)) throw codeassistErrors.session_refused(host, status).with({ details: { errorClass: 'auth' } });
      if (status !== 200) throw failed(`it answered ${status}.`, status === 429 ? 'rate_limit' : 'server');
      if (!isText(body.token)) throw failed('its answer has no token.', 'garbage');
      // Seconds since 1970; a server that names none gets half an hour.
      return { token: body.token, expiresAtMs: Number.isSafeInteger(body.expires_at) ? Number(body.expires_at) * 1_000 : nowMs + 1_800_000 };
    },
  };
};
export type LoginServer = ReturnType<typeof createServer>;

/** 404 is for accounts without Copilot. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

interface Answered {
  readonly host: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const isOfFetch = (error: unknown): error is Error => isSvcError(error) && error.code.startsWith('fetch_');
const isText = (value: unknown): value is string => typeof value === 'string' && PRINTABLE.test(value);
const isAddress = (value: unknown): value is string => isText(value) && /^https?:\/\//.test(value) && URL.canParse(value);
const within = (value: unknown, usual: number, most: number): number => (Number.isSafeInteger(value) && Number(value) > 0 ? Math.min(Number(value), most) : usual);

const objectOf = async (response: FetchResponse): Promise<Readonly<Record<string, unknown>>> => {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return isTable(body) ? body : {};
  } catch {
    return {};
  }
};

const reasonIn = ({ status, body: { error } }: Answered): string => (typeof error === 'string' && CODE.test(error) ? error : `it answered ${status}`);
