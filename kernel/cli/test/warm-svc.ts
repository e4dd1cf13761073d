/** Sends commands to the process of warm-svc.program.ts, one after another. A Node that starts and loads the command line is most of what a command takes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { WARM_PROGRAM, type WarmAnswer, type WarmTask } from './warm-svc.program.js';

let child: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

const started = (): ChildProcess => {
  if (child?.connected) return child;
  child = fork(WARM_PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  // It ends with its channel, and keeps nobody from ending.
  child.unref();
  return child;
};

const answered = async (task: WarmTask): Promise<WarmAnswer> => {
  const svc = started();
  const over = new AbortController();
  svc.ref();
  svc.channel?.ref();
  try {
    const answer = once(svc, 'message', over).then(([message]) => message as WarmAnswer); // it sends nothing else
    const ended = once(svc, 'exit', over).then(() => Promise.reject(new Error(`svc ${task.args.join(' ')}: its process ended without an answer`)));
    svc.send(task);
    return await Promise.race([answer, ended]);
  } finally {
    // The other one of the two is waited for no longer.
    over.abort();
    svc.unref();
    svc.channel?.unref();
  }
};

export const runWarm = (task: Omit<WarmTask, 'env'> & { readonly env: NodeJS.ProcessEnv }): Promise<WarmAnswer> => {
  const env = Object.fromEntries(Object.entries(task.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const ran = last.then(() => answered({ ...task, env }));
  last = ran.catch(() => undefined);
  return ran;
};
