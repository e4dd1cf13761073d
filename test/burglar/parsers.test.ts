/** Texts that people send, made to be slow to read: no route keeps the daemon from answering others while it reads one. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

/** Far above what each takes on a busy machine, and far below what the worst took before. */
const GENEROUS_MS = 1_000;
const MB = 1_048_576;

const lines = (bytes: number, one: (n: number) => string): string => {
  const all: string[] = [];
  for (let size = 0, n = 0; size < bytes; n++) {
    const line = one(n);
    all.push(line);
    size += line.length + 1;
  }
  return all.join('\n');
};

/** The processor time that the loop was away for at once, at most, while `work` went on. */
const longestBlock = async (work: () => Promise<unknown>): Promise<number> => {
  let longest = 0;
  let cpu = process.cpuUsage();
  let at = performance.now();
  const look = (): void => {
    const used = process.cpuUsage(cpu);
    longest = Math.max(longest, Math.min(performance.now() - at, (used.user + used.system) / 1_000));
    cpu = process.cpuUsage();
    at = performance.now();
  };
  const timer = setInterval(look, 2);
  try {
    await work();
  } finally {
    clearInterval(timer);
    look();
  }
  return longest;
};

const HEAD = 'name = "slow"\n[model]\nprovider = "default"\nmodel = "default"\n';

/** Each begins as a manifest does; about a megabyte. */
const manifests: Record<string, string> = {
  'a hundred thousand keys': HEAD + lines(MB - 200, (n) => `k${n} = 1`),
  'fifty thousand tables': HEAD + lines(MB - 200, (n) => `[t${n}]`),
  'tables in a list': HEAD + lines(MB - 200, () => '[[t]]'),
  'a list of half a million': `${HEAD}tags = [${'1,'.repeat(520_000)}]`,
  'a list of lists': `${HEAD}tags = [${'[],'.repeat(340_000)}]`,
  'deep lists': `${HEAD}tags = ${'['.repeat(500_000)}`,
  'deep tables': `${HEAD}tags = ${'{a='.repeat(300_000)}`,
  'keys of many parts': HEAD + lines(MB - 200, (n) => `a${'.b'.repeat(60)}.k${n} = 1`),
  'a key of half a megabyte': `${HEAD}${'k'.repeat(500_000)} = 1`,
  'one long text': `${HEAD}system_prompt = """${'The quick brown fox. '.repeat(49_000)}"""`,
  'escapes alone': `${HEAD}system_prompt = "${'\\n'.repeat(500_000)}"`,
  'comments alone': HEAD + '# x\n'.repeat(250_000),
};

const patchOf = (hunks: number): string => `*** Begin Patch\n*** Update File: a.txt\n${'@@\n-x\n+y\n'.repeat(hunks)}*** End Patch`;

describe('a text that is slow to read', function () {
  this.timeout(120_000);
  let kernel: TestKernel;
  const rows: Array<readonly [what: string, ms: number]> = [];
  const send = async (what: string, method: string, path: string, body: unknown): Promise<number> => {
    let status = 0;
    const ms = await longestBlock(async () => {
      status = (await kernel.http.send(method, path, body)).status;
    });
    rows.push([what, ms]);
    return status;
  };
  before(async () => {
    kernel = await bootTestKernel({ config: OPEN_RATE });
    await send('warm', 'POST', '/api/agents/check', { manifest_toml: HEAD });
    rows.length = 0;
  });
  after(async () => {
    if (process.env.SVC_TIMES) for (const [what, ms] of rows.toSorted(([, a], [, b]) => b - a)) console.log(`      ${ms.toFixed(0).padStart(5)} ms  ${what}`);
    await stopTestKernels();
  });

  for (const [what, text] of Object.entries(manifests)) {
    it(`is answered at once as a manifest: ${what}`, async () => {
      for (const path of ['/api/agents/check', '/api/agents']) {
        const status = await send(`${path}: ${what}`, 'POST', path, { manifest_toml: text });
        expect(status).to.be.oneOf([200, 201, 400, 413, 422]);
        expect(rows.at(-1)?.[1]).to.be.lessThan(GENEROUS_MS);
      }
    });
  }

  const values = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  const bodies: Record<string, readonly [method: string, path: string, body: unknown]> = {
    'a manifest as JSON with a hundred thousand keys': ['POST', '/api/agents', { manifest: { name: 'slow', metadata: Object.fromEntries(values(60_000).map((n) => [`k${n}`, n])) } }],
    'a manifest as JSON with a long list': ['POST', '/api/agents', { manifest: { name: 'slow', tags: values(150_000) } }],
    'many manifests at once': ['POST', '/api/agents/bulk', { agents: values(50).map((n) => ({ manifest_toml: `${HEAD.replace('slow', `slow${n}`)}${lines(60_000, (k) => `x${k} = 1`)}` })) }],
    'a setting that is a long list': ['POST', '/api/config/set', { path: 'api.cors_origins', value: values(50_000).map((n) => `https://x${n}.example`) }],
    'a message of brackets': ['POST', '/api/agents/assistant/message', { message: '['.repeat(200_000) }],
    'a message of stars': ['POST', '/api/agents/assistant/message', { message: '*_'.repeat(100_000) }],
    'a chat of many messages': ['POST', '/v1/chat/completions', { model: 'svc:assistant', messages: values(20_000).map((n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: `m${n}` })) }],
    'a patch of many hunks': ['POST', '/api/tools/apply_patch/invoke', { input: { patch: patchOf(60_000) } }],
    'a text of many lines for one edit': ['POST', '/api/tools/file_write/invoke', { input: { path: 'a.txt', content: 'x\n'.repeat(400_000) } }],
    'an identity file': ['PUT', '/api/agents/assistant/files/notes.md', { content: '#'.repeat(200_000) }],
    'a custom model with long lists': ['POST', '/api/models/custom', { id: 'x', provider: 'openai', tags: values(50_000) }],
  };
  for (const [what, [method, path, body]] of Object.entries(bodies)) {
    it(`is answered at once: ${what}`, async () => {
      expect(await send(`${path}: ${what}`, method, path, body)).to.be.lessThan(500);
      expect(rows.at(-1)?.[1]).to.be.lessThan(GENEROUS_MS);
    });
  }
});
