/** A peer of the tests: it speaks the wire as it is told to, also wrongly. */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { agreedSecret, ephemeralOf, mac, plainSessionKey, sessionKeyOf } from '../src/wire/crypto.js';

export interface RawPeer {
  readonly nodeId: string;
  readonly identity: KeyObject;
}

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
export const rawPeer = (nodeId: string = randomUUID()): RawPeer => ({ nodeId, identity: createPrivateKey({ key: Buffer.concat([PKCS8, randomBytes(32)]), format: 'der', type: 'pkcs8' }) });
const publicOf = ({ identity }: RawPeer): string => Buffer.from(createPublicKey(identity).export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');

export interface Greeting {
  readonly secret: string;
  /** The node id that is expected; empty as of a bootstrap address. */
  readonly expected?: string;
  readonly nonce?: string;
  readonly more?: object;
  readonly without?: readonly string[];
}

export interface WireMessage {
  readonly id: string;
  readonly type: string;
  readonly method?: string;
  readonly [field: string]: unknown;
}

const header = (size: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(size);
  return bytes;
};

export class RawLink {
  readonly socket: Socket;
  key = '';
  #data = Buffer.alloc(0);
  #isOver = false;
  #wake = (): void => undefined;

  constructor(address: string) {
    const at = address.lastIndexOf(':');
    this.socket = connect({ host: address.slice(0, at), port: Number(address.slice(at + 1)) });
    this.socket.on('data', (piece) => {
      this.#data = Buffer.concat([this.#data, piece]);
      this.#wake();
    });
    for (const event of ['close', 'end', 'error'])
      this.socket.on(event, () => {
        this.#isOver = true;
        this.#wake();
      });
  }

  /** Undefined at the end. */
  async #take(count: number): Promise<Buffer | undefined> {
    while (this.#data.length < count) {
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#data.subarray(0, count);
    this.#data = this.#data.subarray(count);
    return taken;
  }

  /** The next frame as it came: of the handshake, or with its digest checked. */
  async read(): Promise<WireMessage | undefined> {
    const head = await this.#take(4);
    const body = head && (await this.#take(head.readUInt32BE()));
    if (!body) return undefined;
    if (this.key === '') return JSON.parse(body.toString());
    const json = body.subarray(0, body.length - 64);
    if (mac(this.key, json) !== body.subarray(body.length - 64).toString()) throw new Error('a frame has the wrong digest');
    return JSON.parse(json.toString());
  }

  async ended(): Promise<boolean> {
    return (await this.read()) === undefined;
  }

  plain(message: object): void {
    const json = Buffer.from(JSON.stringify(message));
    this.socket.write(Buffer.concat([header(json.length), json]));
  }

  sealed(message: object, digestOf: (json: Buffer) => string = (json) => mac(this.key, json)): void {
    const json = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    // In three writes, as others do.
    this.socket.write(header(json.length + 64));
    this.socket.write(json);
    this.socket.write(digestOf(json));
  }

  async ask(body: object): Promise<WireMessage | undefined> {
    this.sealed({ id: randomUUID(), type: 'request', ...body });
    return this.read();
  }

  /** Sends a handshake and gives the answer, with the key in place where it is an ack. */
  async greet(peer: RawPeer, { secret, expected = '', nonce = randomUUID(), more = {}, without = [] }: Greeting): Promise<WireMessage | undefined> {
    const own = ephemeralOf(randomBytes(32));
    const data = `${nonce}|${peer.nodeId}|${expected}`;
    const isSealed = !without.includes('ephemeral_pubkey');
    const signature = sign(null, Buffer.from(isSealed ? `${data}|${own.publicKey}` : data), peer.identity).toString('base64');
    const hello = {
      ...{ id: 'hello', type: 'request', method: 'handshake', node_id: peer.nodeId, node_name: 'raw', protocol_version: 1, agents: [], nonce, auth_hmac: mac(secret, data) },
      ...{ public_key: publicOf(peer), identity_signature: signature, ephemeral_pubkey: own.publicKey },
      ...more,
    };
    this.plain(Object.fromEntries(Object.entries(hello).filter(([field]) => !without.includes(field))));
    const ack = await this.read();
    if (ack?.method !== 'handshake_ack') return ack;
    const theirs = ack.ephemeral_pubkey;
    const shared = isSealed && typeof theirs === 'string' ? agreedSecret(own, theirs) : undefined;
    this.key = shared ? sessionKeyOf(shared, nonce, String(ack.nonce)) : plainSessionKey(secret, nonce, String(ack.nonce));
    return ack;
  }

  close(): void {
    this.socket.destroy();
  }
}
