import { defineErrors, type SvcError } from '@svc/api';

/** Problems that the sentence of an error names; its details hold all that were looked at. */
const MAX_SAID = 3;

export interface ManifestProblem {
  /** Counted from one; null where the manifest is no text. */
  readonly line: number | null;
  readonly key: string;
  readonly message: string;
  readonly expected: string;
}

const sentence = ({ line, message }: ManifestProblem, index: number): string => `${index === 0 ? '' : ' Also'}${line === null ? '' : ` (line ${line})`}: ${message}${/[.?]$/.test(message) ? '' : '.'}`;

/** Codes without the area's prefix are named by the interface's users and keep their names. */
export const agentErrors = defineErrors('', {
  invalid_agent_id: {
    status: 400,
    retry: false,
    message: (id: string) => `"${id.slice(0, 80)}" is not an agent id: a UUID was expected.`,
    hint: 'GET /api/agents lists the ids.',
  },
  agent_not_found: { status: 404, retry: false, message: (id: string) => `There is no agent ${id}.`, hint: 'GET /api/agents lists the agents you may see.' },
  agent_already_exists: {
    status: 409,
    retry: false,
    message: (name: string) => `An agent named "${name}" already exists.`,
    hint: 'Choose another name, or delete that agent first.',
  },
  template_not_found: {
    status: 404,
    retry: false,
    message: (name: string, hasTemplates: boolean) => `There is no template "${name.slice(0, 80)}"${hasTemplates ? '.' : ': templates are switched off.'}`,
    hint: 'GET /api/templates lists them; or send manifest_toml or manifest instead.',
  },
  agents_nothing_to_spawn: {
    status: 400,
    retry: false,
    message: () => 'The request has none of manifest_toml, manifest, template and name.',
    hint: 'The shortest request is {"name": "helper"}.',
  },
  agents_invalid_manifest: {
    status: 400,
    retry: false,
    message: (problems: readonly ManifestProblem[]) => `The agent manifest cannot be used${problems.slice(0, MAX_SAID).map(sentence).join('')}`,
    hint: 'See schemas/agent.schema.json for the keys and their types.',
  },
  manifest_too_large: {
    status: 413,
    retry: false,
    message: (bytes: number, limit: number) => `The manifest has ${bytes} bytes; at most ${limit} are read.`,
    hint: 'Move long texts into files of the workspace.',
  },
  agents_signature_unsupported: {
    status: 400,
    retry: false,
    message: () => 'This installation cannot verify the signature of signed_manifest.',
    hint: 'Send manifest_toml alone if the signature need not be checked.',
  },
  agents_unknown_state: {
    status: 400,
    retry: false,
    message: (state: string, states: readonly string[]) => `"${state}" is not a state of agents; expected one of ${states.join(', ')}.`,
  },
  agents_invalid_key: {
    status: 400,
    retry: false,
    message: () => 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
    hint: 'For example, use a UUID.',
  },
  agents_spawn_denied: { status: 403, retry: false, message: (why: string) => why, hint: 'Request fewer permissions, or ask an owner or admin of this daemon.' },
  agents_kill_denied: {
    status: 403,
    retry: false,
    message: (name: string) => `There is no agent "${name.slice(0, 200)}" below this one.`,
    hint: 'An agent can delete only agents that it made with agent_spawn, and what those made.',
  },
  agents_unknown_provider: {
    status: 404,
    retry: false,
    message: (provider: string, near: readonly string[]) => `There is no provider "${provider.slice(0, 200)}".${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`,
    hint: 'GET /api/providers lists them.',
  },
  agents_unknown_mode: {
    status: 400,
    retry: false,
    message: (mode: string, modes: readonly string[]) => `"${mode.slice(0, 80)}" is not a mode of agents; expected one of ${modes.join(', ')}.`,
  },
  agents_profile_not_found: {
    status: 404,
    retry: false,
    message: (name: string) => `There is no profile "${name.slice(0, 80)}".`,
    hint: 'GET /api/profiles lists them.',
  },
  agents_unknown_field: {
    status: 400,
    retry: false,
    message: (name: string, near: readonly string[]) => `"${name.slice(0, 100)}" is not a key of agent.toml.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`,
    hint: 'The keys are in schemas/agent.schema.json.',
  },
  agents_not_alone: {
    status: 400,
    retry: false,
    message: (field: string) => `manifest_toml replaces the whole manifest, and ${field} would change it again.`,
    hint: 'Send manifest_toml alone, and the other changes in another request.',
  },
  agents_bad_color: { status: 400, retry: false, message: (color: string) => `"${color.slice(0, 40)}" is not a colour: #rrggbb or #rgb was expected.` },
  agents_bad_avatar: {
    status: 400,
    retry: false,
    message: () => 'avatar_url must be an http or https address, or a picture as a data URL (data:image/png;base64,…).',
  },
  agents_bad_identity: { status: 400, retry: false, message: (field: string) => `${field} must not contain control characters.` },
  agents_no_free_name: {
    status: 409,
    retry: false,
    message: (name: string) => `There are too many copies of "${name}" to find a name for one more.`,
    hint: 'Send new_name.',
  },
  agents_nothing_to_change: { status: 400, retry: false, message: () => 'The request contains no change.', hint: 'Send at least one key that this operation accepts.' },
  agents_field_too_long: {
    status: 413,
    retry: false,
    message: (field: string, length: number, limit: number) => `${field} has ${length} characters; at most ${limit} are kept.`,
    hint: 'Shorten it, or move long texts into files of the workspace.',
  },
  agents_change_denied: { status: 403, retry: false, message: (why: string) => why, hint: 'Request fewer permissions, or ask an owner or admin of this daemon.' },
  agents_changed_meanwhile: {
    status: 409,
    retry: true,
    message: (what: string) => `Nothing was changed: someone else has changed ${what} of this agent.`,
    hint: 'Read the agent again (GET /api/agents/{id}), then repeat your change if it still applies.',
  },
  agents_model_pinned: {
    status: 409,
    retry: false,
    message: (model: string) => `The model of this agent is pinned to ${model}: its mode is Stable.`,
    hint: 'PUT /api/agents/{id}/mode with {"mode": "Normal"} releases it; then change the model.',
  },
  agents_spawned_agent_gone: {
    status: 409,
    retry: false,
    message: (name: string) => `The agent "${name}" that this request made has been killed since.`,
    hint: 'Use a new key to make another one.',
  },
  agents_name_taken: {
    status: 409,
    retry: false,
    message: (name: string) => `The deleted agent cannot come back: another agent is named "${name}" now.`,
    hint: 'Rename or delete that agent, then restore again.',
  },
  agents_too_many_children: {
    status: 409,
    retry: false,
    message: (limit: number) => `The agent already has ${limit} living children.`,
    hint: 'Kill some of them first.',
  },
});

/** With every problem in its details. */
export const invalidManifest = (problems: readonly ManifestProblem[]): SvcError => agentErrors.agents_invalid_manifest(problems).with({ details: { problems } });

/** What an area says of a key that it reads: `<key>: <what is wrong>`. */
export const wrongManifest = (said: string): SvcError => {
  const [key = '', ...rest] = said.split(': ');
  return invalidManifest([{ line: null, key, message: `${key} cannot be kept: ${rest.join(': ')}`, expected: 'a value that can be kept' }]);
};
