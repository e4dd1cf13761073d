import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { virtualClock } from '../src/clock/clock.js';
import { createLog, type LogLine } from '../src/log/log.js';

const START = Date.parse('2026-03-10T23:59:50Z');
const CANARY = 'sk-canary/47+11=secret';

describe('log', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-log-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const lines = async (name: string): Promise<LogLine[]> =>
    (await readFile(join(dir, name), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('appends to the file of the day, begins a new one with a new day, and prunes what is older than 7 days at start', async () => {
    await writeFile(join(dir, 'daemon-2026-03-02.log'), 'old\n');
    await writeFile(join(dir, 'daemon-2026-03-03.log'), 'kept\n');
    await writeFile(join(dir, 'daemon-2026-03-10.log'), '{"message":"from the morning"}\n');
    await writeFile(join(dir, 'notes.txt'), 'not ours');
    const clock = virtualClock(START);
    const log = createLog({ dir, level: 'info', clock, terminal: false });
    log.logger('core').info('before midnight', { answer: 42 });
    await clock.advance(20_000);
    log.logger('core').info('after midnight');
    await log.close();

    expect((await readdir(dir)).sort()).to.deep.equal(['daemon-2026-03-03.log', 'daemon-2026-03-10.log', 'daemon-2026-03-11.log', 'notes.txt']);
    expect((await lines('daemon-2026-03-10.log')).map((line) => line.message)).to.deep.equal(['from the morning', 'before midnight']);
    expect((await lines('daemon-2026-03-11.log'))[0]).to.include({ message: 'after midnight', level: 'info', target: 'core', timestamp: '2026-03-11T00:00:10.000Z' });
  });

  it('lets no registered secret reach file, terminal, ring or follower', async () => {
    const terminal = new PassThrough();
    const log = createLog({ dir, level: 'debug', clock: virtualClock(START), terminal });
    const followed: LogLine[] = [];
    log.follow((line) => followed.push(line));
    log.redact(CANARY);
    const cause = new Error(`refused: ${CANARY}`);
    log.logger('llm').error(`key ${CANARY} failed`, {
      [CANARY]: 1,
      url: `https://x.test/?key=${encodeURIComponent(CANARY)}`,
      deep: { list: [CANARY], basic: Buffer.from(CANARY).toString('base64') },
      error: new Error('outer', { cause }),
      long: `${'x'.repeat(8_185)}${CANARY}`,
    });
    await log.close();
    const everything = [await readFile(join(dir, 'daemon-2026-03-10.log'), 'utf8'), String(terminal.read()), JSON.stringify(log.recent(10)), JSON.stringify(followed)].join('\n');
    expect(everything).to.contain('failed').and.not.contain('canary').and.not.contain(Buffer.from(CANARY).toString('base64').slice(0, 12));
  });

  it('hides a key that is a word where it stands alone, and leaves the words that contain it', () => {
    const log = createLog({ dir: null, level: 'debug', clock: virtualClock(START), terminal: false });
    log.redact('password');
    log.redact('k3y0fSixteenChar');
    expect(log.scrub('password, "password" and key=password go, passwords and apipassword2 stay')).to.equal('•••, "•••" and key=••• go, passwords and apipassword2 stay');
    expect(log.scrub('xk3y0fSixteenCharx')).to.equal('x•••x');
  });

  it('carries extension, generation and request of a child logger', async () => {
    const log = createLog({ dir: null, level: 'info', clock: virtualClock(START), terminal: false });
    log.logger('ext').child({ ext: 'memory', generation: 2 }).child({ request: 'r-1' }).warn('slow');
    expect(log.recent(1)[0]).to.include({ ext: 'memory', generation: 2, request_id: 'r-1', level: 'warn' });
    await log.close();
  });

  it('keeps the last 2,000 lines and honours the level', async () => {
    const log = createLog({ dir: null, level: 'info', clock: virtualClock(START), terminal: false });
    const logger = log.logger('core');
    for (let index = 1; index <= 5_000; index++) logger.info(`line ${index}`);
    logger.debug('hidden');
    expect(log.recent(99_999)).to.have.length(2_000);
    expect(log.recent(1)[0]?.message).to.equal('line 5000');
    log.setLevel('debug');
    logger.debug('shown');
    expect(log.recent(1)[0]?.message).to.equal('shown');
    await log.close();
  });

  it('goes on at the terminal with one warning when the file cannot be written', async () => {
    await writeFile(join(dir, 'blocked'), 'a file where the folder should be');
    const terminal = new PassThrough();
    const log = createLog({ dir: join(dir, 'blocked'), level: 'info', clock: virtualClock(START), terminal });
    for (let index = 0; index < 20; index++) {
      log.logger('core').info(`line ${index}`);
      await log.flush();
    }
    await log.close();
    const shown = String(terminal.read());
    expect(shown.match(/cannot be written/g)).to.have.length(1);
    expect(shown).to.contain('line 0').and.contain('line 19');
  });

  it('survives a failing follower, circular fields and control characters', async () => {
    const terminal = new PassThrough();
    const log = createLog({ dir: null, level: 'info', clock: virtualClock(START), terminal });
    log.follow(() => {
      throw new Error('follower');
    });
    const circle: Record<string, unknown> = { big: 12n };
    circle.self = circle;
    log.logger('core').info('\u001b[2Jcleared?', { circle });
    expect(log.recent(2).map((line) => line.level)).to.deep.equal(['info', 'warn']);
    expect(String(terminal.read())).to.contain('\\x1b[2Jcleared?').and.contain('(circular)');
    await log.close();
  });
});
