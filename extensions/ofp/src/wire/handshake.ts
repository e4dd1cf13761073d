/**
 * The handshake, of both sides.
 *
 * H1  Who does not know the shared secret learns nothing but that it failed, and reaches neither rows nor agents.
 * H2  A node id stays with the first key that it came with.
 * H3  A handshake that somebody recorded is refused.
 */
import { UNSEEN } from '@svc/api';
import { agreedSecret, type Ephemeral, isSignedBy, mac, plainSessionKey, sameText, sessionKeyOf } from './crypto.js';
import { WireFault } from './frames.js';
import { type Hello, type Incoming, type Outgoing, type PeerAgent, PROTOCOL_VERSION } from './messages.js';
import type { Nonces } from './nonces.js';

/** Of this node. */
export interface Self {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly secret: string;
  agents(): Promise<readonly PeerAgent[]>;
  /** Base64 of the Ed25519 signature and of the raw public key. */
  sign(text: string): Promise<{ readonly signature: string; readonly publicKey: string }>;
}

export interface HandshakeDeps {
  readonly self: Self;
  readonly nonces: Nonces;
  uuid(): string;
  ephemeral(): Ephemeral;
  /** Why the key of this node is not to be believed; undefined where it is pinned, or is from now on. `publicKey` is undefined for a node without one. */
  pin(node: { readonly nodeId: string; readonly nodeName: string; readonly publicKey: string | undefined }): Promise<string | undefined>;
}

export interface Established {
  readonly hello: Hello;
  readonly key: string;
  readonly identity: 'ed25519' | 'none';
}

/** What is sent to who failed, and what the log says. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly why: string;
}

const refusal = (code: number, message: string, why = message): Refusal => ({ code, message, why });
export const refusedFrame = (id: string, { code, message }: Refusal): Outgoing => ({ id, type: 'response', method: 'error', code, message });

const helloOf = async ({ self }: HandshakeDeps, nonce: string, authData: string, ephemeral: string | undefined): Promise<Hello> => {
  const { signature, publicKey } = await self.sign(ephemeral === undefined ? authData : `${authData}|${ephemeral}`);
  return {
    node_id: self.nodeId,
    node_name: self.nodeName,
    protocol_version: PROTOCOL_VERSION,
    agents: await self.agents(),
    nonce,
    auth_hmac: mac(self.secret, authData),
    public_key: publicKey,
    identity_signature: signature,
    ...(ephemeral === undefined ? {} : { ephemeral_pubkey: ephemeral }),
  };
};

/** Why its identity is not accepted. */
const identityFault = async (deps: HandshakeDeps, { node_id, node_name, public_key, identity_signature, ephemeral_pubkey }: Hello, authData: string): Promise<string | undefined> => {
  if ((public_key === undefined) !== (identity_signature === undefined)) return 'it sent a key without a signature, or a signature without a key';
  const signed = ephemeral_pubkey === undefined ? authData : `${authData}|${ephemeral_pubkey}`;
  if (public_key !== undefined && !isSignedBy(public_key, signed, identity_signature ?? '')) return 'its signature is not of its key';
  return deps.pin({ nodeId: node_id, nodeName: node_name, publicKey: public_key });
};

const identityOf = ({ public_key }: Hello): Established['identity'] => (public_key === undefined ? 'none' : 'ed25519');

/** Whether it may be part of what is signed, of rows and of pages. */
const isUsableId = (nodeId: string): boolean => !nodeId.includes('|') && !UNSEEN.test(nodeId);

