/** Tells of changes below a folder of sources, once for those that come together. */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** An editor writes a file in several steps. */
const TOGETHER_MS = 40;
/** What a person writes; what is made of it, and what npm installs, changes nothing. */
const WATCHED = /^(src|panels|assets)[\\/]|^(extension|package|tsconfig)\.json$/;

/** Calls `changed` with the paths, never twice at a time; what comes meanwhile is told of afterwards. */
export const watchSources = (dir: string, changed: (paths: readonly string[]) => Promise<void>): { close(): void } => {
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isBusy = false;
  let isClosed = false;
  const notify = async (): Promise<void> => {
    if (isBusy || isClosed || waiting.size === 0) return;
    isBusy = true;
    const paths = [...waiting].sort();
    waiting.clear();
    await changed(paths);
    isBusy = false;
    await notify();
  };
  const received = (_event: string, name: string | Buffer | null): void => {
    const path = String(name ?? '');
    if (!WATCHED.test(path)) return;
    waiting.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => void notify(), TOGETHER_MS);
  };
  // node_modules is large and of no interest: what is watched is named.
  const watchers: FSWatcher[] = [watch(dir, received)];
  for (const folder of ['src', 'panels', 'assets']) {
    try {
      watchers.push(watch(join(dir, folder), { recursive: true }, (event, name) => received(event, join(folder, String(name ?? '')))));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
};
