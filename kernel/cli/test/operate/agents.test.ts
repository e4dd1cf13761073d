/** `svc agent` with the real daemon: made, shown, applied, edited, set, cloned, ended. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { MAIN } from '../program.js';
import { type Bench, createBench, type Ran } from '../program.js';

const BARE = 'name = "bare"\n';
const MANIFEST = '# mine\nname = "clerk"\nversion = "0.1.0"\n[capabilities]\ntools = ["file_read"] # to begin with\n[model]\ntemperature = 0.2\nsystem_prompt = "Be brief."\n';

describe('svc agent with the real daemon', function () {
  this.timeout(60_000);
  let bench: Bench;
  before(async () => {
    bench = createBench(await freePort());
    const started = await bench.run(['start']);
    expect(started.code, started.stderr).to.equal(0);
  });
  after(async () => {
    await bench.run(['stop']);
    bench.clean();
  });

  const agent = (...args: string[]): Promise<Ran> => bench.run(['agent', ...args]);
  const json = async <T = Record<string, unknown>>(...args: string[]): Promise<T> => JSON.parse((await agent(...args, '--json')).stdout) as T;
  const file = (name: string, text: string): string => {
    const at = path.join(bench.home, name);
    writeFileSync(at, text);
    return at;
  };
  /** A program that a person might have as an editor. */
  const editor = (script: string): Record<string, string> => {
    const at = file('editor.sh', `#!/bin/sh\n${script}\n`);
    chmodSync(at, 0o755);
    return { EDITOR: at };
  };
  const edit = (name: string, script: string, ...more: string[]): Promise<Ran> => bench.run(['agent', 'edit', name, ...more], { env: editor(script) });
  const toml = async (name: string): Promise<string> => (await agent('show', name, '--toml')).stdout;

  it('is named in other areas by its name, and what they list by its name or the beginning of its id', async () => {
    const goals = (...args: string[]): Promise<Ran> => bench.run(['goals', ...args]);
    const { goal_id: id = '', id: same = id } = JSON.parse((await goals('create', 'Finish it', '--agent-id', 'assistant', '--due-at', 'tomorrow 9:00', '--json')).stdout) as Record<string, string>;
    for (const name of ['Finish it', same, same.slice(0, 13)]) expect((await goals('get', name)).stdout, name).to.match(/title +Finish it/);
    const unknown = await goals('get', 'Begin it');
    expect([unknown.code, unknown.stderr.includes('ID: there is none called "Begin it"')], unknown.stderr).to.deep.equal([2, true]);
    await goals('create', 'Finish it');
    expect((await goals('delete', 'Finish it', '--yes')).stderr)
      .to.include('ID: 2 are called "Finish it"')
      .and.include(same);
    expect((await bench.run(['budget'])).stdout).to.match(/limit of a day +no limit\n +spent today +\$0\.00/);
  });

  describe('new', () => {
    it('makes none of a path that was meant as a manifest, and says which command takes one', async () => {
      for (const given of [file('new.toml', BARE), 'not-there.toml']) {
        const ran = await agent('new', given);
        expect([ran.code, ran.stdout]).to.deep.equal([2, '']);
        expect(ran.stderr).to.contain(`svc agent spawn ${given}`);
      }
      expect((await agent('list')).stdout).to.not.contain('.toml');
    });

    it('makes one from a template, with another model', async () => {
      const made = await agent('new', 'helper', '--template', 'coder', '--model', 'rehearsal');
      expect([made.code, made.stdout.split('  ')[0]], made.stderr).to.deep.equal([0, '✓ helper is ready']);
      expect(await toml('helper'))
        .to.contain('provider = "builtin"')
        .and.contain('You are a careful programmer');
    });

    it('takes the name of the template where none is given', async () => {
      expect(await json('new', '--template', 'translator', '--yes')).to.include({ name: 'translator' });
    });

    const refused: ReadonlyArray<readonly [args: readonly string[], code: number, words: RegExp]> = [
      [['new'], 2, /needs a name or a template[\s\S]*svc agent new NAME --yes/],
      [['new', '--yes'], 2, /needs a name or a template/],
      [['new', 'x', '--template', 'codr'], 1, /There is no template "codr"\. Did you mean "coder"\?[\s\S]*svc agent templates/],
      [['new', 'x', '--model', 'gpt-55'], 1, /no model "gpt-55"\. Did you mean gpt-5/],
      [['new', 'assistant'], 1, /An agent named "assistant" already exists/],
      [['show', 'asistant'], 1, /no agent "asistant"\. Did you mean "assistant"\?/],
      [['clone', 'nobody'], 1, /There is no agent "nobody"/],
      [['clone', 'assistant', 'assistant'], 1, /already exists/],
      [['apply', '/nowhere/agent.toml'], 1, /cannot be read[\s\S]*ENOENT/],
      [['set', 'assistant', 'temprature', '1'], 1, /"temprature" is not a key of an agent\. Did you mean temperature\?/],
      [['set', 'assistant', 'resources.max_cst', '1'], 1, /"resources.max_cst" is not a key of an agent/],
      [['set', 'assistant', 'temperature', 'warm'], 2, /temperature must be a number, not "warm"/],
      [['set', 'assistant', 'mode', 'obsrve'], 1, /not a mode of agents; expected one of Stable, Normal/],
      [['set', 'assistant', 'color', 'blue-ish'], 1, /not a colour/],
    ];
    for (const [args, code, words] of refused)
      it(`\`svc agent ${args.join(' ')}\` ends with ${code} and says why`, async () => {
        const ran = await agent(...args);
        expect(ran.code, ran.stdout).to.equal(code);
        expect(ran.stderr.replaceAll('npx svc', 'svc')).to.match(words);
        expect(JSON.parse((await agent(...args, '--json')).stdout)).to.include({ exit_code: code });
      });
  });

  it('templates lists what there is to begin from', async () => {
    expect((await agent('templates')).stdout).to.match(/^coder +Writes and changes code/m);
    expect(await json('templates')).to.have.keys('templates', 'total', 'skipped');
  });

  it('show has what matters on one screen, and everything under --json', async () => {
    const shown = (await agent('show', 'assistant')).stdout;
    expect(shown)
      .to.match(/^assistant\n {2}what +General help/)
      .and.match(/\n {2}model +builtin \/ rehearsal \(the manifest says default \/ default\)\n/)
      .and.match(/\n {2}tools +\*\n/);
    expect(await json('show', 'assistant')).to.include.keys('id', 'manifest_toml', 'capabilities', 'revision');
    expect(await json('show', 'assistant', '--toml')).to.have.keys('agent_id', 'revision', 'manifest_toml');
  });

  describe('apply', () => {
    it('creates, finds nothing to do, shows a difference and asks, and applies it', async () => {
      const at = file('clerk.toml', MANIFEST);
      expect(await json('apply', at, '--dry-run')).to.deep.equal({ status: 'would_create', name: 'clerk', diff: '' });
      expect((await agent('apply', at)).stdout).to.contain('clerk is ready');
      expect((await agent('apply', at)).stdout).to.equal('✓ clerk is unchanged\n');

      file('clerk.toml', MANIFEST.replace('0.2', '0.7').replace('"file_read"', '"file_read", "file_list"'));
      const dry = await agent('apply', at, '--dry-run');
      expect([dry.code, dry.stdout]).to.satisfy(([code, text]: [number, string]) => code === 0 && text.includes('-temperature = 0.2\n+temperature = 0.7\n') && text.endsWith('clerk would change\n'));
      const asked = await agent('apply', at);
      expect([asked.code, asked.stderr]).to.satisfy(([code, text]: [number, string]) => code === 2 && text.includes('No terminal to answer'));
      expect(await toml('clerk')).to.contain('0.2');
      const done = await agent('apply', at, '--yes');
      expect([done.code, done.stdout]).to.satisfy(([code, text]: [number, string]) => code === 0 && text.includes('+temperature = 0.7') && text.includes('clerk is at revision 1'));
      expect(await json('apply', at, '--yes')).to.deep.equal({ status: 'unchanged', name: 'clerk', diff: '' });
    });

    it('order, comments and what holds anyway are no difference; tags that the text does not name stay', async () => {
      await json('apply', file('bare.toml', BARE));
      await agent('set', 'bare', 'tags', '["a"]');
      expect(await json('apply', file('bare.toml', `# another\n${BARE}author = ""\n[resources]\nmax_cost_per_day_usd = 0\n[model]\nname = "default"\n`), '--dry-run')).to.deep.equal({
        status: 'unchanged',
        name: 'bare',
        diff: '',
      });
    });

    it('--name applies it to another, and stdin is a file too', async () => {
      const ran = await bench.run(['agent', 'apply', '-', '--name', 'other', '--json'], { stdin: MANIFEST });
      expect(JSON.parse(ran.stdout)).to.include({ name: 'other' });
      expect((await bench.run(['agent', 'apply', '-'], { stdin: '[model]\n' })).code).to.equal(2);
    });

    it('says the line of what is no TOML, and of a key that no manifest has, before and after it asks the daemon', async () => {
      const broken = await agent('apply', file('broken.toml', 'name = "clerk"\n[model]\nmodel = \n'));
      expect([broken.code, broken.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('(line 3): it is not TOML'));
      const misspelt = await agent('apply', file('misspelt.toml', 'name = "clerk"\n[model]\ntemperatur = 0.2\n'), '--yes');
      expect([misspelt.code, misspelt.stderr]).to.satisfy(
        ([code, text]: [number, string]) => code === 1 && text.includes('(line 3): model.temperatur is not a key of agent.toml. Did you mean "temperature"?'),
      );
      const { details } = JSON.parse((await agent('apply', file('misspelt.toml', 'name = "clerk"\n[model]\ntemperatur = 0.2\n'), '--yes', '--json')).stdout) as {
        details: { problems: Array<{ line: number }> };
      };
      expect(details.problems[0]?.line).to.equal(3);
    });
  });

  describe('edit', () => {
    beforeEach(async () => void (await agent('new', 'subject')));
    afterEach(async () => void (await agent('kill', 'subject')));

    it('applies what is saved, the name as well, and shows the difference', async () => {
      const ran = await edit('subject', 'sed -i \'s/^name = .*/name = "renamed"/; s/^\\[model\\]/[model]\\ntemperature = 0.1/\' "$1"');
      expect([ran.code, ran.stdout], ran.stderr).to.satisfy(([code, text]: [number, string]) => code === 0 && text.includes('+temperature = 0.1') && text.includes('✓ renamed is at revision 2'));
      expect(ran.stderr).to.equal('');
      expect(await toml('renamed')).to.contain('temperature = 0.1');
      await agent('set', 'renamed', 'name', 'subject');
    });

    it('changes nothing when nothing was changed, or the editor fails', async () => {
      expect((await edit('subject', 'true')).stdout).to.equal('Nothing was changed.\n');
      expect(JSON.parse((await edit('subject', 'true', '--json')).stdout)).to.include({ status: 'unchanged', revision: 0 });
      const failed = await edit('subject', 'exit 3');
      expect([failed.code, failed.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('ended with 3'));
    });

    for (const [what, line, words] of [
      ['no TOML', 'boo = [', /\(line \d+\): it is not TOML/],
      ['no capability', 'boo = 1', /\(line \d+\): capabilities\.boo is not a known capability/],
    ] as const)
      it(`keeps the text where it is ${what}, and names the line`, async () => {
        const ran = await edit('subject', `echo '${line}' >> "$1"`);
        expect(ran.code).to.equal(1);
        expect(ran.stderr).to.match(words);
        const kept = /your text is in (\S+)/.exec(ran.stderr)?.[1] ?? '';
        expect(readFileSync(kept, 'utf8')).to.contain(line);
        expect(ran.stderr).to.contain(`svc agent apply ${kept} --name subject`);
        rmSync(path.dirname(kept), { recursive: true });
        expect(await json('show', 'subject')).to.include({ revision: 0 });
      });

    it('takes no name that another has, and then changes nothing', async () => {
      const ran = await edit('subject', 'sed -i \'s/^name = .*/name = "assistant"/; s/^\\[model\\]/[model]\\ntemperature = 0.1/\' "$1"');
      expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('"assistant" already exists'));
      expect(await json('show', 'subject')).to.include({ revision: 0 });
    });

    it('loses no change that somebody else made meanwhile', async () => {
      const ran = await edit('subject', `"${process.execPath}" "${MAIN}" agent set subject description theirs >/dev/null\nsed -i 's/^\\[model\\]/[model]\\ntemperature = 0.1/' "$1"`);
      expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('someone else has changed') && text.includes('your text is in'));
      expect(await json('show', 'subject')).to.include({ revision: 1, description: 'theirs' });
    });

    it('leaves no file behind where the text was taken', async () => {
      const ran = await edit('subject', `echo "$1" > "${path.join(bench.home, 'where')}"; sed -i 's/^\\[model\\]/[model]\\ntemperature = 0.1/' "$1"`);
      expect(ran.code).to.equal(0);
      expect(existsSync(readFileSync(path.join(bench.home, 'where'), 'utf8').trim())).to.equal(false);
    });
  });

  it('set changes one thing by the operation it belongs to', async () => {
    await agent('new', 'dial');
    for (const [key, value] of [
      ['description', 'turns'],
      ['temperature', '0.3'],
      ['max_tokens', '512'],
      ['model', 'rehearsal'],
      ['mode', 'observe'],
      ['emoji', '🦉'],
      ['tags', '["a", "b"]'],
      ['resources.max_cost_per_day_usd', '2'],
      ['system_prompt', 'One line.'],
    ] as const)
      expect((await agent('set', 'dial', key, value)).code, key).to.equal(0);
    const shown = await json<Record<string, Record<string, unknown>>>('show', 'dial');
    expect([
      shown.description,
      shown.mode,
      shown.tags,
      shown.system_prompt,
      shown.model?.temperature,
      shown.model?.max_tokens,
      shown.model?.model,
      shown.identity?.emoji,
      shown.resources?.max_cost_per_day_usd,
    ]).to.deep.equal(['turns', 'observe', ['a', 'b'], 'One line.', 0.3, 512, 'rehearsal', '🦉', 2]);
    expect(await json('set', 'dial', 'name', 'knob')).to.include({ status: 'updated', name: 'knob', key: 'name', value: 'knob' });
  });

  it('clone makes another, and kill ends several or none', async () => {
    expect(await json('clone', 'assistant')).to.include({ name: 'assistant-copy' });
    expect(await json('clone', 'assistant', 'twin')).to.include({ name: 'twin' });
    expect((await agent('kill', 'twin', 'nobody')).code).to.equal(1);
    expect((await agent('show', 'twin')).code).to.equal(0);
    const { killed } = await json<{ killed: Array<{ name: string }> }>('kill', 'twin', 'assistant-copy', 'twin');
    expect(killed.map(({ name }) => name)).to.deep.equal(['twin', 'assistant-copy']);
    expect((await agent('show', 'twin')).code).to.equal(1);
    expect((await agent('list', '--deleted')).stdout).to.match(/^twin +until /m);
    expect((await agent('restore', 'nobody')).code).to.equal(1);
    expect(await json('restore', 'twin')).to.deep.include({ status: 'restored' });
    expect((await agent('show', 'twin')).code).to.equal(0);
    expect((await agent('kill', 'twin', 'assistant-copy', '--erase')).code).to.equal(0);
    expect((await agent('list', '--deleted')).stdout).to.equal('No deleted agent can be restored.\n');
  });
});
