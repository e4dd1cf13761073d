/** Programs of skills, started by an agent whose model is on its wire: in the sandbox of commands, and without one. */
import { mkdir, writeFile } from 'node:fs/promises';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { probeModule } from '../src/wasm/probe.js';
import { moduleNamed } from './wasm-modules.js';

const KEY = 'programs-root-key';

const PROGRAMS = {
  python: {
    entry: 'main.py',
    text: 'import json, sys\ncall = json.load(sys.stdin)\nprint(json.dumps({"sum": call["input"]["a"] + call["input"]["b"], "unit": call["config"]["unit"]}))\n',
  },
  node: {
    entry: 'main.js',
    text: "let text = '';\nprocess.stdin.on('data', (part) => (text += part)).on('end', () => {\n  const { input, config } = JSON.parse(text);\n  console.log(JSON.stringify({ sum: input.a + input.b, unit: config.unit }));\n});\n",
  },
  shell: {
    entry: 'main.sh',
    text: 'read -r call\na=$(printf %s "$call" | sed \'s/.*"a":\\([0-9]*\\).*/\\1/\')\nb=$(printf %s "$call" | sed \'s/.*"b":\\([0-9]*\\).*/\\1/\')\necho "{\\"sum\\": $((a + b)), \\"unit\\": \\"apples\\"}"\n',
  },
} as const;

const tomlOf = (name: string, type: string, entry: string, more = ''): string =>
  `[skill]\nname = "${name}"\ndescription = "Adds ${name}."\n[runtime]\ntype = "${type}"\nentry = "${entry}"\n[requirements]\ntimeout_secs = 1\n[config]\nunit = "apples"\n[[tools.provided]]\nname = "add"\ndescription = "Adds."\n[tools.provided.input_schema]\ntype = "object"\n[tools.provided.input_schema.properties.a]\ntype = "integer"\n[tools.provided.input_schema.properties.b]\ntype = "integer"\n${more}`;

