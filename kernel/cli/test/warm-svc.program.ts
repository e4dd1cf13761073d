/**
 * The command line in a process that stays: it runs one command after another, each with an environment, a folder and streams of
 * its own. Whoever forks it imports its path from here, so that it is built with the tests of any package.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { runProgram } from '../src/program.js';

export const WARM_PROGRAM = fileURLToPath(import.meta.url);

export interface WarmTask {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: string;
  readonly distDir: string;
}

export interface WarmAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As it was built, with the commands of areas beside it: they share what they load, and main.js names the file. */
const load = async (distDir: string): Promise<typeof runProgram> => {
  const main = path.join(distDir, 'cli/main.js');
  const [, name = ''] = /import\("(\.\/program-[\w-]+\.js)"\)/.exec(readFileSync(main, 'utf8')) ?? [];
  if (name === '') throw new Error(`${main} names no program`);
  const built = (await import(pathToFileURL(path.join(path.dirname(main), name)).href)) as { runProgram: typeof runProgram };
  return built.runProgram;
};

const put = (name: 'stdin' | 'stdout' | 'stderr' | 'env' | 'exit', value: unknown): void => {
  Object.defineProperty(process, name, { value, configurable: true, writable: true });
};

/** A pipe whose other end is read to its end. */
const pipe = (): { readonly stream: Writable; text(): string } => {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString('utf8') };
};

const run = async ({ args, env, cwd, stdin, distDir }: WarmTask): Promise<WarmAnswer> => {
  const runBuilt = await load(distDir);
  const [out, err] = [pipe(), pipe()];
  process.chdir(cwd);
  put('env', { ...env });
  put('stdin', Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]));
  put('stdout', out.stream);
  put('stderr', err.stream);
  const code = await new Promise<number>((resolve, reject) => {
    // Whoever leaves at once goes no further: what it waits for then never comes.
    put('exit', (given?: number) => {
      resolve(given ?? 0);
      throw new Error('the command has left');
    });
    runBuilt(args, distDir).then(resolve, reject);
  });
  process.removeAllListeners('SIGINT');
  return { code, stdout: out.text(), stderr: err.text() };
};

const leave = process.exit.bind(process);
if (process.argv[1] === WARM_PROGRAM) {
  process.on('disconnect', () => leave(0));
  process.on('message', (task: WarmTask) => {
    void run(task).then((answer) => process.send?.(answer));
  });
}
