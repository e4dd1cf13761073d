/** A package that is signed with a key of this moment, validated as an installation does; then the same with one byte changed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError, type SecurityLook } from '@svc/api';
import { inProbeFolder } from '@svc/platform/adapters/files/probe-folder';
import { generateKey, type SigningKey } from '../signing/keys.js';
import { signFiles } from '../signing/signature.js';
import type { TrustedKey } from '../signing/trust.js';
import { type Policy, type TrustContext, validateSigned } from './validate-package.js';

const PACKAGE = { id: 'probe-package', version: '1.0.0', api: '^0.1.0' };
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: PACKAGE.id, version: PACKAGE.version }),
  'extension.json': JSON.stringify({ manifest: 1, id: PACKAGE.id, api: PACKAGE.api }),
  'contributions.json': '{}',
  'dist/index.js': '',
};

interface Attempt {
  readonly what: string;
  readonly file: string;
  readonly change: (text: string) => string;
}

const ATTEMPTS: readonly Attempt[] = [
  { what: 'a changed manifest', file: 'extension.json', change: (text) => text.replace(/.$/, ' ') },
  { what: 'a changed signature', file: 'SIGNATURE.json', change: (text) => text.replace(/("signature": ")([\da-f])/, (_, head: string, digit: string) => head + (digit === '0' ? '1' : '0')) },
];

/** `folder` exists; what is made in it is removed again. `now`: in the signature. */
export const lookAtSigning = (folder: string, { thirdParty, now }: { readonly thirdParty: Policy['thirdParty']; readonly now: Date }): Promise<SecurityLook> =>
  inProbeFolder(folder, (own) => tryPackage(own, thirdParty, now));

const tryPackage = async (dir: string, thirdParty: Policy['thirdParty'], now: Date): Promise<SecurityLook> => {
  await mkdir(join(dir, 'dist'));
  for (const [file, content] of Object.entries(FILES)) await writeFile(join(dir, file), content);
  const key = await generateKey();
  const refusedUnsigned = await isRefused(dir, trusting([], thirdParty));
  await signFiles(dir, PACKAGE, key, now);
  const trusted = [trustedKey(key)];
  const { key: signer } = await validateSigned(dir, PACKAGE, trusting(trusted, 'signed'));
  if (signer?.standing !== 'known') return { state: 'failed', detail: 'A package that was signed with a trusted key was not known by it.' };
  const passed: string[] = [];
  for (const { what, file, change } of ATTEMPTS) {
    const path = join(dir, file);
    const before = await readFile(path, 'utf8');
    await writeFile(path, change(before));
    if (!(await isRefused(dir, trusting(trusted, 'signed')))) passed.push(what);
    await writeFile(path, before);
  }
  if (passed.length > 0) return { state: 'failed', detail: `These were accepted: ${passed.join(', ')}.` };
  const seen = 'A signed package was accepted, and refused with one byte of its manifest or signature changed.';
  if (thirdParty === 'none') return { state: 'active', detail: `${seen} [extensions] third_party = "none": nobody's package is installed.` };
  if (!refusedUnsigned) return { state: 'degraded', detail: `${seen} But a package without a signature was accepted: [extensions] third_party is "any".` };
  return { state: 'active', detail: `${seen} One without a signature was refused.` };
};

const trustedKey = ({ keyId, publicKey }: SigningKey): TrustedKey => ({ id: keyId, name: '', public: publicKey, allow: [PACKAGE.id] });

const trusting = (keys: readonly TrustedKey[], thirdParty: Policy['thirdParty']): TrustContext => ({ keys, thirdParty, wasSigned: () => false });

const isRefused = async (dir: string, trust: TrustContext): Promise<boolean> => {
  try {
    await validateSigned(dir, PACKAGE, trust);
    return false;
  } catch (error) {
    if (isSvcError(error)) return true;
    throw error;
  }
};
