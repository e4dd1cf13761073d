/** Results that are too long for a model: stored whole, read back page by page, by nobody else. */
import { createHash } from 'node:crypto';
import { defineTool, Type } from '@svc/api';
import { fixtureExtension, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';

/** Each piece is another one, so that a page that is read twice or left out is noticed. */
const longText = (chars: number, unit = 'line'): string => {
  let text = '';
  for (let n = 0; text.length < chars; n++) text += `${unit} ${n}\n`;
  return text.slice(0, chars);
};

const big = fixtureExtension({
  id: 'big',
  contributions: { tools: [{ name: 'big', risk: 'read', replay: 'safe' }] },
  definition: {
    activate: (ctx) => {
      ctx.tools.add(
        defineTool({
          name: 'big',
          description: 'Gives a long text.',
          params: Type.Object({ chars: Type.Integer(), unit: Type.Optional(Type.String()), fails: Type.Optional(Type.Boolean()) }),
          risk: 'read',
          openWorld: false,
          replay: 'safe',
          parallel: true,
          run: async ({ chars, unit, fails }) => ({ content: longText(chars, unit), isError: fails === true }),
        }),
      );
    },
  },
});

const KEY = 'root-key-0';
const NOTE = /\n\n\[This is the start of the result: characters 0 to (\d+) of (\d+)\. .* stored as (art_[0-9a-f]{32})\. Read on with read_artifact/;
const PAGE_NOTE = /\n\n\[characters (\d+) to (\d+) of (\d+)\. .*\]$/;

describe('a long result', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  const bob = 'bob-key-0123456789abcdef0123456789abcdef';
  before(async () => {
    const config = `api_key = "${KEY}"\n${OPEN_RATE}[extensions]\nenable = ["big"]\n[tool_results]\nmax_artifact_bytes = 200000\nmax_agent_bytes = 400000\n[[users]]\nname = "bob"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(bob).digest('hex')}"\n`;
    svc = await bootWithModel(undefined, { config, extra: [big], key: KEY });
  });
  after(stopModelKernels);

  const spawn = async (name: string, manifest: object = {}, http = svc.http): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name, ...manifest } })).body.agent_id;
  /** What the model read as the result of each call. */
  const results = (): string[] => {
    const body = svc.model.requests.at(-1)?.body as { messages: Array<{ role: string; content: unknown }> };
    return body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  };
  const call = async (agent: string, name: string, args: object, { http = svc.http, ...extra }: { http?: ModelKernel['http']; session_id?: string; incognito?: boolean } = {}): Promise<string> => {
    svc.model.script([{ toolCalls: [{ id: `c${Math.random()}`, name, args }] }, { text: 'done' }]);
    await http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'go', ...extra });
    return results().at(-1) ?? '';
  };
  const handleOf = (result: string): string => NOTE.exec(result)?.[3] ?? 'no handle';
  const readAll = async (agent: string, result: string, length: number): Promise<string> => {
    let text = result.replace(NOTE, '\0').split('\0')[0] ?? '';
    for (;;) {
      const page = await call(agent, 'read_artifact', { handle: handleOf(result), offset: text.length, length });
      const [note = '', , , chars] = PAGE_NOTE.exec(page) ?? [];
      text += page.slice(0, page.length - note.length);
      if (text.length >= Number(chars)) return text;
    }
  };

  it('is shown by its start, which says how much there is and how to read on', async () => {
    const result = await call(await spawn('starts'), 'big', { chars: 50_000 });
    const [, shown, whole] = NOTE.exec(result) ?? [];
    expect([Number(shown), Number(whole)]).to.deep.equal([4_096, 50_000]);
    expect(result.startsWith(longText(4_096))).to.equal(true);
    expect(Buffer.byteLength(result)).to.be.below(5_000);
  });

  it('is shown whole up to the threshold, and stored from one byte more on', async () => {
    const agent = await spawn('threshold');
    expect(await call(agent, 'big', { chars: 16_384 })).to.equal(longText(16_384));
    expect(await call(agent, 'big', { chars: 16_385 })).to.match(NOTE);
    expect(await call(agent, 'big', { chars: 12_000, unit: '語語語' }), 'bytes count, not characters').to.match(NOTE);
  });

  it('is read back to the last character, none twice, none halved, and none that a database does not take', async () => {
    const agent = await spawn('reads');
    for (const unit of ['line', '🚀', 'a\0b']) {
      const result = await call(agent, 'big', { chars: 45_001, unit });
      expect(await readAll(agent, result, 13_001), JSON.stringify(unit)).to.equal(longText(45_001, unit));
    }
  });

  it('that is an error stays one', async () => {
    const agent = await spawn('fails');
    expect(await call(agent, 'big', { chars: 20_000, fails: true })).to.match(NOTE);
    const { body } = await svc.http.expect(200, 'GET', `/api/agents/${agent}/traces`);
    expect(body.traces.at(-1)).to.include({ tool_name: 'big', is_error: true });
  });

  it('is cut where it is longer than what may be stored, and says so', async () => {
    const agent = await spawn('cut');
    const result = await call(agent, 'big', { chars: 300_000 });
    expect(result).to.contain('The first 200000 characters (200000 bytes) are stored');
    expect(await call(agent, 'read_artifact', { handle: handleOf(result), offset: 199_990, length: 100 })).to.contain('This is the end of what is stored; the whole result had 300000.');
  });

  it('is read by no other agent and no other person, and they do not learn that it exists', async () => {
    const handle = handleOf(await call(await spawn('owns'), 'big', { chars: 20_000 }));
    const unknown = `art_${'0'.repeat(32)}`;
    const asBob = svc.kernel.as(bob);
    const others = [{ agent: await spawn('same-owner') }, { agent: await spawn('another-person', {}, asBob), http: asBob }];
    for (const { agent, http } of others) {
      const refused = await call(agent, 'read_artifact', { handle }, { ...(http ? { http } : {}) });
      expect(refused).to.contain(`You have no stored result "${handle}".`).and.not.contain('line 0');
      expect(await call(agent, 'read_artifact', { handle: unknown }, { ...(http ? { http } : {}) })).to.equal(refused.replace(handle, unknown));
    }
    const guesser = await spawn('guesses');
    for (const other of ["art_' OR 1=1 --", '../../secrets', `art_${handle.slice(4, 20)}%`])
      expect(await call(guesser, 'read_artifact', { handle: other }), other).to.contain('You have no stored result');
  });

  it('goes with its session', async () => {
    const agent = await spawn('session-goes');
    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${agent}/sessions`, {});
    const handle = handleOf(await call(agent, 'big', { chars: 20_000 }, { session_id: body.session_id }));
    expect(await call(agent, 'read_artifact', { handle })).to.contain('line 0');
    await svc.http.expect(200, 'DELETE', `/api/sessions/${body.session_id}`);
    expect(await call(agent, 'read_artifact', { handle })).to.contain('You have no stored result');
  });

  it('of an incognito message goes when its run ends', async () => {
    const agent = await spawn('incognito');
    const handle = handleOf(await call(agent, 'big', { chars: 20_000 }, { incognito: true }));
    expect(handle).to.match(/^art_/);
    expect(await call(agent, 'read_artifact', { handle })).to.contain('You have no stored result');
  });

  it('makes room for newer ones of the same agent, and of no other', async () => {
    const [agent, other] = [await spawn('room'), await spawn('other-room')];
    const kept = handleOf(await call(other, 'big', { chars: 150_000 }));
    const handles: string[] = [];
    for (let n = 0; n < 3; n++) handles.push(handleOf(await call(agent, 'big', { chars: 150_000 + n })));
    const has = async (who: string, handle: string | undefined) => !(await call(who, 'read_artifact', { handle, length: 1 })).includes('You have no stored result');
    expect([await has(agent, handles[0]), await has(agent, handles[1]), await has(agent, handles[2]), await has(other, kept)]).to.deep.equal([false, true, true, true]);
  });

  it('is read by an agent whose lists name only the tool that gave it, and cut where the manifest blocks read_artifact', async () => {
    const listed = await spawn('listed', { capabilities: { tools: ['big'] }, tool_allowlist: ['big'] });
    const result = await call(listed, 'big', { chars: 20_000 });
    expect(await readAll(listed, result, 16_000)).to.equal(longText(20_000));
    const blocked = await spawn('blocked', { tool_blocklist: ['read_artifact'] });
    expect(await call(blocked, 'big', { chars: 20_000 })).to.equal(longText(20_000));
    expect(await call(blocked, 'big', { chars: 100_000 })).to.match(/\[cut: 100000 bytes in all/);
  });
});
