/** What others named or wrote reaches no terminal as an order to it, whichever command prints it. */
import { expect } from 'chai';
import { jsonText, shown } from '../src/terminal/terminal.js';
import { AGENT_ID, agents, type FakeDaemon, startFakeDaemon } from './fake-daemon.js';
import { type Bench, createBench, plain } from './program.js';

/** Turned writing, a title of the window, a cleared screen, hidden text, a lone C1 code, and a line that is none. */
const HOSTILE = 'invoice\u202egnp.exe\u2066\u001b]0;owned\u0007\u001b[2J\u001b[8mhidden\u009b31m\u2028next';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const ORDERS = /[\u202a-\u202e\u2066-\u2069\u2028\u2029\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[(?:[0-2]|22|3[0-7]|39|90)m)/;

describe('what the command line prints of others', function () {
  this.timeout(20_000);
  let daemon: FakeDaemon;
  let bench: Bench;

  before(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    daemon.answers.set('GET /api/agents', [200, { agents: [{ ...agents[0], name: HOSTILE, model_name: HOSTILE }], items: [{ ...agents[0], name: HOSTILE, model_name: HOSTILE }], total: 1 }]);
    daemon.answers.set(`GET /api/agents/${AGENT_ID}`, [409, { error: `No ${HOSTILE}`, hint: `Ask ${HOSTILE}`, code: 'agents_stopped', request_id: 'r-1' }]);
  });
  after(async () => {
    bench.clean();
    await daemon.close();
  });

  it('is shown, not obeyed: lists, and errors of the daemon', async () => {
    for (const args of [
      ['agent', 'list'],
      ['agent', 'show', AGENT_ID],
    ]) {
      const { stdout } = await bench.onTerminal(args, 200);
      expect(stdout, args.join(' ')).to.not.match(ORDERS);
      expect(plain(stdout)).to.contain('invoice\\u{202e}gnp.exe');
      const piped = await bench.run(args);
      expect(piped.stdout + piped.stderr, args.join(' ')).to.not.match(ORDERS);
    }
  });

  it('is the same value in JSON', async () => {
    const { stdout } = await bench.run(['agent', 'list', '--json']);
    expect(stdout).to.not.match(ORDERS);
    expect(JSON.stringify(JSON.parse(stdout))).to.contain(JSON.stringify(HOSTILE));
    expect(JSON.parse(jsonText({ [HOSTILE]: HOSTILE }))).to.deep.equal({ [HOSTILE]: HOSTILE });
    expect(jsonText(undefined)).to.equal('null');
  });

  it('keeps the colours of svc, line breaks, and letters of every script', () => {
    const text = '\u001b[31mred\u001b[39m\n\tשלום \u200f عربي 👩‍👩‍👧 é';
    expect(shown(text, true)).to.equal(text);
    expect(shown(text, false)).to.equal(plain(text));
    expect(shown(HOSTILE, true)).to.equal('invoice\\u{202e}gnp.exe\\u{2066}hidden31m\\u{2028}next');
  });
});
