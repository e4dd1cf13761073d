/**
 * Puts clients of others through their basic flows against a booted daemon, and writes what came of it into README.md.
 * They are heavy, so they are installed into a temporary folder, and this is run by hand: node test/clients/foreign/run.mjs
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const exec = promisify(execFile);
const FLOWS = ['chat', 'stream', 'history', 'image', 'error', 'abort'];
/** What the newest of these clients ask for; where this runs on an older one they get one of their own. */
const NODE = 22;
const FLOW_MS = 120_000;

const CLIENTS = [
  { name: 'openai (npm)', package: 'openai', script: 'openai.mjs' },
  { name: 'LangChain', package: '@langchain/openai', script: 'langchain.mjs' },
  { name: 'Vercel AI SDK', package: 'ai', script: 'ai-sdk.mjs' },
  {
    name: 'LlamaIndex',
    package: '@llamaindex/openai',
    script: 'llamaindex.mjs',
    known: { abort: 'leaving its loop does not end its request, and chat() takes no signal: the daemon never hears that it left' },
  },
];

const folder = await mkdtemp(join(tmpdir(), 'svc-foreign-'));
try {
  await exec('npm', ['run', 'build', '--', '--tests'], { cwd: root });
  await cp(join(here, 'flows'), folder, { recursive: true });
  await cp(join(here, 'package.json'), join(folder, 'package.json'));
  await exec('npm', ['install', '--no-audit', '--no-fund', '--omit=dev'], { cwd: folder, maxBuffer: 1e8 });
  const node = await nodeOf();
  const rows = [];
  for (const client of CLIENTS) rows.push({ name: client.name, known: client.known, version: await versionOf(client.package), results: await through(node, [join(folder, client.script)]) });
  rows.push(await python());
  await write(tableOf(rows), (await exec(node, ['--version'])).stdout.trim());
  process.exitCode = rows.every(({ results, known }) => FLOWS.every((flow) => results.get(flow)?.ok || known?.[flow])) ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function nodeOf() {
  if (Number(process.versions.node.split('.')[0]) >= NODE) return process.execPath;
  const platform = `node-${process.platform}-${process.arch}`;
  await exec('npm', ['install', '--no-save', '--no-audit', '--no-fund', `${platform}@${NODE}`], { cwd: folder });
  return join(folder, 'node_modules', platform, 'bin/node');
}

async function versionOf(name) {
  return JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

async function python() {
  const name = 'openai (Python)';
  try {
    await exec('python3', ['-m', 'venv', join(folder, 'venv')]);
    const bin = join(folder, 'venv/bin/python');
    await exec(bin, ['-m', 'pip', 'install', '--quiet', 'openai'], { maxBuffer: 1e8 });
    const { stdout } = await exec(bin, ['-c', 'import openai; print(openai.__version__)']);
    return { name, version: stdout.trim(), results: await through(bin, [join(folder, 'openai_python.py')]) };
  } catch (error) {
    return { name, version: 'not installed', results: new Map([['chat', { ok: false, why: String(error.message).split('\n')[0] }]]) };
  }
}

/** Each client has a daemon of its own. */
async function through(command, args) {
  const server = spawn(process.execPath, [join(root, 'dist/test/test/clients/foreign/server.program.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [url] = await new Promise((resolve) => createInterface(server.stdout).once('line', (line) => resolve([line])));
  const results = new Map();
  try {
    const client = spawn(command, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, SVC_URL: url }, stdio: ['ignore', 'pipe', 'pipe'], timeout: FLOW_MS });
    let reported = '';
    client.stderr.on('data', (piece) => {
      reported = `${reported}${piece}`.slice(-2_000);
    });
    const ended = new Promise((resolve) => client.once('exit', resolve));
    for await (const line of createInterface(client.stdout)) {
      if (!line.startsWith('{"flow"')) continue;
      const { flow, ...result } = JSON.parse(line);
      results.set(flow, result);
    }
    const code = await ended;
    for (const flow of FLOWS) if (!results.has(flow)) results.set(flow, { ok: false, why: `it ended with ${code}: ${reported.trim().split('\n').at(-1) ?? ''}` });
  } finally {
    server.stdin.end();
    await new Promise((resolve) => server.once('exit', resolve));
  }
  return results;
}

function tableOf(rows) {
  const lines = [`| client | version | ${FLOWS.join(' | ')} |`, `|---|---|${FLOWS.map(() => '---|').join('')}`];
  const notes = [];
  for (const { name, version, results, known } of rows) {
    const cells = FLOWS.map((flow) => {
      const result = results.get(flow);
      if (result?.ok) return 'ok';
      notes.push(`- ${name}, ${flow}: ${known?.[flow] ?? result?.why ?? 'not run'}`);
      return `**no** (${notes.length})`;
    });
    lines.push(`| ${name} | ${version} | ${cells.join(' | ')} |`);
  }
  return [...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

async function write(table, node) {
  const file = join(here, 'README.md');
  const text = await readFile(file, 'utf8');
  const [begin, end] = ['<!-- table -->', '<!-- end of table -->'];
  const at = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  const day = new Date().toISOString().slice(0, 10);
  await writeFile(file, `${text.slice(0, at[0])}\n${table}\n\nOn ${day}, with Node.js ${node}.\n${text.slice(at[1])}`);
  process.stdout.write(`${table}\n`);
}
