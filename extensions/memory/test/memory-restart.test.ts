/** Without a key: what was said before a restart is recalled in other words, and each entry says where it came from. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const SAID = 'Hello! I am allergic to peanuts. I drive an old Volvo. My wife works at a school.';
const ASKED = [
  ['Which food makes me sick?', 'peanuts'],
  ['What car do I own?', 'Volvo'],
  ['What is the job of my spouse?', 'school'],
] as const;

interface Sent {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
}

describe('memory over a restart', function () {
  this.timeout(60_000);
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-memory-'));
  });
  after(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('L2 X5 three things are recalled in other words in a new conversation, outside the system prompt, and say where they came from', async () => {
    const first = await bootWithModel(undefined, { home });
    const { id: agent, session_id: said } = first.agent;
    await first.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: SAID });
    const entries = async (http = first.http) => (await http.expect(200, 'GET', `/api/memory/agents/${agent}`)).body.memories as Array<Record<string, unknown>>;
    await until(async () => (await entries()).length === 3);
    await first.kernel.stop();

    const { http, model } = await bootWithModel(undefined, { home });
    const { session_id: session } = (await http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {})).body;
    for (const [message, what] of ASKED) {
      await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message, session_id: session });
      const { messages = [] } = (model.requests.at(-1)?.body ?? {}) as Partial<Sent>;
      const textOf = (role: boolean) => JSON.stringify(messages.filter((one) => (one.role === 'system') === role));
      expect(textOf(false), message)
        .to.contain(what)
        .and.match(/\[memory, \d{4}-\d\d-\d\d, your owner said\]/);
      expect(textOf(true)).to.not.contain(what);
    }
    // The page shows these fields of each, with a link to the conversation.
    for (const entry of await entries(http)) expect(entry).to.include({ source: 'conversation', role: 'user', session_id: said, origin: null });
  });
});
