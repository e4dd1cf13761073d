/// <reference path="./npm-pick-manifest.d.ts" />
/** Packages of an npm registry: which version a range means, and its archive, checked against what the registry announces. */
import { isTable, parsedUrl } from '@svc/api';
import { installErrors } from '../errors.js';
import { downloadArchive, downloadJson } from './download.js';
import type { FetchContext } from './fetching.js';
import { withoutSecrets } from './source.js';

export const NPM_REGISTRY = 'https://registry.npmjs.org/';
/** The short form, without readmes. */
const SHORT = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8';
const STRONG = /(?:^|\s)(sha(?:256|384|512)-[A-Za-z0-9+/=]+)/;

/** Choosing looks at every version. */
const MAX_VERSIONS = 5_000;

/** What package.json of the archive has to say. */
export interface Announced {
  readonly name: string;
  readonly version: string;
}

/** Writes the archive of the newest version in the range, and says what it has to be. */
export const fetchNpm = async ({ name, range }: { readonly name: string; readonly range: string }, file: string, registry: string, context: FetchContext): Promise<Announced> => {
  const what = `${name}@${range}`;
  context.onProgress({ step: 'resolve', what });
  const found = await downloadJson(new URL(name.replace('/', '%2f'), registry.endsWith('/') ? registry : `${registry}/`).href, `${name} of ${withoutSecrets(registry)}`, context, SHORT);
  if (!isTable(found)) throw installErrors.download(what, 'the registry does not speak as one');
  if (isTable(found.versions) && Object.keys(found.versions).length > MAX_VERSIONS) throw installErrors.download(what, `the registry has more than ${MAX_VERSIONS} versions of it`);
  const { version, dist } = await pick(found, what, range, registry);
  const [, integrity] = STRONG.exec(dist?.integrity ?? '') ?? [];
  if (dist?.tarball === undefined || integrity === undefined) throw installErrors.checksum(`${name}@${version}`, 'the registry announces no SHA-512 of it');
  await downloadArchive({ url: archiveAddress(dist.tarball, registry), what: `${name}@${version}`, integrity, namedBy: registry }, file, context);
  return { name, version };
};

const pick = async (packument: object, what: string, range: string, registry: string) => {
  const { default: pickManifest } = await import('npm-pick-manifest');
  try {
    return pickManifest(packument, range);
  } catch (error) {
    throw installErrors.not_found(what, `at ${withoutSecrets(registry)}`).with({ cause: error });
  }
};

/** The archive needs the login of the registry where it lies on the same host. */
const archiveAddress = (tarball: unknown, registry: string): string => {
  // What a registry answers has whatever types it likes.
  const archive = typeof tarball === 'string' ? parsedUrl(tarball) : undefined;
  if (!archive) throw installErrors.source('the registry names no address of the archive');
  const home = new URL(registry);
  if (archive.protocol !== 'https:' && archive.host !== home.host) throw installErrors.source(`the registry names the archive ${withoutSecrets(archive.href)}`);
  if (archive.host === home.host && archive.protocol === home.protocol) {
    archive.username = home.username;
    archive.password = home.password;
  }
  return archive.href;
};
