/** `svc tool` and `svc files` with the real daemon. */
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, type Ran } from '../program.js';

describe('svc tool and files with the real daemon', function () {
  this.timeout(60_000);
  let bench: Bench;
  before(async () => {
    bench = createBench(await freePort());
    await bench.run(['start']);
  });
  after(async () => {
    await bench.run(['stop']);
    bench.clean();
  });

  const local = (name: string, text?: string | Uint8Array): string => {
    const at = path.join(bench.home, name);
    if (text !== undefined) writeFileSync(at, text);
    return at;
  };

  describe('tool', () => {
    const tool = (args: readonly string[], stdin?: string): Promise<Ran> => bench.run(['tool', ...args], stdin === undefined ? {} : { stdin });

    it('list shows every tool, and those that an agent is left', async () => {
      expect((await tool(['list'])).stdout)
        .to.match(/^TOOL +RISK +FROM +WHAT\n/)
        .and.match(/^shell_exec +exec +builtin +Runs a command/m);
      await bench.run(['agent', 'new', 'coder', '--template', 'coder']);
      const { tools } = JSON.parse((await tool(['list', '--agent', 'coder', '--json'])).stdout) as { tools: Array<{ name: string }> };
      expect(tools.map(({ name }) => name)).to.deep.equal(['apply_patch', 'code_search', 'file_list', 'file_read', 'file_write', 'shell_exec']);
    });

    it('call that is switched off ends with 4 and says how to switch it on', async () => {
      const ran = await tool(['call', 'system_time']);
      expect(ran.code).to.equal(4);
      expect(ran.stderr).to.contain('svc config edit').and.contain('allowlist = ["system_time"]');
    });

    describe('that is switched on', () => {
      before(async () => {
        // What decides about access is written by a person.
        appendFileSync(path.join(bench.home, 'config.toml'), '\n[tool_invoke]\nenabled = true\nallowlist = ["file_*"]\n');
        expect((await bench.run(['config', 'reload'])).code).to.equal(0);
        // It is a signal: the daemon reads the file in its own time.
        while ((await tool(['call', 'file_list', '--agent', 'assistant'])).code === 4);
      });

      it('prints what it says; input is key=value, JSON, or JSON from stdin', async () => {
        const written = await tool(['call', 'file_write', 'path=n.txt', 'content=12', '--agent', 'assistant']);
        expect(written.stdout, written.stderr).to.contain('Wrote 2 bytes');
        for (const [args, stdin] of [[['path=n.txt', 'limit=1']], [['{"path": "n.txt"}']], [['-'], '{"path": "n.txt"}']] as const)
          expect(await tool(['call', 'file_read', ...args, '--agent', 'assistant'], stdin)).to.satisfy(({ code, stdout }: Ran) => code === 0 && stdout.startsWith('12\n'));
        expect(JSON.parse((await tool(['call', 'file_list', '--json', '--agent', 'assistant'])).stdout)).to.include({ tool_name: 'file_list', is_error: false });
      });

      it('ends with 1 where the tool failed', async () => {
        const ran = await tool(['call', 'file_read', 'path=nope', '--agent', 'assistant']);
        expect([ran.code, ran.stdout, ran.stderr.includes('no file "nope"')]).to.deep.equal([1, '', true]);
        const reported = await tool(['call', 'file_read', 'path=nope', '--agent', 'assistant', '--json']);
        expect([reported.code, (JSON.parse(reported.stdout) as { is_error: boolean }).is_error]).to.deep.equal([1, true]);
      });

      for (const [args, code, words] of [
        [['call', 'system_time'], 4, 'tool_invoke.allowlist'],
        [['call', 'fil_read'], 1, 'Did you mean file_read'],
        [['call', 'file_read', '[1]'], 2, 'The input is a list; an object was expected'],
        [['call', 'file_read', '{"a":'], 2, 'neither JSON nor key=value'],
        [['call', 'file_read', 'path=x', 'y'], 2, '"y" is not key=value'],
        [['call', 'file_read', 'path=x', '--agent', 'nobody'], 1, 'no agent "nobody"'],
        [['call', 'file_read', 'pth=x', '--agent', 'assistant'], 1, 'The arguments of file_read cannot be used'],
        [['list', '--agent', 'nobody'], 1, 'no agent "nobody"'],
      ] as const)
        it(`\`svc tool ${args.join(' ')}\` ends with ${code}`, async () => {
          const ran = await tool(args);
          expect(ran.code, ran.stdout).to.equal(code);
          expect(ran.stderr).to.contain(words);
        });
    });
  });

  describe('files', () => {
    const files = (args: readonly string[], stdin?: string): Promise<Ran> => bench.run(['files', ...args], stdin === undefined ? {} : { stdin });
    const BYTES = Uint8Array.from([0, 255, 10, 128, 27]);

    it('put and get bring the same bytes, text or not, by pipe or file', async () => {
      expect((await files(['put', 'assistant', local('b.bin', BYTES), 'deep/er/b.bin'])).stdout).to.equal('✓ deep/er/b.bin is written (5 bytes)\n');
      expect((await files(['get', 'assistant', 'deep/er/b.bin', '-o', local('back.bin')])).code).to.equal(0);
      expect([...readFileSync(local('back.bin'))]).to.deep.equal([...BYTES]);
      expect((await files(['put', 'assistant', '-', 'hi.txt'], 'grüezi\n')).code).to.equal(0);
      expect((await files(['get', 'assistant', 'hi.txt'])).stdout).to.equal('grüezi\n');
      expect((await files(['put', 'assistant', local('hi.txt', 'again')])).stdout).to.equal('✓ hi.txt is replaced (5 bytes)\n');
      expect(JSON.parse((await files(['get', 'assistant', 'deep/er/b.bin', '--json'])).stdout)).to.deep.equal({
        name: 'deep/er/b.bin',
        content: Buffer.from(BYTES).toString('base64'),
        encoding: 'base64',
        size_bytes: 5,
      });
    });

    it('list shows a folder, rm takes one file, and restore brings it back', async () => {
      expect((await files(['list', 'assistant', './deep/'])).stdout).to.match(/^FILE +SIZE +CHANGED\ndeep\/er\/b\.bin +5 bytes +just now\n$/);
      expect((await files(['list', 'assistant', 'dee'])).stdout).to.contain('nothing at dee');
      expect((await files(['rm', 'assistant', 'deep/er/b.bin'])).stdout).to.match(/^✓ deep\/er\/b\.bin is deleted; until \S+: .*svc.* files restore assistant [0-9a-f-]{36}\n$/);
      expect(JSON.parse((await files(['list', 'assistant', 'deep', '--json'])).stdout)).to.deep.equal({ files: [], total: 0, truncated: false });
      expect((await files(['list', 'assistant', '--deleted'])).stdout).to.match(/deep\/er\/b\.bin +5 bytes +just now +until/);
      expect((await files(['restore', 'assistant', 'nothing'])).code).to.equal(1);
      expect((await files(['restore', 'assistant', 'deep/er/b.bin'])).stdout).to.equal('✓ deep/er/b.bin is back (5 bytes)\n');
      expect((await files(['rm', 'assistant', 'deep/er/b.bin', '--erase'])).stdout).to.equal('✓ deep/er/b.bin is erased\n');
    });

    it('upload sends a file and gives its id', async () => {
      expect(JSON.parse((await files(['upload', 'assistant', local('up.md', '# Up'), '--json'])).stdout))
        .to.include({ filename: 'up.md', content_type: 'text/markdown', size: 4 })
        .and.include.keys('file_id');
      expect((await files(['upload', 'assistant', local('up.exe', BYTES)])).code).to.equal(1);
    });

    it('what is no text is not shown at a terminal', async () => {
      await files(['put', 'assistant', local('b.bin', BYTES)]);
      const ran = await bench.onTerminal(['files', 'get', 'assistant', 'b.bin'], 80);
      expect([ran.code, ran.stdout]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('is not text') && !text.includes('\u0000'));
    });

    it('a larger file is refused before it is read, and leads to upload', async () => {
      const big = local('big.bin', '');
      truncateSync(big, 3 * 1024 * 1024);
      const ran = await files(['put', 'assistant', big]);
      expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes(`svc files upload assistant ${big}`));
      expect((await files(['put', 'assistant', '-', 'x'], 'x'.repeat(1024 * 1024 + 1))).stderr).to.contain('too large');
    });

    it('a file that cannot be had leaves the one that is there', async () => {
      const at = local('keep.txt', 'mine');
      expect((await files(['get', 'assistant', 'nots.txt', '-o', at])).code).to.equal(1);
      expect([readFileSync(at, 'utf8'), readdirSync(bench.home).filter((name) => name.startsWith('keep.txt'))]).to.deep.equal(['mine', ['keep.txt']]);
    });

    for (const [args, code, words] of [
      [['get', 'assistant', 'nots.txt'], 1, 'svc files list assistant'],
      [['get', 'assistant', '../secret'], 4, 'leads out of the workspace'],
      [['rm', 'assistant', 'nots.txt'], 1, 'has no file "nots.txt"'],
      [['get', 'assistant', 'hi.txt', '-o', '/nowhere/x'], 1, 'cannot be written'],
      [['put', 'assistant', '/nowhere/x'], 1, 'There is no file /nowhere/x'],
      [['put', 'assistant', '-'], 2, 'has no name.'],
      [['upload', 'assistant', '/nowhere/x'], 1, 'There is no file /nowhere/x'],
      [['list', 'asistant'], 1, 'Did you mean "assistant"?'],
    ] as const)
      it(`\`svc files ${args.join(' ')}\` ends with ${code}`, async () => {
        const ran = await files(args);
        expect(ran.code, ran.stdout).to.equal(code);
        expect(ran.stderr).to.contain(words);
      });
  });
});
