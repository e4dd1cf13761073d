/** Where this machine is, by its public address: a service that an operator names is asked, and without one there is no such tool. */
import { type AnyTool, defineTool, type ExtensionContext, parsedUrl, Type } from '@svc/api';
import { toolErrors } from '../errors.js';

const MAX_BYTES = 16 * 1024;
const TIMEOUT_MS = 40_000;

export interface LocationDeps {
  readonly fetch: ExtensionContext['fetch'];
  /** `[web] location_url`; empty means that nobody may ask. */
  readonly url: () => string;
}

export const LOCATION_LACK = 'it is off: an operator can set [web] location_url to the address of a service that answers with the location of whoever asks, such as https://ipapi.co/json/';

export const locationTool = ({ fetch, url }: LocationDeps): AnyTool =>
  defineTool({
    name: 'location_get',
    description: 'Where this machine is, by its public address: what the configured service answers, usually city, region, country and time zone. It is an estimate.',
    params: Type.Object({}),
    risk: 'network',
    needs: () => (url() === '' ? [] : [{ capability: 'network', target: url() }]),
    replay: 'safe',
    parallel: true,
    timeoutMs: TIMEOUT_MS,
    run: async (_args, call) => {
      const asked = url();
      if (parsedUrl(asked) === undefined) throw toolErrors.unavailable('location_get', LOCATION_LACK);
      const response = await fetch(asked, { purpose: 'tool', headers: { accept: 'application/json' }, signal: call.signal, maxBytes: MAX_BYTES, allowHosts: call.capabilities.network });
      const text = await response.text();
      return { content: response.status >= 400 ? `[${response.status} ${response.url}]` : text, isError: response.status >= 400 };
    },
  });
