/** Where plugins come from: a folder of this machine, a git repository, a registry. */
import type { Dir, ExecOptions, ExecResult, Ids } from '@svc/api';
import { pluginErrors } from '../errors.js';
import { type Files, filesIn } from './staging.js';

const CLONE_MS = 120_000;
const COPY_MS = 60_000;
const MAX_KB = 200 * 1024;
/** Left out: they are large, and nothing of them is the plugin's. */
const COPY = `set -e
[ -f "$1/plugin.toml" ] || { echo 'there is no plugin.toml' >&2; exit 3; }
size=$(du -sk "$1" | cut -f1)
[ "$size" -le "$3" ] || { echo "the folder has $size KiB" >&2; exit 4; }
cp -RP "$1/." "$2"`;

export interface SourceDeps {
  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  readonly cache: Dir;
  readonly ids: Ids;
  readonly home: string;
}

export const fromFolder = async (deps: SourceDeps, path: string): Promise<Files> => {
  const from = path.replace(/^~(?=\/|$)/, deps.home);
  if (!from.startsWith('/')) throw pluginErrors.bad_source(`"${path.slice(0, 200)}" is no absolute path.`);
  return inStaging(deps, async (folder) => {
    const done = await deps.exec('sh', ['-c', COPY, 'sh', from, folder.path, String(MAX_KB)], { cwd: '/', envNames: [], timeoutMs: COPY_MS });
    if (done.exitCode !== 0) throw pluginErrors.bad_source(`the folder ${from.slice(0, 200)} could not be copied: ${lastLine(done.stderr)}.`);
  });
};

export const fromGit = async (deps: SourceDeps, url: string, branch: string | undefined): Promise<Files> =>
  inStaging(
    deps,
    async (folder) => {
      const args = ['-c', 'protocol.ext.allow=never', '-c', 'core.hooksPath=/dev/null', '-c', 'core.symlinks=true', 'clone', '--quiet', '--depth', '1', '--single-branch', '--no-tags', '--template='];
      const done = await deps.exec('git', [...args, ...(branch === undefined ? [] : ['--branch', branch]), '--', url, `${folder.path}/clone`], {
        cwd: folder.path,
        env: { GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1', GIT_ASKPASS: '/bin/false', GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' },
        envNames: [],
        timeoutMs: CLONE_MS,
      });
      if (done.timedOut) throw pluginErrors.bad_source('git did not end within two minutes.');
      if (done.exitCode !== 0) throw pluginErrors.bad_source(`git could not clone it: ${lastLine(done.stderr)}.`);
    },
    'clone',
  );

const inStaging = async (deps: SourceDeps, fill: (folder: Dir) => Promise<void>, below?: string): Promise<Files> => {
  const name = `staging-${deps.ids.hex(8)}`;
  const folder = deps.cache.dir(name);
  try {
    await folder.write('.svc', 'A plugin on its way in.\n');
    await fill(folder);
    return await filesIn(below === undefined ? folder : folder.dir(below));
  } finally {
    await deps.cache.remove(name);
  }
};

const lastLine = (text: string): string =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^(fatal|error|cp|du): /, '')
    .replace(/\.$/, '')
    .slice(0, 300) ?? 'no reason was given';
