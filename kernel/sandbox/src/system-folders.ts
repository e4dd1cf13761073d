/** What programs need of the system: libraries, programs, certificates. No account, no secret, no state of other programs. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';

export interface Bind {
  readonly path: string;
  /** Where it is seen; by default where it is. */
  readonly at?: string;
  readonly isWritable?: boolean;
}

const FOLDERS = ['/usr', '/nix/store'];
/** Parts of /usr on most systems, and reached through a link then. */
const MERGED = ['/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32'];
/** Of /etc nothing that names people, hosts or keys. */
const ETC = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/ssl/cert.pem',
  '/etc/ca-certificates/extracted',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
  '/etc/pki/tls/cert.pem',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/terminfo',
];

let binds: readonly string[] | undefined;

/** As arguments. Looked at once: a system does not change its folders while a daemon runs. */
export const systemBinds = (): readonly string[] => {
  binds ??= [...FOLDERS.filter(existsSync).flatMap(readOnly), ...MERGED.flatMap(merged), ...ETC.filter(existsSync).flatMap(readOnly)];
  return binds;
};

const readOnly = (path: string): string[] => ['--ro-bind', path, path];

const merged = (path: string): string[] => {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : readOnly(path);
};

/** What Node needs that lies outside the folders of the system: its program and the packages beside it, never the folder of a person. */
export const nodeBinds = (execPath: string): Bind[] => {
  const program = realpathSync(execPath);
  if ([...FOLDERS, ...MERGED].some((folder) => isWithin(folder, program))) return [];
  const prefix = dirname(dirname(program));
  const modules = join(prefix, 'lib', 'node_modules');
  // A prefix of Node's own holds npm; one that does not may be anything, such as a home folder with a bin in it.
  return existsSync(join(modules, 'npm')) ? [{ path: join(prefix, 'bin') }, { path: modules }] : [{ path: program }];
};

/** Component-wise: `/a/bc` is not within `/a/b`. */
export const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
};
