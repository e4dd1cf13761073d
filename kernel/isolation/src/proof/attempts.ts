/**
 * What is tried to see how far an isolation keeps. Each is the body of an async function that gets `require`, `process` and
 * `scene`, and returns what it got; nothing, or an error, is what should come of it.
 */

export interface Attempt {
  /** What it would be able to do. */
  readonly what: string;
  readonly code: string;
  /** Only walls of the operating system keep this surely: without them it is closed in plain sight, which is not the same. */
  readonly needsWall?: boolean;
}

export interface ProofScene {
  /** A file of the daemon's user that is not the extension's. */
  readonly file: string;
  /** A folder where the daemon's user may write. */
  readonly folder: string;
  readonly pid: number;
  /** Of a server on this machine. */
  readonly port: number;
}

export const ATTEMPTS: readonly Attempt[] = [
  { what: 'read a file of yours', code: `return require('node:fs').readFileSync(scene.file, 'utf8')` },
  { what: 'read a file of the system', code: `return require('node:fs').readFileSync('/etc/passwd', 'utf8')` },
  { what: 'see whether a file is there', code: `return require('node:fs').statSync(scene.file).size` },
  { what: 'write a file', code: `require('node:fs').writeFileSync(scene.folder + '/proof', 'x'); return 'written'` },
  { what: 'start a program', code: `return require('node:child_process').execSync('id').toString()` },
  { what: 'start a thread', code: `const { Worker } = require('node:worker_threads'); new Worker('1', { eval: true }); return 'started'` },
  { what: 'load native code', code: `const module = { exports: {} }; process.dlopen(module, scene.folder + '/proof.node'); return 'loaded'` },
  { what: 'load modules that it may not have', code: `return (await (0, eval)("import('node:child_process')")).execSync('id').toString()` },
  { what: 'signal the daemon', code: `process.kill(scene.pid, 0); return 'alive'`, needsWall: true },
  { what: "open the daemon's inspector", code: `process._debugProcess(scene.pid); return 'opened'`, needsWall: true },
  { what: "see the daemon's environment", code: `return Object.keys(process.env).join() || undefined` },
  { what: 'open a connection', code: `return await new Promise((ok, no) => require('node:net').connect(scene.port, '127.0.0.1', () => ok('connected')).on('error', no))`, needsWall: true },
  { what: 'ask for the address of a name', code: `return (await require('node:dns/promises').lookup('localhost')).address`, needsWall: true },
];