/** Answers the first frame of who connected: what to send, and what holds from then on. */
export const answerHandshake = async (deps: HandshakeDeps, first: Incoming): Promise<{ readonly reply: Outgoing; readonly refused: Refusal } | { readonly reply: Outgoing; finish(): Established }> => {
  const { self } = deps;
  const refuse = (refused: Refusal) => ({ reply: refusedFrame(first.id, refused), refused });
  if (first.type !== 'request' || first.body.method !== 'handshake') return refuse(refusal(401, 'Authentication required: complete HMAC handshake first'));
  const hello = first.body;
  const { node_id: nodeId, nonce, ephemeral_pubkey: theirs } = hello;
  if (hello.protocol_version !== PROTOCOL_VERSION) return refuse(refusal(1, `Protocol version mismatch: expected ${PROTOCOL_VERSION}, got ${hello.protocol_version}`));
  if (!isUsableId(nodeId)) return refuse(refusal(403, 'The node id contains | or characters that cannot be seen'));
  const authData = [`${nonce}|${nodeId}|${self.nodeId}`, `${nonce}|${nodeId}|`].find((data) => sameText(mac(self.secret, data), hello.auth_hmac));
  if (authData === undefined) return refuse(refusal(403, 'HMAC authentication failed', `${nodeId} has another shared secret`));
  const fault = await identityFault(deps, hello, authData);
  if (fault !== undefined) return refuse(refusal(403, 'Ed25519 identity verification failed', `${nodeId}: ${fault}`));
  if (!deps.nonces.record(nonce)) return refuse(refusal(403, 'Nonce replay rejected', `${nodeId} repeated a handshake`));
  const own = theirs === undefined ? undefined : deps.ephemeral();
  const serverNonce = deps.uuid();
  const ack = await helloOf(deps, serverNonce, `${serverNonce}|${self.nodeId}|${nodeId}`, own?.publicKey);
  return {
    reply: { id: first.id, type: 'response', method: 'handshake_ack', ...ack },
    finish: () => ({ hello, key: keyOf(self.secret, own, theirs, nonce, serverNonce), identity: identityOf(hello) }),
  };
};

/** Begins a handshake. `expected` is empty where it is not known who is there. */
export const beginHandshake = async (deps: HandshakeDeps, expected: string): Promise<{ readonly request: Outgoing; finish(answer: Incoming): Promise<Established> }> => {
  const { self } = deps;
  const nonce = deps.uuid();
  const own = deps.ephemeral();
  const hello = await helloOf(deps, nonce, `${nonce}|${self.nodeId}|${expected}`, own.publicKey);
  return {
    request: { id: deps.uuid(), type: 'request', method: 'handshake', ...hello },
    finish: async ({ type, ...rest }) => {
      if (type !== 'response' || !('body' in rest) || !('method' in rest.body)) throw new WireFault('Handshake failed: the first answer was none');
      const ack = rest.body;
      if (ack.method === 'error') throw new WireFault(`Remote error ${ack.code}: ${ack.message}`);
      if (ack.method !== 'handshake_ack') throw new WireFault('Handshake failed: the first answer was none');
      if (ack.protocol_version !== PROTOCOL_VERSION) throw new WireFault(`Protocol version mismatch: local=${PROTOCOL_VERSION}, remote=${ack.protocol_version}`);
      const authData = `${ack.nonce}|${ack.node_id}|${self.nodeId}`;
      if (!isUsableId(ack.node_id) || !sameText(mac(self.secret, authData), ack.auth_hmac)) throw new WireFault('HMAC verification failed on HandshakeAck');
      if (expected !== '' && ack.node_id !== expected) throw new WireFault(`HandshakeAck node ID mismatch: expected ${expected}, got ${ack.node_id}`);
      const fault = await identityFault(deps, ack, authData);
      if (fault !== undefined) throw new WireFault(`Handshake failed: ${ack.node_id}: ${fault}`);
      if (!deps.nonces.record(ack.nonce)) throw new WireFault('Handshake failed: the answer repeats an earlier one');
      return { hello: ack, key: keyOf(self.secret, own, ack.ephemeral_pubkey, nonce, ack.nonce), identity: identityOf(ack) };
    },
  };
};

const keyOf = (secret: string, own: Ephemeral | undefined, theirs: string | undefined, clientNonce: string, serverNonce: string): string => {
  if (!own || theirs === undefined) return plainSessionKey(secret, clientNonce, serverNonce);
  const shared = agreedSecret(own, theirs);
  if (!shared) throw new WireFault('Handshake failed: the ephemeral key is of no use');
  return sessionKeyOf(shared, clientNonce, serverNonce);
};
