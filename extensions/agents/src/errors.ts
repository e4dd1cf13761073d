import { defineErrors } from '@svc/api';

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
    message: (name: string) => `There is no template "${name.slice(0, 80)}": this installation has no templates.`,
    hint: 'Send manifest_toml or manifest instead.',
  },
  agents_nothing_to_spawn: {
    status: 400,
    retry: false,
    message: () => 'The request describes no agent: it has none of manifest_toml, manifest, template and name.',
    hint: 'The shortest request is {"name": "helper"}.',
  },
  agents_invalid_manifest: {
    status: 400,
    retry: false,
    message: (what: string, line: number | null) => `The agent manifest cannot be used${line === null ? '' : ` (line ${line})`}: ${what}.`,
    hint: 'The keys and their types are in schemas/agent.schema.json.',
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
    message: () => 'signed_manifest was sent, and this installation cannot verify manifest signatures.',
    hint: 'Send manifest_toml alone if the signature need not be checked.',
  },
  agents_invalid_key: {
    status: 400,
    retry: false,
    message: () => 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
    hint: 'A UUID does well.',
  },
  agents_key_reused: {
    status: 409,
    retry: false,
    message: () => 'The Idempotency-Key was used before with another request.',
    hint: 'Use a new key for a new request; the same key only repeats the same request.',
  },
  agents_spawn_denied: { status: 403, retry: false, message: (why: string) => why, hint: 'Ask for less, or ask an owner or admin of this daemon.' },
  agents_spawned_agent_gone: {
    status: 409,
    retry: false,
    message: (name: string) => `The agent "${name}" that this request made has been killed since.`,
    hint: 'Use a new key to make another one.',
  },
  agents_too_many_children: {
    status: 409,
    retry: false,
    message: (limit: number) => `The agent already has ${limit} living children.`,
    hint: 'Kill some of them first.',
  },
});
