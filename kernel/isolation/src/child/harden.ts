/**
 * Takes away what Node's permission model leaves to code in this process: signals to other processes, bindings, and the
 * ways to a network that are in plain sight.
 *
 * H1  No signal leaves this process: it could end the daemon, or open its inspector.
 * H2  Bindings, addons and the list of open handles (the channel is one of them) are not there.
 * H3  What Node's model does not validate of the file system is refused here.
 * H4  fetch, WebSocket and EventSource are not there, nor the modules that open sockets (load.ts). Without a wall around the
 *     process this is hygiene: code that tries may still find a socket.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { isolationErrors } from '../errors.js';

const PROCESS_MEMBERS = [
  ...['kill', '_kill', '_debugProcess', '_debugEnd', '_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', 'abort', 'chdir', 'umask'],
  ...['binding', '_linkedBinding', 'dlopen', 'getBuiltinModule', 'reallyExit', '_rawDebug', 'openStdin'],
  ...['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups'],
  ...['_getActiveHandles', '_getActiveRequests', 'getActiveResourcesInfo', 'mainModule', 'channel', 'send', 'disconnect', 'report', 'setUncaughtExceptionCaptureCallback'],
];
const GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'WebAssembly'];

/** Before a line of the extension runs. */
export const harden = (): void => {
  for (const name of PROCESS_MEMBERS) replace(process, name, () => refuse(`process.${name}`));
  // Sockets of this process lead to a class that opens others.
  for (const name of ['stdin', 'stdout', 'stderr']) replace(process, name, undefined);
  // Node validates no path that these are asked for: they would tell what there is on this machine.
  for (const target of [fs, fs.promises]) for (const name of ['realpath', 'realpathSync']) replace(target, name, () => refuse(`fs.${name}`));
  replace(os, 'setPriority', () => refuse('os.setPriority'));
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  process.env = {};
  process.argv = [];
  process.execArgv = [];
  syncBuiltinESMExports();
};

const replace = (target: object, name: string, value: unknown): void => {
  if (name in target) Object.defineProperty(target, name, { value, configurable: false, writable: false, enumerable: false });
};

const refuse = (name: string): never => {
  throw isolationErrors.require_refused(name);
};
