/** Words that people bring from other programs, typed as the reference lists them; near names for misspelt ones. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CommandSynonym } from '@svc/api';
import { expect } from 'chai';
import { OWN_SYNONYMS } from '../src/words/synonyms.js';
import { type Bench, createBench, commandNames, type Ran, ROOT } from './program.js';
import { runWarm } from './warm-svc.js';

interface Row {
  readonly typed: string;
  readonly here: string;
  readonly how: string;
}

const codes = (cell: string): string[] => [...cell.matchAll(/`(?:svc )?([^`]+)`/g)].map(([, text = '']) => text);

const rows = (): Row[] => {
  const [, table = ''] = readFileSync(path.join(ROOT, 'kernel/cli/reference/coming-from.md'), 'utf8').split('## Commands');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const [, typed = '', here = '', how = ''] = line.split('|').map((cell) => cell.trim());
      return codes(typed).map((one) => ({ typed: one, here: codes(here)[0] ?? one, how }));
    });
};

describe('words of other programs', function () {
  this.timeout(60_000);
  let bench: Bench;
  before(() => {
    bench = createBench(9);
  });
  after(() => bench.clean());

  /** Hundreds of them, so in one process. */
  const run = (args: readonly string[]): Promise<Ran> => runWarm({ args, env: bench.env, cwd: path.dirname(bench.home), stdin: '', distDir: path.join(ROOT, 'dist') });
  const usageOf = async (words: string): Promise<string> => {
    const { code, stdout } = await run([...words.split(' '), '--help']);
    return code === 0 ? (stdout.split('\n')[0] ?? '') : '';
  };
  const failureOf = async (words: string): Promise<{ code: string; fix: string; exit_code: number; error: string }> => JSON.parse((await run([...words.split(' '), '--json'])).stdout);
  const plain = (fix: string): string => fix.replace(/^npx /, '');

  for (const { here, how, typed } of rows())
    it(`\`svc ${typed}\`: ${how} ${here === typed ? '' : `svc ${here}`}`.trimEnd(), async () => {
      if (how === 'the same' || how === 'runs') expect(await usageOf(typed)).to.match(new RegExp(`^Usage: svc ${here}\\b`));
      else if (how === 'hint') expect(plain((await failureOf(typed)).fix)).to.equal(`svc ${here}`);
      else {
        const failure = await failureOf(typed);
        expect([failure.code, failure.exit_code, how]).to.deep.equal(['cli_not_served', 2, 'not yet']);
        expect(failure.error).to.match(/: not part of svc yet\.$/);
      }
    });

  it('lead to commands that are there, whoever declares them', async () => {
    const { words } = JSON.parse(readFileSync(path.join(ROOT, 'dist/commands.json'), 'utf8')) as { words: ReadonlyArray<{ synonyms?: readonly CommandSynonym[] }> }; // written by the build
    const all = [...Object.values(OWN_SYNONYMS), ...words.flatMap(({ synonyms = [] }) => synonyms)];
    const meant = new Set(
      all
        .map(({ means }) =>
          means
            .split(' ')
            .filter((word) => /^[a-z][a-z-]*$/.test(word))
            .join(' '),
        )
        .filter((words) => words !== ''),
    );
    for (const words of meant) expect(await usageOf(words), words).to.match(new RegExp(`^Usage: svc ${words}\\b`));
  });

  it('with arguments, as they were typed, and alone where more words mean another command', async () => {
    const kill = await failureOf('kill nobody --yes');
    expect([kill.code, kill.exit_code]).to.deep.equal(['cli_daemon_not_running', 3]);
    expect((await failureOf('--port 9 gateway status')).code).to.equal('cli_daemon_not_running');
    expect((await failureOf('sessions')).code).to.equal('cli_daemon_not_running');
    expect(await usageOf('sessions')).to.match(/^Usage: svc sessions \[/);
  });

  for (const [typed, fix] of [
    ['foo', 'svc --help'],
    ['versons', 'svc --help'],
    ['statsu', 'svc status'],
    ['agnets', 'svc agent'],
    ['agent lits', 'svc agent list'],
    ['vault rotatekey', 'svc vault rotate-key'],
    ['vault qqq', 'svc vault --help'],
    ['uninstal', 'svc uninstall'],
  ] as const)
    it(`\`svc ${typed}\`, which is no word, is answered with ${fix}`, async () => {
      const failure = await failureOf(typed);
      expect([failure.exit_code, plain(failure.fix)]).to.deep.equal([2, fix]);
    });

  for (const [key, near] of [
    ['log.levle', 'log.level'],
    ['levle', 'log.level'],
    ['zzzz.qqqq', undefined],
  ] as const)
    it(`a setting ${key} is answered with ${near ?? 'no other'}`, async () => {
      const { code, stderr } = await run(['config', 'get', key]);
      expect(code).to.not.equal(0);
      if (near === undefined) expect(stderr).to.not.contain('Did you mean');
      else expect(stderr).to.contain(near);
    });

  it('a key that lost its section fails `svc config check`, with the section that has it', async () => {
    mkdirSync(bench.home, { recursive: true });
    writeFileSync(path.join(bench.home, 'config.toml'), 'levle = "debug"\n');
    const { code, stdout } = await run(['config', 'check']);
    expect(code).to.equal(1);
    expect(stdout).to.contain('config.toml:1: levle is not a setting. Did you mean "level" in [log]?');
  });

  it('name no command twice', () => {
    const names = commandNames();
    expect(names).to.have.length(new Set(names).size);
  });
});
