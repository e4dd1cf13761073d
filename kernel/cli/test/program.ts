/** Runs the built `svc` as a person or a script does. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { COMMANDS } from '../src/command-table.js';
import { runWarm } from './warm-svc.js';

export const ROOT = process.cwd();
export const MAIN = path.join(ROOT, 'dist/cli/main.js');

/** The first word of every command that comes with svc: its own, and those of areas. */
export const commandNames = (): string[] => {
  const { words } = JSON.parse(readFileSync(path.join(ROOT, 'dist/commands.json'), 'utf8')) as { words: ReadonlyArray<{ word: string }> }; // written by the build
  return [...Object.keys(COMMANDS), ...words.map(({ word }) => word)];
};

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Bench {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** To its end, with pipes instead of a terminal; with `node`, in a Node of these options. */
  run(args: readonly string[], options?: { stdin?: string; env?: Record<string, string>; node?: readonly string[] }): Promise<Ran>;
  /** Started, not awaited. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
  /** On a pseudo terminal of this many columns; answers with what the terminal saw. */
  onTerminal(args: readonly string[], columns: number): Promise<Ran>;
  /** Stops the daemon that a claim started and left; a claim without one pays for no `svc stop`. */
  stopStarted(): Promise<void>;
  clean(): void;
}

/** They take the short way through main.js, which a process of its own alone does: there each way of writing them is a command. */
const SHORT_WAY = new Set(['start', 'status', 'stop']);
const seen = new Set<string>();

/** Each command runs as a process of its own the first time, which ends by itself or not; from then on its claims are about what it does. */
const isKnown = (args: readonly string[]): boolean => {
  const words = args.filter((word) => !word.startsWith('-'));
  if (words[0] === undefined || args.includes('--foreground')) return false;
  const name = SHORT_WAY.has(words[0]) ? args.join(' ') : words.slice(0, 2).join(' ');
  if (seen.has(name)) return true;
  seen.add(name);
  return false;
};

/**
 * How this process was started, for commands that start a daemon: it works on. A command is over before V8 has optimized
 * anything, and options of V8 keep Node from using what it has compiled of itself.
 */
const STARTS_A_DAEMON = new Set(['start', 'init', 'update']);
export const optionsOf = (args: readonly string[]): readonly string[] => (args.some((word) => STARTS_A_DAEMON.has(word)) ? process.execArgv : []);

/** What a process reads once, when it starts. */
const AT_START = /^(NODE_|PATH$)/;

/** A home of its own, and nothing of the developer's environment that could change an answer. */
export const createBench = (port: number): Bench => {
  const home = mkdtempSync(path.join(tmpdir(), 'svc-cli-'));
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: home, TERM: 'xterm', SVC_HOME: path.join(home, 'svc'), SVC_PORT: String(port) };
  const start = (args: readonly string[], more: Record<string, string> = {}, node: readonly string[] = []): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [...optionsOf(args), ...node, MAIN, ...args], { env: { ...env, ...more }, cwd: home });
  const run: Bench['run'] = (args, options = {}) => {
    const isOfItsOwn = options.node !== undefined || Object.keys(options.env ?? {}).some((name) => AT_START.test(name));
    if (isKnown(args) && !isOfItsOwn) return runWarm({ args, env: { ...env, ...options.env }, cwd: home, stdin: options.stdin ?? '', distDir: path.join(ROOT, 'dist') });
    const child = start(args, options.env, options.node);
    child.stdin.end(options.stdin ?? '');
    return ended(child);
  };
  return {
    home: path.join(home, 'svc'),
    env,
    start: (args) => start(args),
    run,
    stopStarted: async () => {
      if (existsSync(path.join(home, 'svc/daemon.json'))) await run(['stop']);
    },
    onTerminal: (args, columns) =>
      new Promise((resolve) => {
        const command = [process.execPath, ...optionsOf(args), MAIN, ...args].map((part) => `'${part}'`).join(' ');
        execFile('script', ['-qec', `stty cols ${columns}; ${command}`, '/dev/null'], { env }, (error, stdout) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout: stdout.replaceAll('\r\n', '\n'), stderr: '' }),
        );
      }),
    clean: () => rmSync(home, { recursive: true, force: true }),
  };
};

export const ended = (child: ChildProcessWithoutNullStreams): Promise<Ran> =>
  new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with the escape character
export const plain = (text: string): string => text.replace(/\u001b\[[0-9;]*m/g, '');