describe('programs of skills', function () {
  this.timeout(90_000);
  let place = '';
  let world: ModelKernel;
  let owner: TestHttp;
  after(stopModelKernels);

  const boot = async (sandbox: 'auto' | 'off'): Promise<void> => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEY}"\nlazy_tools_above = 500\n${OPEN_RATE}[tools]\nsandbox = "${sandbox}"\nsandbox_processes = 40\n`, key: KEY });
    owner = world.kernel.as(KEY);
    place = `${world.kernel.home}-programs`;
  };
  const install = async (name: string, files: Record<string, string | Uint8Array>): Promise<string> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(`${place}/${name}/${path}`.replace(/\/[^/]+$/, ''), { recursive: true });
      await writeFile(`${place}/${name}/${path}`, text);
    }
    await owner.expect(201, 'POST', '/api/skills/install', { source: `${place}/${name}` });
    return (await owner.expect(200, 'GET', `/api/skills/${name}`)).body.path;
  };
  const agentWith = async (name: string, shell: readonly string[]): Promise<string> =>
    (
      await owner.expect(201, 'POST', '/api/agents', {
        manifest_toml: `name = "${name}"\n[model]\nprovider = "default"\nmodel = "default"\nsystem_prompt = "x"\n[capabilities]\nshell = ${JSON.stringify(shell)}\ntools = ["*"]\n`,
      })
    ).body.agent_id;
  /** What the model is given as results, and what the agent answers. */
  const ask = async (agent: string, ...calls: Array<{ name: string; args: object }>): Promise<{ results: string[]; answer: string }> => {
    world.model.beginAnew([...calls.map((call) => ({ toolCalls: [call] })), { text: 'It is five apples.' }]);
    const { body } = await owner.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'how many?' });
    const { messages } = (world.model.requests.at(-1) ?? { body: {} }).body as { messages: Array<{ role: string; content: string }> };
    return {
      results: messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content)
        .slice(-calls.length),
      answer: body.response,
    };
  };

  for (const sandbox of ['auto', 'off'] as const) {
    describe(sandbox === 'auto' ? 'in a sandbox' : 'without a sandbox', () => {
      let bare = '';
      let shelled = '';
      before(async function () {
        await boot(sandbox);
        [bare, shelled] = [await agentWith('bare', []), await agentWith('shelled', ['*'])];
        if (sandbox === 'off') return;
        const { results } = await ask(shelled, { name: 'shell_exec', args: { command: 'true' } });
        if (!results[0]?.includes('[no sandbox')) return;
        for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'no sandbox works here' });
        this.skip();
      });

      for (const [type, { entry, text }] of Object.entries(PROGRAMS))
        it(`R2 are run by an agent that has read the skill, which answers with the result: ${type}`, async () => {
          const name = `adds-${type}`;
          await install(name, { 'skill.toml': tomlOf(name, type, entry), [entry]: text });
          const tool = `skill_adds_${type}_add`;
          const steps = [
            { name: 'skill_read_file', args: { skill: name } },
            { name: tool, args: { a: 2, b: 3 } },
          ];
          const { results, answer } = await ask(shelled, ...steps);
          expect(results[0]).to.include(`skill_adds_${type}_`);
          expect(JSON.parse(results[1] ?? '')).to.deep.equal({ sum: 5, unit: 'apples' });
          expect(answer).to.equal('It is five apples.');
          const alone = await ask(bare, ...steps);
          if (sandbox === 'auto') expect(JSON.parse(alone.results[1] ?? '')).to.deep.include({ sum: 5 });
          else expect(alone.results[1]).to.include('no sandbox works on this machine').and.include('shell = ["*"]');
        });

      it('Q1 Q2 are modules of WebAssembly, which need neither a shell nor a sandbox', async () => {
        const toml = tomlOf('echoes', 'WASM', 'main.wasm');
        await install('echoes', { 'skill.toml': toml, 'main.wasm': moduleNamed('echo') });
        await install('rounds', { 'skill.toml': toml.replaceAll('echoes', 'rounds'), 'main.wasm': probeModule() });
        await install('lasts', { 'skill.toml': toml.replaceAll('echoes', 'lasts').replace('timeout_secs = 1', 'timeout_secs = 0.2\nfuel = 2000000000'), 'main.wasm': probeModule() });
        await install('seeks', { 'skill.toml': toml.replaceAll('echoes', 'seeks'), 'main.wasm': moduleNamed('reads'), 'words.txt': 'ahoy' });
        const { results } = await ask(bare, { name: 'skill_echoes_add', args: { a: 2, b: 3 } }, ...['rounds', 'lasts', 'seeks'].map((name) => ({ name: `skill_${name}_add`, args: {} })));
        expect(JSON.parse(results[0] ?? '')).to.deep.equal({ tool: 'add', input: { a: 2, b: 3 }, config: { unit: 'apples' } });
        expect(results.slice(1)).to.deep.equal(['Error: The program was ended: it used up its fuel of 1000000.', 'Error: The program was ended after 0.2 s.', '{"ok":"ahoy"}']);
        const { body } = await owner.get('/api/security');
        expect(JSON.stringify(body)).to.include('was ended by its fuel, and by its deadline');
      });

      it('N1 are read by commands that name their folder, for reading alone, where the agent has the skill', async () => {
        const text = (name: string): string => `---\nname: ${name}\ndescription: Says ${name}.\n---\nRun \`sh {baseDir}/scripts/say.sh\`.\n`;
        const script = 'echo "said by $(basename "$0")"; cat "$(dirname "$0")/../references/words.txt"; touch "$(dirname "$0")/new" 2>/dev/null && echo written || echo kept\n';
        const says = await install('says', { 'SKILL.md': text('says'), 'scripts/say.sh': script, 'references/words.txt': 'ahoy\n' });
        const hidden = await install('hidden', { 'SKILL.md': text('hidden'), 'scripts/say.sh': script, 'references/words.txt': 'secret\n' });
        await owner.expect(200, 'PUT', `/api/agents/${shelled}/skills`, { skills: ['says'] });
        const { results } = await ask(
          shelled,
          { name: 'skill_read_file', args: { skill: 'says' } },
          { name: 'shell_exec', args: { command: `sh ${says}/scripts/say.sh; cat ${hidden}/SKILL.md; ls ${says}/../..` } },
        );
        expect(results[0]).to.include(`Run \`sh ${says}/scripts/say.sh\``);
        expect(results[1]).to.include('said by say.sh').and.include('ahoy');
        await owner.expect(200, 'PUT', `/api/agents/${shelled}/skills`, { skills: [] });
        if (sandbox === 'off') return;
        expect(results[1]).to.include('kept').and.include('No such file').and.not.include('svc.db').and.not.include('Run `sh');
      });

      it('R3 are ended where they flood, multiply or never end', async () => {
        const bad = {
          floods: 'while :; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; done',
          waits: 'sleep 60',
          breaks: 'echo "it broke" >&2; exit 3',
          ...(sandbox === 'auto' ? { multiplies: 'i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; wait' } : {}),
        };
        const said: Record<string, string> = {};
        for (const [name, text] of Object.entries(bad)) {
          await install(name, { 'skill.toml': tomlOf(name, 'shell', 'main.sh'), 'main.sh': `${text}\n` });
          const { results } = await ask(shelled, { name: `skill_${name}_add`, args: {} });
          said[name] = results[0] ?? '';
        }
        expect(said.floods).to.include('it wrote more than 1048576 bytes');
        expect(said.waits).to.include('was ended after 1 s');
        expect(said.breaks).to.include('ended with exit code 3').and.include('it broke');
        if (sandbox === 'auto') expect(said.multiplies).to.match(/was ended|exit code|fork/i);
      });
    });
  }
});
