/** Why a package is not installed, each by a name of its own. What is refused here has changed nothing. */
import { defineErrors } from '@svc/api';

const FROM_ELSEWHERE = 'Do not install it. Ask its publisher, or get it again from where they publish it.';
const AUTHOR = 'Its author has to mend this: svc ext build and svc ext pack make a package that passes.';

export const installErrors = defineErrors('install', {
  archive_link: {
    status: 400,
    retry: false,
    message: (path: string, target: string) => `The package has a link, ${path} → ${target}. A link can lead out of its folder, so none is taken.`,
    hint: AUTHOR,
  },
  archive_kind: { status: 400, retry: false, message: (path: string, kind: string) => `The package has ${path}, which is ${kind}. Only files and folders are taken.`, hint: AUTHOR },
  archive_path: { status: 400, retry: false, message: (path: string, why: string) => `The package names ${JSON.stringify(path)}, which ${why}.`, hint: FROM_ELSEWHERE },
  archive_case: {
    status: 400,
    retry: false,
    message: (first: string, second: string) => (first === second ? `The package has ${first} twice.` : `The package has ${first} and ${second}, which are one file on some systems.`),
    hint: AUTHOR,
  },
  archive_size: {
    status: 413,
    retry: false,
    message: (what: string, limit: string) => `${what} is larger than ${limit}.`,
    hint: 'Large data does not belong into an extension: let it fetch what it needs.',
  },
  archive_count: { status: 413, retry: false, message: (limit: number) => `The package has more than ${limit} files and folders.`, hint: 'Extensions bundle their code into one file: svc ext build.' },
  archive_broken: {
    status: 400,
    retry: false,
    message: (why: string) => `The package cannot be unpacked: ${why}.`,
    hint: 'Get it again; a package is a tar.gz, as svc ext pack and npm pack make them.',
  },
  incomplete: { status: 400, retry: false, message: (path: string) => `The package has no ${path}.`, hint: 'Nothing is built here. Its author builds it with svc ext build.' },
  manifest: { status: 400, retry: false, message: (file: string, reasons: readonly string[]) => `${file} of the package is not valid: ${reasons.join('; ')}.`, hint: AUTHOR },
  api_range: {
    status: 409,
    retry: false,
    message: (id: string, range: string, version: string) => `${id} is made for @svc/api ${range}; this daemon has ${version}.`,
    hint: 'Take a version of it that is made for this daemon, or another version of svc.',
  },
  unsigned: {
    status: 403,
    retry: false,
    message: (id: string, why: string) => `${id} is not signed, and ${why}.`,
    hint: 'Ask for a signed package. [extensions] third_party = "any" in config.toml lets unsigned ones in that never were signed.',
  },
  signature: { status: 403, retry: false, message: (why: string) => `The signature of the package is not valid: ${why}.`, hint: FROM_ELSEWHERE },
  modified: { status: 403, retry: false, message: (id: string, path: string, how: string) => `${id} was modified after it was signed or installed: ${path} ${how}.`, hint: FROM_ELSEWHERE },
  replayed: { status: 403, retry: false, message: (why: string) => `The signature was made for something else: ${why}.`, hint: FROM_ELSEWHERE },
  wrong_key: {
    status: 403,
    retry: false,
    message: (id: string, keyId: string, pinned: readonly string[]) => `${id} is signed with the key ${keyId}, but here it belongs to ${pinned.join(' and ')}.`,
    hint: 'If its publisher changed keys, the package carries a statement signed with the old one. If you know that the new key is theirs: svc ext trust add.',
  },
  unknown_key: {
    status: 409,
    retry: false,
    message: (id: string, keyId: string) => `${id} is signed with the key ${keyId}, which is not known here.`,
    hint: 'Compare the key with what its publisher says elsewhere, then agree to it; from then on only this key may sign it.',
  },
  revoked: {
    status: 403,
    retry: false,
    message: (id: string, keyId: string, since: string) => `${id} is signed with the key ${keyId}, which was revoked ${since}.`,
    hint: 'Remove it, or take a package that its publisher signed with another key: svc ext trust list.',
  },
  key_file: { status: 400, retry: false, message: (file: string, why: string) => `${file} is not a key of svc ext keygen: ${why}.`, hint: 'Make one with svc ext keygen.' },
  key_exposed: {
    status: 400,
    retry: false,
    message: (file: string, why: string) => `The private key ${file} is not safe: ${why}.`,
    hint: 'Keep it outside of the package and readable by you alone (chmod 600).',
  },
  trust_file: { status: 500, retry: false, message: (why: string) => `trust.toml cannot be used: ${why}.`, hint: 'Mend it by hand; until then no extension of others is installed or started.' },
  not_allowed: {
    status: 403,
    retry: false,
    message: () => 'This daemon takes no extensions of others.',
    hint: '[extensions] third_party in config.toml says so: "signed" lets signed ones in.',
  },
});
