/** A real nats-server for tests, on a port that stays the same over its restarts. Tests are skipped by name where the program is missing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../free-port.js';

const READY_MS = 20_000;
/** The shell ends the server when the pipe from the tests closes, which the system does for a process that was killed, too. */
const KEEPER = `trap '' INT TERM HUP; "$0" -c "$1" >>"$1.log" 2>&1 & pid=$!; read -r word; kill -KILL $pid; wait $pid`;

export interface NatsServer {
  readonly port: number;
  /** As `[cluster] bus`. */
  readonly url: string;
  /** Ends it at once; its clients are cut off. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes what it left. */
  close(): Promise<void>;
}

/** Debian's package nats-server puts it in /usr/sbin, which is not in everybody's PATH. */
export const natsProgram = (): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'].map((folder) => join(folder, 'nats-server')).find((file) => existsSync(file));

/** `config`: lines of its configuration beside the address. */
export const startNats = async (config = ''): Promise<NatsServer> => {
  const program = natsProgram();
  if (program === undefined) throw new Error('These tests need a nats-server: install the package nats-server.');
  const dir = mkdtempSync(join(tmpdir(), 'svc-nats-'));
  const port = await freePort();
  const file = join(dir, 'nats.conf');
  writeFileSync(file, `listen: "127.0.0.1:${port}"\n${config}\n`);
  let keeper: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (!keeper) return;
    const ended = once(keeper, 'exit');
    keeper.ref();
    keeper.stdin?.end();
    keeper = undefined;
    await ended;
  };
  const start = async (): Promise<void> => {
    keeper = spawn('/bin/sh', ['-c', KEEPER, program, file], { stdio: ['pipe', 'ignore', 'ignore'] });
    keeper.unref();
    const { stdin } = keeper;
    if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
    await answers(port);
  };
  await start();
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    stop,
    start,
    close: async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

const answers = async (port: number): Promise<void> => {
  for (const deadline = performance.now() + READY_MS; ; ) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([once(socket, 'data').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false); // refused: not yet
    socket.destroy();
    if (isOpen) return;
    if (performance.now() > deadline) throw new Error('nats-server did not come up');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
