/** A line to a daemon that can be cut: one address, whichever daemon stands behind it at the moment. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface RoughLine {
  readonly url: string;
  /** Where it leads from now on; undefined hangs up on whoever calls. */
  leadTo(url: string | undefined): void;
  /** From now on requests arrive, and answers are lost on the way. */
  mute(isMute: boolean): void;
  /** Ends all calls at the same time. */
  cut(): void;
  /** Calls so far. */
  calls(): number;
  close(): Promise<void>;
}

export const startRoughLine = async (url?: string): Promise<RoughLine> => {
  let target = url;
  let calls = 0;
  let isMute = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    calls++;
    sockets.add(near);
    near.on('close', () => sockets.delete(near));
    near.on('error', () => undefined);
    if (target === undefined) return void near.destroy();
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    sockets.add(far);
    far.on('close', () => sockets.delete(far));
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far);
    far.on('data', (bytes) => void (isMute || near.destroyed || near.write(bytes)));
    far.on('end', () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (next) => {
      target = next;
    },
    mute: (next) => {
      isMute = next;
    },
    cut,
    calls: () => calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
};
