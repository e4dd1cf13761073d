/** Checkpoints of the log as C2SP defines them (tlog-checkpoint): origin, size and root as a signed note with an Ed25519 key. */
import { createPublicKey, hash, verify } from 'node:crypto';

export interface Checkpoint {
  readonly origin: string;
  /** How many entries it covers. */
  readonly size: number;
  readonly root: Uint8Array;
}

/** A signature line as it stands in the note. */
export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

const ED25519 = 1;
const KEY_ID_BYTES = 4;
/** What stands before a raw Ed25519 key in its SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const LINE = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/;

export const checkpointText = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;

/** Eight hex digits: the beginning of SHA-256 of name, line break, type and key. */
export const keyIdOf = (name: string, publicKey: Uint8Array): string => hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey]), 'hex').slice(0, KEY_ID_BYTES * 2);

/** The public key as tools of Go and C2SP take it: `name+id+base64`. */
export const verifierKey = (name: string, publicKey: Uint8Array): string => `${name}+${keyIdOf(name, publicKey)}+${Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')}`;

export const signedNote = (text: string, name: string, { signature, publicKey }: { readonly signature: Uint8Array; readonly publicKey: Uint8Array }): string =>
  `${text}\n— ${name} ${Buffer.concat([Buffer.from(keyIdOf(name, publicKey), 'hex'), signature]).toString('base64')}\n`;

export interface OpenNote {
  readonly text: string;
  readonly checkpoint: Checkpoint;
  readonly signatures: readonly NoteSignature[];
}

/** Undefined where it is no checkpoint. Nothing is verified. */
export const openNote = (note: string): OpenNote | undefined => {
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const [origin, size, root, ...more] = text.split('\n');
  if (end < 0 || !origin || !size || !/^\d{1,15}$/.test(size) || !root || more.at(-1) !== '') return undefined;
  const lines = note.slice(end + 2).split('\n');
  if (lines.pop() !== '') return undefined;
  const signatures = lines.map((line): NoteSignature | undefined => {
    const [, name, blob] = LINE.exec(line) ?? [];
    if (name === undefined || blob === undefined) return undefined;
    const bytes = Buffer.from(blob, 'base64');
    return { name, keyId: bytes.toString('hex', 0, KEY_ID_BYTES), signature: new Uint8Array(bytes.subarray(KEY_ID_BYTES)) };
  });
  if (signatures.length === 0 || signatures.some((one) => !one)) return undefined;
  return { text, checkpoint: { origin, size: Number(size), root: new Uint8Array(Buffer.from(root, 'base64')) }, signatures: signatures.flatMap((one) => one ?? []) };
};

/** Whether this key has signed the note under the origin's name. */
export const isSignedBy = ({ text, checkpoint, signatures }: OpenNote, publicKey: Uint8Array): boolean => {
  const id = keyIdOf(checkpoint.origin, publicKey);
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
  return signatures.some(({ name, keyId, signature }) => name === checkpoint.origin && keyId === id && verify(null, Buffer.from(text), key, signature));
};

/** Notes that follow each other in a file, each behind an empty line of its own. */
export const splitNotes = (text: string): string[] => text.split(/(?<=\n— [^\n]*\n)\n/).filter((note) => note.trim() !== '');
