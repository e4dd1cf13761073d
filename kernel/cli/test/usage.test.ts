/** How `svc` behaves when somebody tries words: help in every spelling, typing errors, and hints that can be typed as shown. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shippedWords } from '@svc/installer/shipped-words';
import { asTyped, commandName } from '@svc/platform/config/command-name';
import { expect } from 'chai';
import { type Bench, createBench, commandNames, ROOT } from './program.js';

const isCommand = shippedWords(path.join(ROOT, 'dist'));

describe('svc usage', () => {
  let bench: Bench;
  before(() => {
    bench = createBench(9);
  });
  after(() => bench.clean());

  for (const args of [['help'], ['--help'], ['-h'], []]) {
    it(`\`svc ${args.join(' ')}\` names every command and ends with 0`, async () => {
      const { code, stdout } = await bench.run(args);
      expect(code).to.equal(0);
      for (const name of commandNames()) expect(stdout).to.contain(`\n  ${name} `);
    });
  }

  it('groups commands by the hubs of the page, the daemon first', async () => {
    const groups = (await bench.run(['--help'])).stdout.split(/\n(?=[A-Z][a-z]+:\n)/).slice(2);
    const first = groups.map((group) => group.split('\n')).map(([heading = '', line = '']) => [heading, line.trim().split(/ {2,}/)[0]]);
    expect(first.slice(0, 9)).to.deep.equal([
      ...[
        ['Daemon:', 'start'],
        ['Chat:', 'chat'],
        ['Agents:', 'agent'],
        ['Automate:', 'workflows'],
        ['Knowledge:', 'files'],
        ['Connect:', 'mcp'],
      ],
      ...[
        ['Costs:', 'usage'],
        ['Safety:', 'approvals'],
        ['System:', 'cluster'],
      ],
    ]);
  });

  for (const args of [
    ['help', 'agent', 'kill'],
    ['agent', 'help', 'kill'],
    ['agent', 'kill', '--help'],
  ]) {
    it(`\`svc ${args.join(' ')}\` is the help of that subcommand`, async () => {
      const { code, stdout } = await bench.run(args);
      expect([code, stdout.split('\n')[0]]).to.deep.equal([0, 'Usage: svc agent kill|rm [options] <agents...>']);
    });
  }

  for (const flag of ['-V', '--version']) {
    it(`${flag} is the version alone`, async () => {
      const { code, stdout } = await bench.run([flag]);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    });
  }

  for (const [args, says, fix] of [
    [['-v'], "Unknown option '-v'.", 'svc --help'],
    [['agnt'], "Unknown command 'agnt'.", 'svc agent'],
    [['foo'], "Unknown command 'foo'.", 'svc --help'],
    [['versons'], "Unknown command 'versons'.", 'svc --help'],
    [['configure'], "Unknown command 'configure'.", 'svc config edit'],
    [['agent', 'foo'], "Unknown command 'foo'.", 'svc agent --help'],
    [['config', 'set-key', 'openai'], "Unknown command 'set-key'.", 'svc providers set-key PROVIDER'],
    [['vault', 'init'], "Unknown command 'init'.", 'svc vault set NAME'],
    [['models', 'connect', 'x'], "Unknown command 'connect'.", 'svc providers add NAME URL'],
    [['agent', 'lst'], "Unknown command 'lst'.", 'svc agent list'],
    [['help', 'nobody'], "Unknown command 'nobody'.", 'svc --help'],
    [['status', '--foo'], "Unknown option '--foo'.", 'svc status --help'],
    [['agent', 'spawn', 'x.toml', '--nam', 'y'], "Unknown option '--nam'. Did you mean --name?", 'svc agent spawn --help'],
  ] as const) {
    it(`\`svc ${args.join(' ')}\` ends with 2, says what is wrong and what to type`, async () => {
      const { code, stderr } = await bench.run(args);
      expect(code).to.equal(2);
      expect(stderr).to.contain(says);
      expect(stderr.replaceAll('npx svc', 'svc')).to.match(new RegExp(`fix   ${fix}\n`));
    });
  }

  it('an agent may be named help: only groups of subcommands have it', async () => {
    const { code, stderr } = await bench.run(['message', 'help', 'hello']);
    expect(code).to.equal(3);
    expect(stderr).to.contain('The daemon is not running.');
  });

  it('help wraps at words on a narrow terminal', async () => {
    const { stdout } = await bench.onTerminal(['help'], 40);
    const words = new Set(stdout.split(/\s+/));
    for (const word of ['interrupted', 'authorised', 'SVC_API_KEY,', 'background']) expect(words).to.include(word);
    for (const line of stdout.split('\n').slice(-8)) expect(line.length).to.be.at.most(40);
  });

  describe('hints', () => {
    it('say npx svc in a checkout, and svc where it can be typed', async () => {
      const installed = path.join(bench.home, 'bin');
      mkdirSync(installed, { recursive: true });
      writeFileSync(path.join(installed, 'svc'), '#!/bin/sh\n');
      chmodSync(path.join(installed, 'svc'), 0o755);
      const inCheckout = await bench.run(['status'], { env: { PATH: '/usr/bin' } });
      const withInstalled = await bench.run(['status'], { env: { PATH: `${installed}${path.delimiter}/usr/bin` } });
      expect(inCheckout.stderr).to.contain('fix   npx svc start');
      expect(withInstalled.stderr).to.contain('fix   svc start');
    });

    it('are not fooled by the folders that npx puts on PATH for one command', () => {
      const folder = path.join(bench.home, 'node_modules', '.bin');
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, 'svc'), '');
      expect(commandName({ PATH: folder })).to.equal('npx svc');
    });

    it('name what was called: npx, the file itself, or that of the checkout that npm start runs from', () => {
      const file = path.join(ROOT, 'kernel/cli/bin/svc.mjs');
      expect(commandName({ PATH: '/usr/bin', npm_command: 'exec' }, file)).to.equal('npx svc');
      expect(commandName({ PATH: '/usr/bin' }, file)).to.equal(file);
      expect(commandName({ PATH: '/usr/bin', npm_command: 'start' }, path.join(ROOT, 'tools/start.mjs'))).to.equal(file);
      expect(commandName({ PATH: '/usr/bin' }, "/home/o'hara/my tools/svc.mjs")).to.equal("'/home/o'\\''hara/my tools/svc.mjs'");
      const printed = spawnSync(process.execPath, [file, 'status'], { env: { PATH: '/usr/bin', SVC_HOME: bench.home, SVC_PORT: '1' }, encoding: 'utf8' });
      expect(printed.stderr).to.contain(`fix   ${file} start`);
    });

    it('change commands only: not a path, not a sentence, not a database', () => {
      const text = 'svc is running; see svc logs --lines 20, ~/svc start, my-svc stop and `npx svc ext why runs`';
      expect(asTyped(text, 'npx svc', isCommand)).to.equal('svc is running; see npx svc logs --lines 20, ~/svc start, my-svc stop and `npx svc ext why runs`');
      expect(asTyped(text, 'svc', isCommand)).to.equal('svc is running; see svc logs --lines 20, ~/svc start, my-svc stop and `svc ext why runs`');
    });

    it('know every command that came with svc, and no other word', () => {
      expect(commandNames().filter((name) => !isCommand(name))).to.deep.equal([]);
      expect(['is', 'could', 'constructor', ''].filter(isCommand)).to.deep.equal([]);
    });
  });
});
