/**
 * Where a skill comes from: a folder or file of this machine, an address, a git repository, or the local registry.
 *
 * W1  Every source gives files in memory, validated by the rules of archives; nothing is written before a skill is accepted.
 * W2  Addresses are reached by the rules of egress: public ones, and those under `[web.fetch] ssrf_allowed_hosts`.
 * W3  A repository is cloned without hooks, submodules, redirects and prompts, into a folder that is removed again.
 */
import { basename, dirname } from 'node:path';
import { type ExtensionContext, inMegabytes, isSvcError, parsedUrl } from '@svc/api';
import { skillErrors } from '../errors.js';
import { nameOf } from '../format/skill-file.js';
import { archiveKindOf, filesOfSkill, PACK_LIMITS, type PackFile, sha256, unpacked } from './pack.js';

const GIT_MS = 120_000;
const LOCAL_MS = 60_000;
const FETCH_MS = 120_000;
const STDERR_CHARS = 400;
const GIT_SETTINGS = ['core.hooksPath=/dev/null', 'http.followRedirects=false', 'protocol.allow=never', 'protocol.https.allow=always', 'protocol.http.allow=always', 'core.symlinks=false'];

export type SourceType = 'local' | 'url' | 'git' | 'registry' | 'skillhub' | 'skillhub-cn' | 'bundled';

export interface SkillSource {
  readonly type: SourceType;
  /** As somebody gave it: the path, the address, the name. */
  readonly from?: string;
  /** Of a hub. */
  readonly slug?: string;
  readonly version?: string;
  /** The publisher at a hub, where one was named. */
  readonly owner?: string;
  /** Folder in the source, where one was named. */
  readonly path?: string;
}

/** The files of one skill, not yet read. */
export interface FetchedSkill {
  readonly source: SkillSource;
  readonly files: readonly PackFile[];
  /** Its name where its file has none. */
  readonly folder: string;
  /** Of a download as it came. */
  readonly downloadSha256?: string;
}

export type SourceContext = Pick<ExtensionContext, 'fetch' | 'egress' | 'exec' | 'spawn' | 'files' | 'ids' | 'env'>;

export const fetchSkill = async (ctx: SourceContext, given: string, path: string | undefined): Promise<FetchedSkill> => {
  const fetched = await fetchFrom(ctx, given.trim(), path);
  return path === undefined ? fetched : { ...fetched, source: { ...fetched.source, path } };
};

const fetchFrom = (ctx: SourceContext, source: string, path: string | undefined): Promise<FetchedSkill> => {
  if (source.startsWith('/') || source === '~' || source.startsWith('~/')) return fromMachine(ctx, source, path);
  if (/^(?:git@|ssh:\/\/|git:\/\/)/.test(source)) throw skillErrors.bad_source(source, 'svc clones repositories over https alone');
  const url = parsedUrl(source);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return isRepository(url) ? fromGit(ctx, url, path) : fromAddress(ctx, url, path);
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(source)) return fromRegistry(ctx, source);
  throw skillErrors.bad_source(source, 'it is no absolute path, no address and no name');
};

const isRepository = ({ pathname, hostname }: URL): boolean => pathname.endsWith('.git') || (['github.com', 'gitlab.com', 'codeberg.org'].includes(hostname) && /^\/[^/]+\/[^/]+\/?$/.test(pathname));

/** Read by tar, which names links as links. */
const fromMachine = async (ctx: SourceContext, given: string, wanted: string | undefined): Promise<FetchedSkill> => {
  const path = given.replace(/^~(?=\/|$)/, ctx.env('HOME') ?? '~').replace(/(?<=[^/])\/+$/, '');
  const bytes = await tarOf(ctx, path, given);
  const files = await unpacked(bytes, 'tar');
  const source = { type: 'local', from: path } as const;
  const [only] = files;
  if (files.length === 1 && only && only.path === basename(path)) return ofDownload(source, only.bytes, basename(path), wanted);
  return { source, ...filesOfSkill(files, wanted, given) };
};

const tarOf = async (ctx: SourceContext, path: string, given: string): Promise<Uint8Array> => {
  const child = await ctx.spawn('tar', ['-cf', '-', '--exclude=.git', '--exclude=node_modules', '-C', dirname(path), '--', basename(path)], {
    cwd: '/',
    env: { COPYFILE_DISABLE: '1', LC_ALL: 'C' },
    timeoutMs: LOCAL_MS,
  });
  child.stdin.end();
  const said = readSome(child.stderr, STDERR_CHARS * 4);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of child.stdout) {
    size += part.length;
    if (size > PACK_LIMITS.bytes * 1.2) {
      await child.kill();
      throw skillErrors.archive_size(given, inMegabytes(PACK_LIMITS.bytes));
    }
    parts.push(part);
  }
  const { exitCode } = await child.exit;
  if (exitCode !== 0) throw skillErrors.bad_source(given, /No such file|Cannot (?:open|stat)|cannot/i.test(await said) ? 'it is not on this machine, or may not be read' : 'it could not be read');
  return Buffer.concat(parts);
};

