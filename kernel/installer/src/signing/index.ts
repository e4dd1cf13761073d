/** Who vouches for a package, and whether that counts here. */
export { validateKey, type KeyStanding } from './validate-trust.js';
export { generateKey, isPublicKey, keyIdOf, readKey, type SigningKey, writeKey } from './keys.js';
export { readRotations, rotate, type Rotation } from './rotation.js';
export { type Signature, signFolder, type SignOptions, verifyFiles, verifyFolder } from './signature.js';
export { allows, type Isolation, parseTrust, pinnedKeys, type TrustedKey, trustText, withoutPin, withPin } from './trust.js';
