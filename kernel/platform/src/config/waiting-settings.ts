/**
 * Settings of the published interface whose area is not here yet. They are known, so that a file
 * written for all of it is no heap of mistakes. One that somebody would rely on (a cap, a check, a
 * redirection) is a problem until it is kept: accepting it in silence would be a promise.
 */

import type { JsonSchema } from '@svc/api';

export interface WaitingSetting {
  /** Set where the setting would protect, cap or redirect: what holds instead. */
  readonly unkept?: string;
}

const waits: WaitingSetting = {};
const unkept = (instead: string): WaitingSetting => ({ unkept: instead });
const all = (names: readonly string[]): Record<string, WaitingSetting> => Object.fromEntries(names.map((name) => [name, waits]));

/** By dotted path; what stands below a path waits with it. A claim of an extension comes before this list, and says in its own schema what waits of it (`x-waiting`). */
export const WAITING_SETTINGS: Readonly<Record<string, WaitingSetting>> = {
  ...all(['language', 'mode', 'update_channel', 'usage_footer', 'prompt_caching', 'stable_prefix_mode', 'max_upload_size_bytes', 'local_probe_interval_secs']),
  ...all(['allowed_mount_roots', 'trusted_hosts', 'trust_forwarded_for', 'require_auth_for_reads']),
  home_dir: unkept('SVC_HOME says where the data is'),
  data_dir: unkept('SVC_HOME says where the data is'),
  workspaces_dir: unkept('workspaces stand under SVC_HOME'),
  log_dir: unkept('logs stand under SVC_HOME'),
  include: unkept('other files are not read'),
  strict_config: unkept('an unknown key is reported and stops nothing'),
  second_factor: unkept('no second factor is asked for'),
  dashboard_user: unkept('the page asks for the api_key and for no user'),
  dashboard_pass: unkept('the page asks for the api_key and for no password'),
  dashboard_pass_hash: unkept('the page asks for the api_key and for no password'),
  trusted_manifest_signers: unkept('manifests are taken without a signature'),
  max_request_body_bytes: unkept('a body has 8 MiB at most'),
  max_history_messages: unkept('max_history_messages in the manifest of an agent is kept'),
  workflow_stale_timeout_minutes: unkept('no run fails for its age, also not after a restart. [workflows] max_run_secs limits its working time'),
  max_concurrent_bg_llm: unkept('[runs] max_active caps runs'),

  budget: unkept('no limit of cost holds for the daemon as a whole. max_cost_per_hour_usd, _day_ and _month_ under [resources] of an agent are kept'),
  approval: unkept('no tool call waits for a person'),
  tool_policy: unkept('what an agent may use stands in its manifest'),
  provider_api_keys: unkept('`svc providers set-key` and the environment give the keys'),
  provider_regions: unkept('[provider_urls] says where requests go'),
  provider_request_timeout_secs: unkept('[llm] request_timeout_secs is kept, for all providers'),
  provider_max_retries: unkept('[llm] max_retries is kept, for all providers'),
  docker: unkept('commands run on this machine, in no container'),
  sanitize: unkept('messages are not screened'),
  privacy: unkept('nothing is taken out of messages'),
  queue: unkept('[runs] max_active caps runs'),
  'session.retention_days': unkept('sessions stay until their agent goes'),
  'session.max_sessions_per_agent': unkept('sessions stay until their agent goes'),
  'session.reset': unkept('a session goes on until /new'),
  session: waits,
  'audit.retention_days': unkept('nothing is audited yet'),
  audit: waits,
  'web.fetch.max_chars': unkept('[web.fetch] max_response_bytes is kept'),
  'web.fetch.max_file_bytes': unkept('[web.fetch] max_response_bytes is kept'),
  'default_model.message_timeout_secs': unkept('[llm] request_timeout_secs is kept'),

  ...all(['thinking', 'compaction', 'tool_results', 'parallel_tools', 'bindings']),
  ...all(['browser', 'tts', 'canvas', 'links', 'health_check', 'heartbeat', 'telemetry']),
  ...all(['reload', 'registry', 'auto_reply', 'background']),
  ...all(['skills.load_user', 'skills.extra_dirs', 'skills.env_passthrough_denied_patterns', 'skills.env_passthrough_per_skill', 'skills.registry_repo', 'skills.config']),
  ...all(['web.fetch.readability']),
};

export const WAITING_SECTIONS: readonly string[] = Object.keys(WAITING_SETTINGS).filter((name) => !name.includes('.'));

/** What waits at a path, or around it; below a section that is claimed only what the list names itself (`least` 2). Numbers in it are places in a list. */
export const waitingAt = (path: readonly string[], least = 1): WaitingSetting | undefined => {
  const names = path.filter((part) => !/^\d+$/.test(part));
  for (let length = names.length; length >= least; length--) {
    const name = names.slice(0, length).join('.');
    if (Object.hasOwn(WAITING_SETTINGS, name)) return WAITING_SETTINGS[name];
  }
  return undefined;
};

/** What the schema of a section, or of a table in it, itself says of a key that it does not have yet. */
export const waitingIn = (section: JsonSchema, [key, ...below]: readonly string[]): WaitingSetting | undefined => {
  const table = key === undefined || !Object.hasOwn(section.properties ?? {}, key) ? undefined : section.properties?.[key];
  if (table) return waitingIn(table, below);
  const waiting = key === undefined || !Object.hasOwn(section['x-waiting'] ?? {}, key) ? undefined : section['x-waiting']?.[key];
  return waiting === undefined ? undefined : waiting === true ? waits : unkept(waiting);
};

/** `shown` is the setting as a person wrote it. */
export const waitingMessage = (shown: string, { unkept: instead }: WaitingSetting): string =>
  instead === undefined ? `${shown} waits for its area: nothing here reads it yet` : `${shown} is NOT enforced yet: ${instead}`;
