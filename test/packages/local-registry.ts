/** A registry of npm packages for tests: empty at first, gone afterwards. What is installed from it comes from it alone. */
import { execFile, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { releaseFile } from '@svc/testing';
import { create } from 'tar';

export const ROOT = join(releaseFile(), '..', '..');
const PROGRAM = join(dirname(releaseFile()), 'test/test/packages/registry.program.js');
const run = promisify(execFile);

export interface LocalRegistry {
  readonly url: string;
  /** Runs npm in `cwd` with this registry and no other, without scripts of packages. Resolves with what it printed. */
  npm(cwd: string, ...args: readonly string[]): Promise<string>;
  /** For programs that run npm themselves. */
  readonly env: Readonly<Record<string, string>>;
  publish(tarball: string): Promise<void>;
  /** Publishes packages of this checkout's node_modules, as they lie there, with all that they need. */
  lend(...names: readonly string[]): Promise<void>;
  stop(): Promise<void>;
  /** Keeps this process from nothing, and ends with it: in place of stop(). */
  letGo(): void;
}

export const startRegistry = async (): Promise<LocalRegistry> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-registry-'));
  const child = fork(PROGRAM, [folder], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the registry ended with ${code}`);
    }),
  ]);
  // npm sends what is published only with a key, and any will do here.
  const userConfig = join(folder, 'npmrc');
  await writeFile(
    userConfig,
    `registry=${url}/\n${url.replace('http:', '')}/:_authToken=anybody\naudit=false\nfund=false\nupdate-notifier=false\nignore-scripts=true\ncache=${join(folder, 'cache')}\n`,
  );
  const env = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_userconfig: userConfig };
  const npm = async (cwd: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await run('npm', [...args], { cwd, env, maxBuffer: 10_000_000 }).catch((error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`npm ${args.join(' ')}\n${error.stdout ?? ''}${error.stderr ?? error.message}`);
    });
    return stdout;
  };
  return {
    url,
    npm,
    env,
    publish: async (tarball) => void (await npm(folder, 'publish', tarball)),
    lend: async (...names) => {
      const lent = new Map<string, Lent>();
      for (const name of names) gather(name, ROOT, lent, true);
      for (const one of lent.values()) await put(url, one);
    },
    letGo: () => {
      child.unref();
      child.channel?.unref();
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

interface Lent {
  readonly folder: string;
  readonly facts: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
}

/** The package that a program in `from` gets by this name, and what that one needs, by name and version. */
const gather = (name: string, from: string, into: Map<string, Lent>, isNeeded: boolean): void => {
  const folder = nearest(name, from);
  if (folder === undefined) {
    if (isNeeded) throw new Error(`${name} is not in node_modules above ${from}`);
    return;
  }
  const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const key = `${facts.name}@${facts.version}`;
  if (into.has(key)) return;
  into.set(key, { folder, facts });
  for (const needed of Object.keys(facts.dependencies ?? {})) gather(needed, folder, into, facts.optionalDependencies?.[needed] === undefined);
  for (const wished of Object.keys({ ...facts.optionalDependencies, ...facts.peerDependencies })) gather(wished, folder, into, false);
};

const nearest = (name: string, from: string): string | undefined => {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return from === ROOT ? undefined : nearest(name, dirname(from));
};

/** What a compiler left behind is nobody's need; the library that it made is. */
const isPacked = (path: string): boolean => !path.startsWith('./node_modules/') && (!path.startsWith('./build/Release/') || path.endsWith('.node')) && !path.startsWith('./deps/');

/** As `npm publish` sends it. Of a name with several versions the last is the latest. */
const put = async (url: string, { folder, facts }: Lent): Promise<void> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of create({ cwd: folder, gzip: { level: 1 }, portable: true, prefix: 'package', filter: isPacked }, ['.'])) chunks.push(chunk);
  const tarball = Buffer.concat(chunks);
  const { name, version } = facts;
  const file = `${name}-${version}.tgz`;
  const dist = {
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    tarball: `${url}/${name}/-/${file}`,
  };
  const body = {
    _id: name,
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...facts, _id: `${name}@${version}`, dist } },
    _attachments: { [file]: { content_type: 'application/octet-stream', data: tarball.toString('base64'), length: tarball.length } },
  };
  const answer = await fetch(`${url}/${encodeURIComponent(name)}`, { method: 'PUT', headers: { 'content-type': 'application/json', authorization: 'Bearer anybody' }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`publishing ${name}@${version}: ${answer.status} ${await answer.text()}`);
};
