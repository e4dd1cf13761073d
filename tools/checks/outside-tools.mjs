/** The formatter, the linter, the type checker and what is made from types, each run once; their answers in the form of our own checks. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fromRoot, inRoot, ROOT } from '../build/paths.mjs';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const run = (program, args) =>
  new Promise((resolve) => {
    execFile(process.execPath, [inRoot(program), ...args], { cwd: ROOT, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr }));
  });

/** A tool that fails without naming a place must not pass for a clean tree. */
const unexplained = (tool, { code, stdout, stderr }, findings) =>
  code !== 0 && findings.length === 0 ? [{ file: tool, line: 1, rule: tool, message: `ended with ${code}: ${(stderr || stdout).trim().split('\n').slice(-3).join(' ')}` }] : findings;

const fromBiome = ({ category, message, location }) => {
  const isFormat = category === 'format';
  return {
    file: location?.path ?? 'biome.json',
    line: location?.start?.line || 1,
    rule: category?.replace(/^lint\//, '') ?? 'biome',
    message: isFormat ? 'is not formatted; run `npm run lint -- --fix`' : message,
  };
};

export const runBiome = async ({ fix }) => {
  const result = await run('node_modules/@biomejs/biome/bin/biome', ['check', '--reporter=json', '--max-diagnostics=none', '--error-on-warnings', ...(fix ? ['--write'] : []), '.']);
  const start = result.stdout.indexOf('{');
  const findings = start < 0 ? [] : JSON.parse(result.stdout.slice(start)).diagnostics.map(fromBiome);
  return unexplained('biome', result, findings);
};

const TYPE_ERROR = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/gm;

/** One of the three projects: kernel, extensions, test. */
export const runTypes = async (project) => {
  const result = await run('node_modules/typescript/bin/tsc', ['-p', project, '--pretty', 'false']);
  const findings = [...result.stdout.matchAll(TYPE_ERROR)].map(([, file, line, rule, message]) => ({ file: fromRoot(path.resolve(ROOT, file)), line: Number(line), rule, message }));
  return unexplained('tsc', result, findings);
};

/** The page of the API is made from its types, which takes a program of its own. */
export const runApiPage = async () => {
  const { code, stderr } = await run('tools/api-page.mjs', ['--check']);
  if (code === 0) return [];
  return [{ file: 'kernel/api/REFERENCE.md', line: 1, rule: 'generated', message: stderr.trim() || 'is stale; run `node tools/api-page.mjs` and commit what it writes' }];
};