const readSome = async (pieces: AsyncIterable<Uint8Array>, most: number): Promise<string> => {
  let text = '';
  for await (const piece of pieces) if (text.length < most) text += Buffer.from(piece).toString('utf8');
  return text.slice(0, most);
};

const fromAddress = async (ctx: SourceContext, url: URL, wanted: string | undefined): Promise<FetchedSkill> => {
  const bytes = await downloaded(ctx, url.href);
  return ofDownload({ type: 'url', from: url.href }, bytes, basename(url.pathname) || url.hostname, wanted);
};

const downloaded = async (ctx: SourceContext, url: string): Promise<Uint8Array> => {
  try {
    const response = await ctx.fetch(url, { purpose: 'webhook', timeoutMs: FETCH_MS, headers: { accept: 'application/zip, application/gzip, text/markdown, text/plain, */*' } });
    if (response.status !== 200) {
      response.cancel();
      throw skillErrors.unreachable(url, `it answered ${response.status}`);
    }
    if (/^text\/html\b/i.test(response.headers['content-type'] ?? '')) {
      response.cancel();
      throw skillErrors.unreachable(url, 'it answered with a web page, not with a skill');
    }
    const parts: Uint8Array[] = [];
    for await (const part of response.body) parts.push(part);
    return Buffer.concat(parts);
  } catch (error) {
    if (isSvcError(error) && error.code.startsWith('skills_')) throw error;
    throw skillErrors.unreachable(url, isSvcError(error) ? error.message.replace(/\.$/, '') : 'no answer').with({ cause: error });
  }
};

/** An archive, or SKILL.md alone. */
export const ofDownload = async (source: SkillSource, bytes: Uint8Array, name: string, wanted?: string): Promise<FetchedSkill> => {
  const downloadSha256 = sha256(bytes);
  const kind = archiveKindOf(bytes);
  const label = source.slug ?? source.from ?? name;
  const folder = source.slug ?? nameOf(name.replace(/\.(?:zip|tar|tgz|tar\.gz|md)$/i, ''));
  if (kind === undefined) {
    if (bytes.length === 0 || bytes.subarray(0, 8_192).includes(0)) throw skillErrors.no_skill(label);
    if (!/\.md$/i.test(name) && !Buffer.from(bytes.subarray(0, 200)).toString('utf8').trimStart().startsWith('---')) throw skillErrors.no_skill(label);
    return { source, downloadSha256, folder: /^skill$/i.test(folder) ? '' : folder, files: [{ path: 'SKILL.md', bytes, isProgram: false }] };
  }
  const found = filesOfSkill(await unpacked(bytes, kind), wanted, label);
  return { source, downloadSha256, files: found.files, folder: found.folder || folder };
};

const fromGit = async (ctx: SourceContext, url: URL, wanted: string | undefined): Promise<FetchedSkill> => {
  const ref = url.hash.slice(1);
  url.hash = '';
  if (ref !== '' && !/^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$/.test(ref)) throw skillErrors.bad_source(url.href, `"${ref}" is no name of a branch or tag`);
  const refusal = await ctx.egress.refusal(url.href);
  if (refusal !== undefined) throw skillErrors.unreachable(url.href, refusal.replace(/\.$/, ''));
  const place = `clone-${ctx.ids.hex(8)}`;
  await ctx.files.cache.write(`${place}/.begun`, '');
  try {
    const dir = ctx.files.cache.dir(place);
    const settings = GIT_SETTINGS.flatMap((setting) => ['-c', setting]);
    const done = await ctx.exec('git', [...settings, 'clone', '--depth', '1', '--no-tags', ...(ref === '' ? [] : ['--branch', ref]), '--', url.href, 'repository'], {
      cwd: dir.path,
      env: { GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1', GIT_LFS_SKIP_SMUDGE: '1' },
      timeoutMs: GIT_MS,
    });
    if (done.exitCode !== 0) throw skillErrors.unreachable(url.href, done.timedOut ? 'it took too long' : (done.stderr.trim().split('\n').at(-1) ?? '').slice(0, STDERR_CHARS).replace(/\.$/, ''));
    const files = await unpacked(await tarOf(ctx, `${dir.path}/repository`, url.href), 'tar');
    const found = filesOfSkill(files, wanted, url.href);
    const name = basename(url.pathname).replace(/\.git$/, '');
    return { source: { type: 'git', from: ref === '' ? url.href : `${url.href}#${ref}` }, files: found.files, folder: found.folder === 'repository' ? nameOf(name) : found.folder };
  } finally {
    await ctx.files.cache.remove(place);
  }
};

const fromRegistry = async (ctx: SourceContext, name: string): Promise<FetchedSkill> => {
  const folder = ctx.files.root('registry').dir('skills');
  const entries = await folder.list('', { limit: 10_000 });
  const found = entries.find((entry) => entry.kind === 'dir' && nameOf(entry.name) === nameOf(name));
  if (!found) throw skillErrors.not_in_registry(name);
  return fromMachine(ctx, `${folder.path}/${found.name}`, undefined).then((skill) => ({ ...skill, source: { type: 'registry', from: found.name } }));
};
