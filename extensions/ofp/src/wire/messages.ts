/** The messages of the protocol. What comes in is untrusted: unknown fields are left out, and a message with a field that is missing or of another type is none. */

export const PROTOCOL_VERSION = 1;
const U32 = 0xffff_ffff;

export interface PeerAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly tools: readonly string[];
  readonly state: string;
}

export interface Hello {
  readonly node_id: string;
  readonly node_name: string;
  readonly protocol_version: number;
  readonly agents: readonly PeerAgent[];
  readonly nonce: string;
  readonly auth_hmac: string;
  readonly public_key?: string;
  readonly identity_signature?: string;
  readonly ephemeral_pubkey?: string;
}

export type RequestBody =
  | ({ readonly method: 'handshake' } & Hello)
  | { readonly method: 'discover'; readonly query: string }
  | { readonly method: 'agent_message'; readonly agent: string; readonly message: string; readonly sender: string | null }
  | { readonly method: 'ping' };

export type ResponseBody =
  | ({ readonly method: 'handshake_ack' } & Hello)
  | { readonly method: 'discover_result'; readonly agents: readonly PeerAgent[] }
  | { readonly method: 'agent_response'; readonly text: string }
  | { readonly method: 'pong'; readonly uptime_secs: number }
  | { readonly method: 'error'; readonly code: number; readonly message: string };

export type NotificationBody = { readonly event: 'agent_spawned'; readonly agent: PeerAgent } | { readonly event: 'agent_terminated'; readonly agent_id: string } | { readonly event: 'shutting_down' };

/** Of a later version: known by its envelope alone. */
interface Unknown {
  readonly method: 'unknown';
  readonly name: string;
}

export type Incoming =
  | { readonly id: string; readonly type: 'request'; readonly body: RequestBody | Unknown }
  | { readonly id: string; readonly type: 'response'; readonly body: ResponseBody | Unknown }
  | { readonly id: string; readonly type: 'notification'; readonly body: NotificationBody | { readonly event: 'unknown'; readonly name: string } }
  | { readonly id: string; readonly type: 'unknown'; readonly name: string };

export type Outgoing =
  | ({ readonly id: string; readonly type: 'request' } & RequestBody)
  | ({ readonly id: string; readonly type: 'response' } & ResponseBody)
  | ({ readonly id: string; readonly type: 'notification' } & NotificationBody);

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isCount = (value: unknown, most = Number.MAX_SAFE_INTEGER): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;

const agentOf = (value: unknown): PeerAgent | undefined => {
  if (!isFields(value)) return undefined;
  const { id, name, description, tags, tools, state } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof description !== 'string' || typeof state !== 'string' || !isTexts(tags) || !isTexts(tools)) return undefined;
  return { id, name, description, tags, tools, state };
};

const agentsOf = (value: unknown): PeerAgent[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const agents = value.map(agentOf);
  return agents.every((agent) => agent !== undefined) ? agents : undefined;
};

/** Undefined where it is absent or null; false where it is no text. */
const optionalText = (value: unknown): string | undefined | false => (value === undefined || value === null ? undefined : typeof value === 'string' && value);

const helloOf = (fields: Fields): Hello | undefined => {
  const { node_id, node_name, protocol_version, nonce = '', auth_hmac = '' } = fields;
  const agents = agentsOf(fields.agents);
  const [publicKey, signature, ephemeral] = [optionalText(fields.public_key), optionalText(fields.identity_signature), optionalText(fields.ephemeral_pubkey)];
  if (typeof node_id !== 'string' || typeof node_name !== 'string' || typeof nonce !== 'string' || typeof auth_hmac !== 'string') return undefined;
  if (!isCount(protocol_version, U32) || !agents || publicKey === false || signature === false || ephemeral === false) return undefined;
  return {
    ...{ node_id, node_name, protocol_version, agents, nonce, auth_hmac },
    ...(publicKey === undefined ? {} : { public_key: publicKey }),
    ...(signature === undefined ? {} : { identity_signature: signature }),
    ...(ephemeral === undefined ? {} : { ephemeral_pubkey: ephemeral }),
  };
};

const requestOf = (method: string, fields: Fields): RequestBody | Unknown | undefined => {
  if (method === 'ping') return { method };
  if (method === 'discover') return typeof fields.query === 'string' ? { method, query: fields.query } : undefined;
  if (method === 'agent_message') {
    const sender = optionalText(fields.sender);
    if (typeof fields.agent !== 'string' || typeof fields.message !== 'string' || sender === false) return undefined;
    return { method, agent: fields.agent, message: fields.message, sender: sender ?? null };
  }
  if (method !== 'handshake') return { method: 'unknown', name: method };
  const hello = helloOf(fields);
  return hello && { method, ...hello };
};

const responseOf = (method: string, fields: Fields): ResponseBody | Unknown | undefined => {
  const { text, uptime_secs, code, message } = fields;
  if (method === 'agent_response') return typeof text === 'string' ? { method, text } : undefined;
  if (method === 'pong') return isCount(uptime_secs) ? { method, uptime_secs } : undefined;
  if (method === 'error') return typeof code === 'number' && (code | 0) === code && typeof message === 'string' ? { method, code, message } : undefined;
  if (method === 'discover_result') {
    const agents = agentsOf(fields.agents);
    return agents && { method, agents };
  }
  if (method !== 'handshake_ack') return { method: 'unknown', name: method };
  const hello = helloOf(fields);
  return hello && { method, ...hello };
};

const notificationOf = (event: string, fields: Fields): NotificationBody | { event: 'unknown'; name: string } | undefined => {
  if (event === 'shutting_down') return { event };
  if (event === 'agent_terminated') return typeof fields.agent_id === 'string' ? { event, agent_id: fields.agent_id } : undefined;
  if (event !== 'agent_spawned') return { event: 'unknown', name: event };
  const agent = agentOf(fields.agent);
  return agent && { event, agent };
};

/** Undefined for what ends the connection. */
export const readMessage = (json: string): Incoming | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isFields(value) || typeof value.id !== 'string' || typeof value.type !== 'string') return undefined;
  const { id, type, method, event } = value;
  if (type === 'request' || type === 'response') {
    if (typeof method !== 'string') return undefined;
    if (type === 'request') {
      const body = requestOf(method, value);
      return body && { id, type, body };
    }
    const body = responseOf(method, value);
    return body && { id, type, body };
  }
  if (type !== 'notification') return { id, type: 'unknown', name: type };
  if (typeof event !== 'string') return undefined;
  const body = notificationOf(event, value);
  return body && { id, type, body };
};
