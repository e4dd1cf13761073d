/** `svc config show|get|set|unset|edit|schema`: on the file, and at the daemon that runs. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, type Ran } from './program.js';

const KEY = 'the-key-of-this-daemon-55';

describe('svc config', function () {
  this.timeout(60_000);
  let bench: Bench;
  beforeEach(async () => {
    bench = createBench(await freePort());
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
  });
  afterEach(async () => {
    await bench.stopStarted();
    bench.clean();
  });

  const file = (): string => path.join(bench.home, 'config.toml');
  const write = (text: string): void => writeFileSync(file(), text, { mode: 0o600 });
  const text = (): string => readFileSync(file(), 'utf8');
  const config = (...args: string[]): Promise<Ran> => bench.run(['config', ...args]);

  describe('without a daemon', () => {
    it('get prints the value alone, and where it comes from beside it', async () => {
      write('# mine\n[log]\nlevel = "warn"\n');
      expect(await config('get', 'log.level')).to.deep.include({ code: 0, stdout: 'warn\n', stderr: 'log.level, config.toml:3\n' });
      expect((await config('get', 'log_level')).stdout).to.equal('warn\n');
      expect((await config('get', 'runs.max_active')).stderr).to.contain('default');
      expect(JSON.parse((await bench.run(['config', 'get', 'log.level', '--json'], { env: { SVC__LOG__LEVEL: 'error' } })).stdout)).to.include({
        value: 'error',
        source: 'environment',
        variable: 'SVC__LOG__LEVEL',
      });
    });

    it('get of what is no setting names the nearest and ends with 1', async () => {
      const ran = await config('get', 'log.levle');
      expect([ran.code, ran.stderr]).to.deep.equal([1, 'Error  log.levle is not a setting. Did you mean "log.level"?\n  fix   npx svc config show\n']);
    });

    it('show says of each where it is from, and shows no secret', async () => {
      write(`api_key = "${KEY}"\n[llm]\nmax_retries = 1\n`);
      const all = await config('show');
      expect(all.stdout)
        .to.match(/^SETTING +VALUE +FROM$/m)
        .and.match(/^api_key +\*\*\* +config\.toml:1$/m)
        .and.match(/^llm\.max_retries +1 +config\.toml:3$/m)
        .and.match(/^log\.level +info +default$/m)
        .and.not.contain(KEY);
      expect((await config('show', 'llm')).stdout.split('\n')).to.have.length(9);
      expect((await config('show', '--changed')).stdout.split('\n').map((line) => line.split(' ')[0])).to.deep.equal(['SETTING', 'api.listen_addr', 'api_key', 'llm.max_retries', '']);
    });

    it('set changes the one line, and unset takes it out', async () => {
      write('# mine\n[log] # here\nlevel = "warn" # quiet\n');
      expect((await config('set', 'log.level', 'error')).stdout).to.equal('✓ log.level is error in the file\n');
      expect((await config('set', 'runs.max_active', '7')).code).to.equal(0);
      expect((await config('set', 'api.cors_origins', '["https://a.test"]')).code).to.equal(0);
      expect((await config('unset', 'runs.max_active')).stdout).to.contain('runs.max_active was removed from the file');
      expect(text()).to.equal('# mine\n[log] # here\nlevel = "error" # quiet\n\n[runs]\n\n[api]\ncors_origins = ["https://a.test"]\n');
      expect(existsSync(path.join(bench.home, 'data'))).to.equal(false);
    });

    it('set makes the first file for its owner only', async () => {
      const bare = createBench(45_998);
      try {
        expect((await bare.run(['config', 'set', 'log.level', 'warn'])).code).to.equal(0);
        expect([statSync(bare.home).mode & 0o777, statSync(path.join(bare.home, 'config.toml')).mode & 0o777]).to.deep.equal([0o700, 0o600]);
      } finally {
        bare.clean();
      }
    });

    const refused: ReadonlyArray<readonly [setting: string, value: string, words: RegExp]> = [
      ['log.level', 'loud', /must be one of "trace"/],
      ['runs.max_active', 'many', /whole number from 1 to 100000/],
      ['log.levl', 'warn', /Did you mean "log\.level"/],
      ['a.b.c.d', '1', /three at most/],
      ['__proto__.x', '1', /not a setting's path/],
      ['api_key', KEY, /it is a secret/],
      ['api.listen_addr', '0.0.0.0:4545', /SVC_PORT/],
      ['queue.task_queue_retention_days', '5', /has no effect/],
    ];
    for (const [setting, value, words] of refused) {
      it(`set ${setting} ${value} is refused as the daemon refuses it, and changes nothing`, async () => {
        write('[log]\nlevel = "warn"\n');
        const ran = await config('set', setting, value);
        expect(ran.code).to.equal(1);
        expect(ran.stderr).to.match(words);
        expect(text()).to.equal('[log]\nlevel = "warn"\n');
      });
    }

    it('schema is a JSON Schema without keys of ours', async () => {
      const { stdout } = await config('schema');
      expect(JSON.parse(stdout).properties.log.properties.level.enum).to.include('warn');
      expect(stdout).not.to.contain('"x-');
    });
  });

  describe('edit', () => {
    const edit = (script: string, ...flags: string[]): Promise<Ran> => bench.run(['config', 'edit', ...flags], { env: { EDITOR: script } });
    const left = (): string[] => readdirSync(bench.home).filter((name) => name.startsWith('.edit-'));

    it('puts in place what holds, keeps the file before, and leaves no copy', async () => {
      write('[log]\nlevel = "warn" # quiet\n');
      const ran = await edit('sed -i s/warn/error/');
      expect([ran.code, text(), left()]).to.deep.equal([0, '[log]\nlevel = "error" # quiet\n', []]);
      expect(readFileSync(path.join(bench.home, 'backups/config.toml.prev'), 'utf8')).to.contain('warn');
      expect(statSync(file()).mode & 0o777).to.equal(0o600);
    });

    it('begins a file where there is none, and writes none where nothing was written', async () => {
      expect((await edit('true')).stdout).to.equal('Nothing was changed.\n');
      expect(existsSync(file())).to.equal(false);
      expect((await edit('sed -i s/info/warn/')).code).to.equal(0);
      expect(text()).to.contain('level = "warn"').and.contain('svc config show');
    });

    it('names the lines of what does not hold, leaves the file, and keeps the text', async () => {
      write('[log]\nlevel = "warn"\n');
      const ran = await edit('sed -i s/warn/wran/');
      expect(ran.code).to.equal(1);
      expect(ran.stdout).to.contain('config.toml:2').and.contain('Did you mean "warn"');
      expect(ran.stderr).to.contain('config.toml.rejected');
      expect([text(), readFileSync(`${file()}.rejected`, 'utf8')]).to.deep.equal(['[log]\nlevel = "warn"\n', '[log]\nlevel = "wran"\n']);
      expect(JSON.parse((await edit('sed -i s/warn/wran/', '--json')).stdout).error).to.contain('config.toml:2');
    });

    it('fixes a file that is no TOML', async () => {
      write('[log\nlevel = "warn"\n');
      expect((await edit("sed -i 's/^.log/[log]/'")).code).to.equal(0);
      expect(text()).to.equal('[log]\nlevel = "warn"\n');
    });

    it('does not write over what somebody else wrote meanwhile', async () => {
      write('[log]\nlevel = "warn"\n');
      const ran = await edit(`echo '# theirs' >> ${file()}; sed -i s/warn/error/`);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('changed by someone else').and.contain('config.toml.rejected');
      expect(text()).to.equal('[log]\nlevel = "warn"\n# theirs\n');
    });

    it('refuses an address that others reach while there is no key', async () => {
      const ran = await edit('sed -i "s/^# listen_addr.*/listen_addr = \\"0.0.0.0:4545\\"/"');
      expect([ran.code, existsSync(file())]).to.deep.equal([1, false]);
      expect(ran.stderr).to.contain('reached from other machines');
    });

    it('changes nothing when the editor fails', async () => {
      write('[log]\nlevel = "warn"\n');
      expect((await edit('false')).stderr).to.contain('The editor "false" ended with 1');
      expect(text()).to.equal('[log]\nlevel = "warn"\n');
    });
  });

  describe('beside a daemon that runs', () => {
    it('asks the daemon, which applies it at once', async () => {
      write(`api_key = "${KEY}"\n[log]\nlevel = "warn"\n`);
      await bench.run(['start']);
      expect((await config('set', 'log.level', 'error')).stdout).to.equal('✓ log.level is error from now on\n');
      expect((await config('set', 'api.keep_alive_secs', '9')).stdout).to.contain('waits for the next start');
      expect(JSON.parse((await bench.run(['config', 'show', 'log', '--json'])).stdout)).to.deep.include({ from: 'daemon' });
      expect((await config('set', 'log.level', 'loud')).stderr).to.contain('must be one of');
    });

    it('goes on with the file where the daemon knows no key of this user', async () => {
      write(`api_key = "${KEY}"\n`);
      await bench.run(['start']);
      const env = { SVC_API_KEY: 'another-key-than-the-right-one' };
      const ran = await bench.run(['config', 'set', 'log.level', 'error'], { env });
      expect([ran.code, ran.stdout]).to.deep.equal([0, '✓ log.level is error in the file\n']);
      expect(ran.stderr).to.contain('From the file:');
      expect(text()).to.contain('level = "error"');
    });
  });
});
