/** What a person does in the first week, with the commands that the README and `svc help` name, and nothing else. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { createShell, type SvcShell } from './svc-shell.js';

const CHATTER = 12;

describe('the first week', () => {
  let shell: SvcShell;
  let model: ProviderServer;
  before(async () => {
    shell = await createShell();
    model = await startOpenAiServer(({ body }) => ({ text: `[${body.model}] read`, usage: { input: 10, output: 3 } }));
  });
  after(async () => {
    await shell.clean();
    await model.close();
  });

  const run = async (script: string): Promise<string> => {
    const { code, output } = await shell.run(script);
    expect(code, `${script}\n${output}`).to.equal(0);
    return output;
  };
  const asked = (): { readonly model: string; readonly messages: readonly { readonly role: string; readonly content: unknown }[] } => model.requests.at(-1)?.body;
  const pidOfDaemon = (): number => JSON.parse(readFileSync(join(shell.folder, 'home', 'daemon.json'), 'utf8')).pid;

  it('is from the start to two agents, a file, a compaction, another model and a daemon that dies in the middle', async function () {
    this.timeout(120_000);
    // The first day: a daemon, its mock provider, then a model.
    expect(await run('npx svc start')).to.contain('npx svc chat');
    expect(await run('npx svc message assistant "write hello to notes.txt then read it"'))
      .to.contain('hello')
      .and.contain('mock provider');
    await run(`npx svc providers set-url openai ${model.url}/v1\necho sk-first-week-0001 | npx svc providers set-key openai --stdin\nnpx svc providers default openai gpt-5-mini`);
    expect(await run('npx svc message assistant "who are you?"')).to.contain('[gpt-5-mini] read');
    expect(await run('grep -rl sk-first-week-0001 home || true')).to.equal('');

    // A second agent, with a file of its own and a character.
    writeFileSync(join(shell.folder, 'researcher.toml'), 'name = "researcher"\n[model]\nprovider = "default"\nmodel = "default"\nsystem_prompt = "You read before you answer."\n');
    writeFileSync(join(shell.folder, 'SOUL.md'), 'You like lighthouses.\n');
    writeFileSync(join(shell.folder, 'plan.md'), 'The lamp is lit at dusk.\n');
    await run('npx svc agent spawn researcher.toml\nnpx svc files put researcher SOUL.md\nnpx svc files put researcher plan.md docs/plan.md');
    expect(await run('npx svc files get researcher docs/plan.md')).to.equal('The lamp is lit at dusk.\n');
    await run('npx svc message researcher "the first word"');
    expect(asked().messages[0]?.content).to.contain('You read before you answer.').and.contain('You like lighthouses.');
    expect(await run('npx svc agent list')).to.match(/assistant[\s\S]*researcher/);

    // A long conversation is summarised, and is still there to be read and found.
    await run(`for n in $(seq ${CHATTER}); do npx svc message researcher "message number $n" > /dev/null; done`);
    expect(await run('npx svc message researcher /compact')).to.match(/summar/i);
    await run('npx svc message researcher "after the summary"');
    expect(asked().messages.length).to.be.below(2 * CHATTER);
    expect(await run('npx svc sessions search "first word"')).to.contain('researcher');

    // Another model, from the next message on; a name that there is none of is not taken.
    expect((await shell.run('npx svc agent set researcher model gpt-77')).output)
      .to.contain('gpt-77')
      .and.match(/did you mean/i);
    await run('npx svc agent set researcher model gpt-5.5');
    expect(await run('npx svc message researcher "and now?"')).to.contain('[gpt-5.5] read');

    // The daemon dies in the middle of an answer, and is started again. Whoever waits gets the answer, and the conversation holds it once.
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`);
    model.script({ deltas: words.map((word) => `${word} `), eventDelayMs: 50 });
    const before = model.requests.length;
    const waiting = shell.run('npx svc message researcher "a long answer"');
    while (model.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(pidOfDaemon(), 'SIGKILL');
    model.script({ text: 'said to the end' });
    await run('npx svc start');
    const { code, output } = await waiting;
    expect([code, output.includes('said to the end')], output).to.deep.equal([0, true]);
    const { sessions } = JSON.parse(await run('npx svc sessions list --json')) as { readonly sessions: readonly { readonly session_id: string; readonly agent_name: string }[] };
    const shown = await run(`npx svc sessions show ${sessions.find(({ agent_name }) => agent_name === 'researcher')?.session_id}`);
    expect(shown.split('a long answer')).to.have.length(2);
    expect(shown.split('said to the end')).to.have.length(2);

    // At the end of the week all is well, and it stops when it is told.
    expect(await run('npx svc doctor')).to.contain('0 fail');
    expect(await run('npx svc stop')).to.contain('stopped');
  });
});
