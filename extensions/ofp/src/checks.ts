/** What `svc doctor` and the page of security say of the network. */
import type { DoctorFinding, SecurityLook } from '@svc/api';
import { mac } from './wire/crypto.js';
import { answerHandshake, type HandshakeDeps } from './wire/handshake.js';
import { PROTOCOL_VERSION } from './wire/messages.js';
import type { NetworkState } from './node/network.js';

const CHECK = 'peers';

export const findingsOf = ({ reason, listening }: NetworkState, isEnabled: boolean, connected: number): DoctorFinding[] => {
  if (!isEnabled) return [{ check: CHECK, result: 'pass', message: 'The network of daemons is off.' }];
  if (reason !== undefined) return [{ check: CHECK, result: 'warn', message: reason, fix: 'svc peers status' }];
  return [{ check: CHECK, result: 'pass', message: `${connected} peers are connected; others connect to ${listening ?? 'no address: listen_addresses is empty'}.` }];
};

/** Tries the handshake itself, without a network: another secret, and a repeated greeting. */
export const lookAtHandshake = async (off: string | undefined): Promise<SecurityLook> => {
  if (off !== undefined) return { state: 'inactive', detail: off };
  const seen = new Set<string>();
  const deps: HandshakeDeps = {
    self: { nodeId: 'probe', nodeName: 'probe', secret: 'the right secret', agents: async () => [], sign: async () => ({ signature: '', publicKey: '' }) },
    nonces: { record: (nonce) => !seen.has(nonce) && seen.add(nonce) !== undefined },
    uuid: () => 'nonce',
    ephemeral: () => {
      throw new Error('no ephemeral key was sent');
    },
    pin: async () => undefined,
  };
  const greet = async (secret: string): Promise<number> => {
    const hello = { node_id: 'other', node_name: 'other', protocol_version: PROTOCOL_VERSION, agents: [], nonce: 'once', auth_hmac: mac(secret, 'once|other|probe') };
    const answer = await answerHandshake(deps, { id: '1', type: 'request', body: { method: 'handshake', ...hello } });
    return 'refused' in answer ? answer.refused.code : 0;
  };
  const [wrong, right, again] = [await greet('another secret'), await greet('the right secret'), await greet('the right secret')];
  if (wrong === 403 && right === 0 && again === 403) return { state: 'active', detail: 'A handshake with another secret and a repeated one were refused, a right one was not.' };
  return { state: 'failed', detail: `A handshake with another secret gave ${wrong}, a right one ${right}, a repeated one ${again}.` };
};
