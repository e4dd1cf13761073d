/** `svc ext test`: mocha, as @svc/testing brings it, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { authorErrors, placeOf } from '@svc/installer/author';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { authored, builtLine, builtOf, folderOf } from './authored.js';

/** A claim boots a daemon, and a machine may be busy. */
const CLAIM_MS = '30000';

export const test = async (cli: Cli, folder: string, { grep }: { grep?: string }): Outcome => {
  const dir = folderOf(folder);
  const built = await builtOf(dir);
  if (!cli.json) cli.out.line(builtLine(cli, built));
  const { mocha, contract } = await authored(async () => runnerOf(dir));
  const files = [contract, ...ownTests(dir)];
  const args = [...process.execArgv, '--expose-gc', mocha, '--exit', '--timeout', CLAIM_MS, ...(cli.json ? ['--reporter', 'json'] : []), ...(grep === undefined ? [] : ['--grep', grep]), ...files];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  return code === 0 ? EXIT.ok : EXIT.failed;
};

const runnerOf = (dir: string): { mocha: string; contract: string } => {
  const contract = placeOf(createRequire(path.join(dir, 'package.json')), '@svc/testing/contract');
  if (contract === undefined) throw authorErrors.no_testing(dir);
  return { contract, mocha: createRequire(contract).resolve('mocha/bin/mocha.js') };
};

const ownTests = (dir: string): string[] => {
  const folder = path.join(dir, 'test');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.test\.(mjs|cjs|js)$/.test(name))
    .sort()
    .map((name) => path.join(folder, name));
};
