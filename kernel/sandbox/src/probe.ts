/** Whether a plan works here: tried with its real arguments, by a program that does nothing. */
import { execFile } from 'node:child_process';
import { bubblewrapArguments, type SandboxPlan } from './bubblewrap.js';
import { faultOf, readFacts, type SandboxFault } from './faults.js';
import { type Bubblewrap, findBubblewrap } from './find-bubblewrap.js';

const PROBE_MS = 10_000;

export type Probed = { readonly bubblewrap: Bubblewrap } | { readonly fault: SandboxFault };

export const probeSandbox = async (plan: SandboxPlan, find: () => Promise<Bubblewrap | undefined> = findBubblewrap): Promise<Probed> => {
  const bubblewrap = process.platform === 'linux' ? await find() : undefined;
  if (!bubblewrap) return { fault: faultOf(undefined, await readFacts()) };
  const said = await tried(bubblewrap, plan);
  return said === undefined ? { bubblewrap } : { fault: faultOf(said, await readFacts()) };
};

/** The first line of what went wrong. */
const tried = ({ program, features }: Bubblewrap, plan: SandboxPlan): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, [...bubblewrapArguments(plan, features), '--', '/bin/true'], { timeout: PROBE_MS, env: {} }, (error, _stdout, stderr) => {
      resolve(error ? stderr.trim().split('\n')[0] || (error.killed ? `it did not end within ${PROBE_MS / 1_000} s` : error.message) : undefined);
    });
  });
