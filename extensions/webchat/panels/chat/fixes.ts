/** What a person can press about an answer that failed. */

export interface Fix {
  readonly label: 'fix_key' | 'fix_model' | 'fix_limits';
  readonly panel: 'models' | 'usage';
  readonly query?: Readonly<Record<string, string>>;
}

const KEY: Fix = { label: 'fix_key', panel: 'models', query: { add: 'key' } };
const MODEL: Fix = { label: 'fix_model', panel: 'models' };
const LIMITS: Fix = { label: 'fix_limits', panel: 'usage' };

const BY_CODE: ReadonlyMap<string, Fix> = new Map([
  ['llm_provider_key_missing', KEY],
  ['llm_provider_auth', KEY],
  ['llm_model_not_found', MODEL],
  ['llm_provider_not_found', MODEL],
  ['llm_provider_unsupported', MODEL],
  ['llm_provider_model_missing', MODEL],
  ['llm_provider_credit', MODEL],
  ['llm_all_models_failed', MODEL],
  ['budget_exceeded', LIMITS],
  ['token_quota_exceeded', LIMITS],
]);

/** Undefined where trying again is all there is. */
export const fixOf = (code: string | undefined): Fix | undefined => (code === undefined ? undefined : BY_CODE.get(code));

/** Words for who types commands or calls the API. */
const FOR_OTHERS = /`svc |\bsvc [a-z]+ |\/(?:api|v1)\/|\b(?:GET|PUT|POST|PATCH|DELETE) \//;

/** What the page says of it: a hint that names a command or a path is for the command line and the API. */
export const hintOnPage = (hint: string | undefined): string | undefined => (hint === undefined || FOR_OTHERS.test(hint) ? undefined : hint);
