/** Attempts to leave a folder through its handle, in a temporary folder of their own. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Dir, isSvcError, type SecurityLook } from '@svc/api';
import { inProbeFolder } from './probe-folder.js';

const OUTSIDE = 'outside';
const WRITTEN = 'written';

interface Attempt {
  readonly what: string;
  readonly run: (dir: Dir) => Promise<unknown>;
}

const attempts = (outside: string): readonly Attempt[] => [
  { what: 'reading with ".."', run: (dir) => dir.readText('../outside.txt') },
  { what: 'reading with ".." further down', run: (dir) => dir.readText('below/../../outside.txt') },
  { what: 'writing with ".."', run: (dir) => dir.write('../outside.txt', WRITTEN) },
  { what: 'an absolute path', run: (dir) => dir.readText(outside) },
  { what: 'a NUL character', run: (dir) => dir.readText('inside.txt\0.png') },
  { what: 'reading through a link', run: (dir) => dir.readText('link.txt') },
  { what: 'writing through a link', run: (dir) => dir.write('link.txt', WRITTEN) },
  { what: 'writing through a link that leads nowhere', run: (dir) => dir.write('dangling.txt', WRITTEN) },
  { what: 'a linked folder', run: (dir) => dir.readText('folder/outside.txt') },
  { what: 'removing with ".."', run: (dir) => dir.remove('../outside.txt') },
];

export const lookAtPaths = (openDir: (root: string) => Dir, folder: string): Promise<SecurityLook> => inProbeFolder(folder, (own) => tryAll(openDir, own));

const tryAll = async (openDir: (root: string) => Dir, own: string): Promise<SecurityLook> => {
  const [root, outside] = [join(own, 'root'), join(own, 'outside.txt')];
  await mkdir(join(root, 'below'), { recursive: true });
  await writeFile(outside, OUTSIDE);
  await writeFile(join(root, 'inside.txt'), 'inside');
  await Promise.all([symlink(outside, join(root, 'link.txt')), symlink(join(own, 'new.txt'), join(root, 'dangling.txt')), symlink(own, join(root, 'folder'))]);
  const dir = openDir(root);
  if ((await dir.readText('inside.txt')) !== 'inside') return { state: 'failed', detail: 'A file inside of the folder could not be read.' };
  const passed: string[] = [];
  const tried = attempts(outside);
  for (const { what, run } of tried) if (!(await isRefused(() => run(dir)))) passed.push(what);
  if (passed.length === 0 && (await readFile(outside, 'utf8')) !== OUTSIDE) passed.push('changing a file outside');
  if (passed.length > 0) return { state: 'failed', detail: `These left the folder: ${passed.join(', ')}.` };
  return { state: 'active', detail: `${tried.length} attempts to leave a folder were refused: with "..", a NUL, an absolute path, and links to files and folders. A file inside was read.` };
};

/** By the adapter's rules: another error is no refusal. */
const isRefused = async (attempt: () => Promise<unknown>): Promise<boolean> => {
  try {
    await attempt();
    return false;
  } catch (error) {
    if (isSvcError(error)) return true;
    throw error;
  }
};
