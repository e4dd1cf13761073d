/** How it looks: on terminals of several widths, and as plain text where nobody watches. */
import { expect } from 'chai';
import { agoText, cut, duration, facts, table, visibleLength, wrap } from '../src/terminal/layout.js';
import { type FakeDaemon, startFakeDaemon } from './fake-daemon.js';
import { type Bench, createBench, plain } from './program.js';

const COMMANDS = [['status'], ['agent', 'list'], ['providers', 'list'], ['ext', 'list'], ['ext', 'info', 'memory'], ['ext', 'graph'], ['doctor']];
/** What may be longer than the line: words that must be copied whole. */
const UNBREAKABLE = /\S{40,}|svc-cli-/;

describe('svc on a terminal', function () {
  this.timeout(20_000);
  let daemon: FakeDaemon;
  let bench: Bench;

  before(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
  });
  after(async () => {
    bench.clean();
    await daemon.close();
  });

  for (const width of [60, 80, 120]) {
    for (const args of COMMANDS) {
      it(`fits ${width} columns: svc ${args.join(' ')}`, async () => {
        const { stdout } = await bench.onTerminal(args, width);
        const lines = plain(stdout).split('\n');
        expect(lines.length).to.be.greaterThan(1);
        for (const line of lines) if (!UNBREAKABLE.test(line)) expect(visibleLength(line), line).to.be.at.most(width);
      });
    }
  }

  it('status at 60, 80 and 120 columns', async () => {
    const shown = await Promise.all([60, 80, 120].map((width) => bench.onTerminal(['status'], width)));
    const [narrow, middle, wide] = shown.map(({ stdout }) => plain(stdout).replaceAll(daemon.url, 'URL'));
    expect(narrow).to.equal(
      [
        '● svc 0.1.0 is running',
        '  address  URL (up 2 h 5 min)',
        '  model    acme / acme-large',
        '  why      ACME_API_KEY is set and no other provider comes',
        '           before it',
        '  agents   2',
        '  preset   standard',
        '  data     /srv/svc/data',
        '',
      ].join('\n'),
    );
    expect(middle).to.contain('  why      ACME_API_KEY is set and no other provider comes before it\n');
    expect(wide).to.equal(middle);
  });

  it('uses colours on a terminal, and none with --no-color, NO_COLOR or a pipe', async () => {
    expect((await bench.onTerminal(['status'], 80)).stdout).to.contain('\u001b[');
    expect((await bench.onTerminal(['status', '--no-color'], 80)).stdout).to.not.contain('\u001b[');
    expect((await bench.run(['status'])).stdout).to.not.contain('\u001b[');
  });

  it('cuts nothing when piped', async () => {
    const { stdout } = await bench.run(['ext', 'list']);
    expect(stdout).to.contain('long enough to be cut on a narrow terminal.');
  });

  it('never cuts an id, however narrow the terminal', async () => {
    const { stdout } = await bench.onTerminal(['agent', 'list'], 40);
    expect(stdout).to.contain('0b9a3c1e-1111-4222-8333-444455556666');
  });
});

describe('layout', () => {
  it('shortens the columns that may shrink, and only those', () => {
    const lines = table([{ title: 'ID' }, { title: 'TEXT', shrinks: true }], [['abcdefghij', 'a long text that gives way']], 24);
    expect(lines).to.deep.equal(['ID          TEXT', 'abcdefghij  a long text…']);
  });

  it('leaves out the columns that may go before it turns rows into blocks, and a block has them all', () => {
    const columns = [{ title: 'ID' }, { title: 'SIZE', givesWay: true }, { title: 'NAME' }, { title: 'AGE', givesWay: true }];
    const rows = [['a'.repeat(10), '7', 'b'.repeat(10), 'old']];
    const seen: string[] = [];
    const note = (text: string, column: number): string => {
      seen.push(`${column} ${text.trim()}`);
      return text;
    };
    expect(table(columns, rows, 28, note)).to.deep.equal(['ID          SIZE  NAME', `${'a'.repeat(10)}  7     ${'b'.repeat(10)}`]);
    expect(seen).to.deep.equal(['0 ID', '1 SIZE', '2 NAME', `0 ${'a'.repeat(10)}`, '1 7', `2 ${'b'.repeat(10)}`]);
    expect(table(columns, rows, 22)).to.deep.equal(['ID          NAME', `${'a'.repeat(10)}  ${'b'.repeat(10)}`]);
    expect(table(columns, rows, 20)).to.have.length(4);
  });

  it('turns rows into blocks when even that is too wide', () => {
    expect(table([{ title: 'ID' }, { title: 'NAME' }], [['a'.repeat(20), 'b'.repeat(20)]], 30)).to.deep.equal([`  id    ${'a'.repeat(20)}`, `  name  ${'b'.repeat(20)}`]);
  });

  it('wraps at spaces and leaves long words whole', () => {
    expect(wrap(`one two ${'x'.repeat(12)} three`, 8)).to.deep.equal(['one two', 'x'.repeat(12), 'three']);
    expect(
      facts(
        [
          ['a', 'b'],
          ['', 'c'],
        ],
        40,
      ),
    ).to.deep.equal(['  a  b', '     c']);
  });

  it('says how long ago it was or when it will be, and the day where that is more than a month away', () => {
    const now = Date.parse('2026-03-10T12:00:00.000Z');
    const said = [
      '2026-03-10T11:59:30Z',
      '2026-03-10T11:55:00Z',
      '2026-03-10T09:10:00Z',
      '2026-03-07T07:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-03-10T12:00:05Z',
      '2026-03-10T14:50:00Z',
      '2026-05-01T00:00:00Z',
      'no time',
    ].map((iso) => agoText(iso, now));
    expect(said).to.deep.equal(['just now', '5 min ago', '2 h ago', '3 d ago', '2026-01-02', 'just now', 'in 2 h', '2026-05-01', 'no time']);
  });

  it('counts letters, not bytes, and tells time in words', () => {
    expect(cut('äöü€', 3)).to.equal('äö…');
    expect([5, 61, 7_500, 90_000].map(duration)).to.deep.equal(['5 s', '1 min', '2 h 5 min', '1 d 1 h']);
  });
});
