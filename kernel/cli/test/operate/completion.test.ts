/** `svc completion`: each script, sourced by the shell it is for. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { type FakeDaemon, startFakeDaemon } from '../fake-daemon.js';
import { type Bench, createBench, MAIN, commandNames } from '../program.js';

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** Where Tab is pressed, and what has to be offered there; `!` is what must not be. */
const PLACES: ReadonlyArray<readonly [words: readonly string[], offered: readonly string[]]> = [
  [[''], commandNames()],
  [['ag'], ['agent', '!chat']],
  [
    ['agent', ''],
    ['list', 'new', 'apply', 'edit', 'kill'],
  ],
  [
    ['agent', 'k'],
    ['kill', '!list'],
  ],
  [['--home', '/tmp', 'agent', 'k'], ['kill']],
  [
    ['agent', 'apply', '--d'],
    ['--dry-run', '!--json'],
  ],
  [['agent', 'list', '--j'], ['--json']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [
    ['chat', ''],
    ['assistant', 'helper'],
  ],
  [
    ['agent', 'kill', 'assistant', 'h'],
    ['helper', '!assistant'],
  ],
  [
    ['sessions', 'search', 'x', '--agent', ''],
    ['assistant', 'helper'],
  ],
];

describe('svc completion', function () {
  this.timeout(60_000);
  let bench: Bench;
  let daemon: FakeDaemon;
  let env: NodeJS.ProcessEnv;
  const script = async (shell: string): Promise<string> => {
    const { stdout } = await bench.run(['completion', shell]);
    const at = path.join(bench.home, `svc.${shell}`);
    writeFileSync(at, stdout);
    return at;
  };

  before(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    const bin = path.join(bench.home, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(path.join(bin, 'svc'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, { mode: 0o755 });
    env = { ...bench.env, PATH: `${bin}:${process.env.PATH}` };
  });
  after(async () => {
    bench.clean();
    await daemon.close();
  });

  const validate = (found: readonly string[], offered: readonly string[], where: string): void => {
    for (const word of offered) {
      if (word.startsWith('!')) expect(found, where).to.not.include(word.slice(1));
      else expect(found, where).to.include(word);
    }
  };

  it('offers in bash what there is at each place', async () => {
    const at = await script('bash');
    for (const [words, offered] of PLACES) {
      const all = ['svc', ...words].map((word) => `'${word}'`).join(' ');
      const run = `source "${at}"; COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
      // The daemon of this test answers in this process.
      validate((await shell('bash', ['--norc', '-c', run])).split('\n'), offered, words.join(' '));
    }
    expect(await shell('bash', ['--norc', '-c', `source "${at}"; complete -p svc`])).to.contain('_svc svc');
  });

  const shell = async (program: string, args: readonly string[]): Promise<string> => {
    const { execFile } = await import('node:child_process');
    return new Promise((resolve, reject) => {
      execFile(program, args, { env, cwd: bench.home }, (error, stdout, stderr) => (error === null ? resolve(stdout) : reject(new Error(stderr || error.message))));
    });
  };

  it('offers in fish what there is at each place', async function () {
    if (!isThere('fish')) return this.skip();
    const at = await script('fish');
    for (const [words, offered] of PLACES) {
      const line = ['svc', ...words].join(' ');
      validate(
        (await shell('fish', ['--no-config', '-c', `source "${at}"; complete -C '${line}'`])).split('\n').map((one) => one.split('\t')[0] ?? ''),
        offered,
        line,
      );
    }
  });

  it('offers in PowerShell what there is at each place', async function () {
    const script = (await bench.run(['completion', 'powershell'])).stdout;
    for (const word of ["'agent' = @{ words = @('list'", 'Register-ArgumentCompleter -Native -CommandName svc']) expect(script).to.contain(word);
    if (spawnSync('pwsh', ['-NoProfile', '-Command', 'exit 0']).status !== 0) {
      Object.assign(this.test ?? {}, { skipReason: 'no PowerShell here: the script was only read' });
      return this.skip();
    }
    const run = `${script}\n(TabExpansion2 'svc agent k' 11).CompletionMatches.CompletionText`;
    expect(execFileSync('pwsh', ['-NoProfile', '-Command', run], { encoding: 'utf8' }).split('\n')).to.include('kill');
  });

  it('is taken by zsh, and offers there the commands and the names of agents', async function () {
    if (!isThere('zsh')) return this.skip();
    const at = await script('zsh');
    for (const [words, offered] of PLACES) {
      const all = ['svc', ...words].map((word) => `'${word}'`).join(' ');
      // What zsh would draw is caught where it is handed over.
      const run = `autoload -Uz compinit; compdef() { :; }; _describe() { local -a list; list=("\${(@P)2}"); local one; for one in $list; do print -r -- "\${\${one%%:*}//\\\\/}"; done }; compadd() { print -rl -- "\${(@P)argv[-1]}"; }; _files() { :; }; source "${at}"; words=(${all}); CURRENT=${words.length + 1}; _svc`;
      const found = (await shell('zsh', ['-f', '-c', run])).split('\n');
      const typed = words.at(-1) ?? '';
      // zsh itself leaves out what does not begin as it was typed.
      validate(
        found.filter((word) => word.startsWith(typed)),
        offered,
        words.join(' '),
      );
    }
  });

  it('names no agents, and no error, where no daemon runs', async () => {
    const alone = createBench(9);
    try {
      expect(await alone.run(['completion', 'agents'])).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    } finally {
      alone.clean();
    }
  });

  it('knows every command of the table, and refuses other shells', async () => {
    const { script: text } = JSON.parse((await bench.run(['completion', 'bash', '--json'])).stdout) as { script: string };
    for (const name of commandNames()) expect(text).to.contain(`'${name}') `);
    expect(await bench.run(['completion', 'tcsh'])).to.satisfy(({ code, stderr }: { code: number; stderr: string }) => code === 2 && stderr.includes('bash, zsh, fish or powershell'));
    execFileSync('bash', ['-n', await script('bash')]);
  });
});
