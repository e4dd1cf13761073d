/** One build at a time per checkout: a second one waits, then finds little left to do. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DIST } from './paths.mjs';

const LOCK = path.join(DIST, '.build.lock');
const POLL_MS = 50;
const WAIT_MS = 120_000;

const holder = () => {
  try {
    return Number(readFileSync(LOCK, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const take = () => {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};

/** Runs `work` alone. A lock whose process is gone is taken over. */
export const withBuildLock = async (work) => {
  mkdirSync(DIST, { recursive: true });
  const until = Date.now() + WAIT_MS;
  while (!take()) {
    const pid = holder();
    if (pid !== undefined && !isAlive(pid)) rmSync(LOCK, { force: true });
    else if (Date.now() > until) throw new Error(`another build (process ${pid}) has held dist/.build.lock for ${WAIT_MS / 1000} s; end it or remove the file`);
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
};
