/** What runs inside, before the command, where hosts are granted: it makes the socket of the proxy a port of the sandbox's own network. */
import { realpathSync } from 'node:fs';

/** Where the socket is seen inside. */
export const PROXY_SOCKET = '/tmp/.svc-proxy';
const PORT = 3128;
const ADDRESS = `http://127.0.0.1:${PORT}`;

/** What programs take a proxy from. */
export const PROXY_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, ADDRESS])),
  NO_PROXY: '',
  no_proxy: '',
  // Node from 24 on.
  NODE_USE_ENV_PROXY: '1',
};

/** It ends as the command ends; being told to end is for the command, which is told too. */
const TEXT = `
const net = require('net'), os = require('os'), { spawn } = require('child_process');
const [socket, port, program, ...args] = process.argv.slice(1);
const link = (from) => {
  const to = net.connect(socket);
  from.on('error', () => to.destroy()).on('close', () => to.destroy());
  to.on('error', () => from.destroy()).on('close', () => from.destroy());
  from.pipe(to).pipe(from);
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
net.createServer(link).listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => { process.stderr.write(error.message + '\\n'); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
});`;

/** Before the program and its arguments. */
export const forwarderWords = (): string[] => [realpathSync(process.execPath), '-e', TEXT, '--', PROXY_SOCKET, String(PORT)];
