/**
 * A Chromium that nothing looks into but what is asked here. Playwright reads along what each page loads, and the page's process
 * keeps all of that for it: a measurement of memory would measure its reader.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { CHROMIUM } from './visit.mjs';

const POLL_MS = 100;

/** The developer tools at that address, by method. */
const connect = async (address) => {
  const socket = new WebSocket(address, { maxPayload: 64 * 1024 * 1024 });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const waiting = new Map();
  let sent = 0;
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(data);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        sent += 1;
        const id = sent;
        waiting.set(id, { resolve, reject });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
};

/** One tab at that address. `evaluate` takes the source of an expression; `until` waits for one to be true. */
export const openTab = async (url) => {
  const profile = await mkdtemp(path.join(tmpdir(), 'svc-tab-'));
  const child = spawn(CHROMIUM, ['--headless', '--no-sandbox', '--disable-gpu', '--window-size=1280,800', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const address = await debuggerOf(child);
    const tools = await connect(address);
    const { targetInfos } = await tools.send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const tab = await connect(`${address.slice(0, address.indexOf('/devtools/'))}/devtools/page/${targetId}`);
    await tab.send('Page.navigate', { url });
    return { ...asking(tab), tools, tab, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const debuggerOf = async (child) => {
  for await (const line of createInterface({ input: child.stderr })) {
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('Chromium ended before it could be asked');
};

const asking = (tab) => {
  const evaluate = async (expression) => (await tab.send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  const until = async (expression, timeoutMs) => {
    const end = Date.now() + timeoutMs;
    while (!(await evaluate(expression))) {
      if (Date.now() > end) throw new Error(`not true after ${timeoutMs / 1_000} s: ${expression}`);
      await sleep(POLL_MS);
    }
  };
  return { evaluate, until };
};
