/** The processes in a sandbox, as the daemon sees them. All of them descend from bubblewrap: what loses its parent inside is given to the first process inside. */
import { readdirSync, readFileSync } from 'node:fs';

/** `outer`: the process that was started. Breadth first, without `outer`; no more than `most` and one. */
export const descendantsOf = (outer: number, most: number): number[] => {
  const found: number[] = [];
  const waiting = [outer];
  for (let pid = waiting.shift(); pid !== undefined && found.length <= most; pid = waiting.shift()) {
    const children = childrenOf(pid);
    found.push(...children);
    waiting.push(...children);
  }
  return found;
};

const childrenOf = (pid: number): number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => numbersIn(`/proc/${pid}/task/${thread}/children`));
  } catch {
    return []; // it has ended
  }
};

const numbersIn = (file: string): number[] => {
  try {
    return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // the thread has ended
  }
};

/** Those that are the command's own: neither bubblewrap nor the process that reaps for it, which is the first inside. */
export const ownProcesses = (outer: number, most: number): number[] => descendantsOf(outer, most).slice(1);

interface Usage {
  readonly threads: number;
  /** Without what comes from files: nobody pays for a library twice. */
  readonly bytes: number;
}

export const usageOf = (pid: number): Usage => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { threads: field('Threads'), bytes: (field('RssAnon') + field('RssShmem') + field('VmSwap')) * 1_024 };
  } catch {
    return { threads: 0, bytes: 0 }; // it has ended
  }
};
