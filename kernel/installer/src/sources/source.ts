/** Where an extension comes from, as a person writes it. */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installErrors } from '../errors.js';

export type Source =
  | { readonly kind: 'npm'; readonly name: string /** A range, a version or a tag. */; readonly range: string }
  | { readonly kind: 'archive'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string }
  /** `sha256` in hex. */
  | { readonly kind: 'url'; readonly url: string; readonly sha256: string }
  /** `ref`: a branch, a tag or a commit; undefined for what the repository offers first. */
  | { readonly kind: 'git'; readonly url: string; readonly ref: string | undefined }
  /** Of the configured index. */
  | { readonly kind: 'id'; readonly id: string };

const NPM_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const REF = /^[A-Za-z0-9][\w./+-]{0,199}$/;

/** Rejects with `install_source`, or `install_checksum` for an address without one. Paths must be absolute. */
export const parseSource = async (text: string): Promise<Source> => {
  const source = text.trim();
  if (source === '') throw installErrors.source('it is empty');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(source)) throw installErrors.source('it has characters that cannot be seen');
  if (source.startsWith('git+')) return gitSource(source.slice(4));
  if (/^https?:\/\//.test(source)) return urlSource(source);
  if (source.startsWith('file:')) return pathSource(filePath(source));
  if (isAbsolute(source)) return pathSource(source);
  if (/^[.~]|\.(?:tgz|tar\.gz)$|^[A-Za-z]:\\/.test(source)) throw installErrors.source(`the path ${source} is not absolute`);
  if (source.startsWith('npm:')) return npmSource(source.slice(4));
  if (ID.test(source)) return { kind: 'id', id: source };
  if (source.startsWith('@') || source.includes('@')) return npmSource(source);
  throw installErrors.source(`nothing is known that is written ${JSON.stringify(source)}`);
};

/** As it may be kept and shown: without passwords, keys and what an address carries behind its question mark. */
export const withoutSecrets = (text: string): string => {
  const [, scheme = '', rest = ''] = /^((?:git\+)?[a-z][a-z0-9+.-]*:\/\/)(.*)$/s.exec(text.trim()) ?? [];
  if (scheme === '') return text.trim();
  const [address = '', ...fragment] = rest.split('#');
  const [place = '', ...query] = address.split('?');
  const [host = '', ...path] = place.split('/');
  const shown = [host.slice(host.lastIndexOf('@') + 1), ...path].join('/');
  return `${scheme}${shown}${query.length > 0 ? '?…' : ''}${fragment.length > 0 ? `#${fragment.join('#')}` : ''}`;
};

/** Loopback needs no encryption: whoever listens there is on this machine. */
const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);

const addressOf = (text: string, schemes: readonly string[]): URL => {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw installErrors.source(`${withoutSecrets(text)} is not an address`);
  }
  const isPlain = url.protocol === 'http:' && isLoopback(url);
  if (!schemes.includes(url.protocol) && !isPlain) throw installErrors.source(`${url.protocol}// is not taken here, ${schemes.map((scheme) => `${scheme}//`).join(' and ')} are`);
  return url;
};

const urlSource = (text: string): Source => {
  const url = addressOf(text, ['https:']);
  const [, sha256] = /^#sha256=([0-9a-fA-F]{64})$/.exec(url.hash) ?? [];
  if (sha256 === undefined) throw installErrors.checksum(withoutSecrets(text), 'an address needs #sha256= and the 64 hex digits that its publisher names');
  url.hash = '';
  return { kind: 'url', url: url.href, sha256: sha256.toLowerCase() };
};

const gitSource = (text: string): Source => {
  const url = addressOf(text, ['https:', 'ssh:', 'file:']);
  const ref = decodeURIComponent(url.hash.slice(1));
  url.hash = '';
  if (ref !== '' && (!REF.test(ref) || ref.includes('..'))) throw installErrors.source(`${JSON.stringify(ref)} is not a branch, a tag or a commit`);
  return { kind: 'git', url: url.href, ref: ref === '' ? undefined : ref };
};

const filePath = (text: string): string => {
  try {
    return fileURLToPath(text);
  } catch {
    throw installErrors.source(`${text} is not an address of a file`);
  }
};

const pathSource = async (path: string): Promise<Source> => {
  const about = await stat(path).catch(() => undefined);
  if (!about) throw installErrors.not_found('file or folder', path);
  if (about.isDirectory()) return { kind: 'folder', path };
  if (about.isFile()) return { kind: 'archive', path };
  throw installErrors.source(`${path} is neither a file nor a folder`);
};

const npmSource = (text: string): Source => {
  const at = text.indexOf('@', 1);
  const [name, range] = at < 0 ? [text, 'latest'] : [text.slice(0, at), text.slice(at + 1).trim()];
  if (!NPM_NAME.test(name) || name.length > 214) throw installErrors.source(`${JSON.stringify(name)} is not a name of npm`);
  // Another source in place of a range would go round what is validated here.
  if (range === '' || range.length > 200 || /[:/\\]/.test(range)) throw installErrors.source(`${JSON.stringify(range)} is not a version range`);
  return { kind: 'npm', name, range };
};
