/** Packages for a new extension where `svc` runs from a checkout: folders of it, which npm links without a registry. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../failure.js';

/** Where npm finds each package that the templates name: `file:` and an absolute path. Undefined where `svc` is an installed package. Builds them where they are stale, which takes some seconds. */
export const checkoutPackages = async (distDir: string): Promise<Readonly<Record<string, string>> | undefined> => {
  const root = path.dirname(distDir);
  const tool = path.join(root, 'tools/pack.mjs');
  if (!existsSync(tool)) return undefined;
  const folder = await promisify(execFile)(process.execPath, [tool, '--linked'], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    (error: Error & { stderr?: string }) => {
      throw new Failure(`The packages that extensions are written with could not be built: ${error.stderr?.trim() || error.message}`, { code: 'author_packages', fix: `node ${tool} --linked` });
    },
  );
  const at = (...parts: string[]): string => `file:${path.join(...parts)}`;
  const ours = ['api', 'client', 'testing'].map((name) => [`@svc/${name}`, at(folder, name)]);
  // The command itself is the checkout's own: `npx svc` reaches the daemon that runs from it.
  return Object.fromEntries([...ours, ['@svc/cli', at(root, 'kernel/cli')], ...['typescript', '@types/node'].map((name) => [name, at(root, 'node_modules', name)])]);
};
