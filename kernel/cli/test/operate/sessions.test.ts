/** `svc sessions` with the real daemon. */
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, plain, type Ran } from '../program.js';

interface Row {
  readonly id: string;
  readonly label: string | null;
  readonly agent_name: string;
}

describe('svc sessions with the real daemon', function () {
  this.timeout(60_000);
  let bench: Bench;
  before(async () => {
    bench = createBench(await freePort());
    await bench.run(['start']);
    for (const name of ['one', 'two']) await bench.run(['agent', 'new', name]);
    await bench.run(['message', 'one', 'what', 'about', 'Zürich', 'in', 'spring?']);
    await bench.run(['message', 'two', 'write hello to notes.txt then read it']);
  });
  after(async () => {
    await bench.run(['stop']);
    bench.clean();
  });

  const sessions = (...args: string[]): Promise<Ran> => bench.run(['sessions', ...args]);
  const rows = async (...args: string[]): Promise<Row[]> => (JSON.parse((await sessions('list', ...args, '--json')).stdout) as { sessions: Row[] }).sessions;

  it('list shows the newest first, of one agent, and so many', async () => {
    expect((await rows()).map(({ agent_name: name }) => name)).to.deep.equal(['two', 'one']);
    expect((await rows('one')).map(({ label }) => label)).to.deep.equal(['what about Zürich in spring?']);
    expect(await rows('--limit', '1')).to.have.length(1);
    expect(await rows('--active')).to.deep.equal([]);
    expect((await sessions('list')).stdout).to.match(/^LABEL +AGENT +MESSAGES +LAST +NOW +ID\nwrite hello to notes\.txt then read it +two +\d+ +just now +current +[0-9a-f-]{36}$/m);
  });

  it('show finds it by id, by the beginning of the id and by label, and tells what was said and done', async () => {
    const [{ id = '' } = {}] = await rows('two');
    for (const wanted of [id, id.slice(0, 35), 'write hello to notes.txt then read it']) {
      const ran = await sessions('show', wanted);
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout)
        .to.match(/\nyou\nwrite hello to notes\.txt/)
        .and.match(/\ntwo\n {2}› file_write .*\n {2}✓ Wrote 5 bytes/);
    }
    expect(JSON.parse((await sessions('show', id, '--json')).stdout)).to.include.keys('id', 'messages', 'label');
  });

  it('rename labels it, an empty label takes that away, and several of one label are told apart', async () => {
    const [{ id = '' } = {}] = await rows('two');
    const [{ id: other = '' } = {}] = await rows('one');
    expect((await sessions('rename', id, 'My trip')).stdout).to.equal('✓ It is called My trip from now on.\n');
    expect((await sessions('show', 'My trip')).stdout).to.contain(id);
    await sessions('rename', other, 'My trip');
    const both = await sessions('show', 'My trip');
    expect([both.code, both.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('is 2 sessions') && text.includes(id) && text.includes(other));
    await sessions('rename', other, '');
    expect((await rows('one'))[0]?.label).to.equal('what about Zürich in spring?');
  });

  it('tag sets the tags, which the list finds it by, and no tag takes them away', async () => {
    const [{ id = '' } = {}] = await rows('two');
    expect((await sessions('tag', id, 'Notes', 'work')).stdout).to.equal('✓ Tags: notes, work\n');
    expect((await rows('--tag', 'notes')).map((row) => row.id)).to.deep.equal([id]);
    expect((await sessions('list', '--tag', 'absent')).stdout).to.equal('No session has this tag.\n');
    expect((await sessions('tag', id)).stdout).to.equal('✓ The conversation has no tags.\n');
    expect(await rows('--tag', 'notes')).to.deep.equal([]);
  });

  it('share is refused by the name of its setting until that is on; then it prints the link, which unshare ends', async () => {
    const [{ id = '' } = {}] = await rows('one');
    const refused = await sessions('share', id);
    expect([refused.code, refused.stderr]).to.satisfy(([code, text]: [number, string]) => code === 4 && text.includes('share_links'));
    await bench.run(['config', 'set', 'session.share_links', 'true']);
    const shared = await sessions('share', id, '--days', '7');
    expect(shared.code, shared.stderr).to.equal(0);
    const url = shared.stdout.trim();
    expect(await (await fetch(url)).text()).to.include('Zürich in spring');
    const { shares } = JSON.parse((await sessions('shares', '--json')).stdout) as { shares: Array<{ id: string; title: string }> };
    expect(shares.map(({ title }) => title)).to.deep.equal(['what about Zürich in spring?']);
    expect((await sessions('unshare', shares[0]?.id ?? '')).stdout).to.equal('✓ The link is revoked\n');
    expect((await fetch(url)).status).to.equal(404);
    expect((await sessions('shares')).stdout).to.equal('No links.\n');
  });

  it('the beginning of ids that several have is refused', async () => {
    const [a, b] = (await rows()).map(({ id }) => id);
    let shared = '';
    while (a?.[shared.length] === b?.[shared.length]) shared += a?.[shared.length] ?? '';
    const ran = await sessions('delete', shared);
    expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('is 2 sessions') && text.includes(a ?? '-'));
    expect(await rows()).to.have.length(2);
  });

  it('search shows where the words stand, and marks them at a terminal whatever their case and accents', async () => {
    const ran = await sessions('search', 'ZURICH', 'spring');
    expect(ran.stdout).to.match(/^what about Zürich in spring\? +one, just now, [0-9a-f-]{36}\n {2}you {2}what about Zürich in spring\?$/m);
    expect(JSON.parse((await sessions('search', 'zurich', '--agent', 'two', '--json')).stdout)).to.include({ total: 0 });
    const shown = await bench.onTerminal(['sessions', 'search', 'ZURICH'], 120);
    expect(shown.stdout).to.contain('\u001b[1m\u001b[33mZürich\u001b[39m\u001b[22m');
    expect(plain(shown.stdout)).to.contain('you  what about Zürich in spring?');
    expect((await sessions('search', 'xylophone')).stdout).to.equal('No message contains all of these words.\n');
  });

  for (const [args, code, words] of [
    [['show', 'My tirp'], 1, 'Did you mean "My trip"?'],
    [['show', '00000000-0000-4000-8000-000000000000'], 1, 'no session'],
    [['list', 'nobody'], 1, 'There is no agent "nobody"'],
    [['list', '--limit', '0'], 2, 'a whole number from 1 to 500'],
    [['search', 'x', '--agent', 'oen'], 1, 'Did you mean "one"?'],
    [['rename', 'My trip', 'no/slash'], 1, 'abel'],
  ] as const)
    it(`\`svc sessions ${args.join(' ')}\` ends with ${code}`, async () => {
      const ran = await sessions(...args);
      expect(ran.code, ran.stdout).to.equal(code);
      expect(ran.stderr).to.contain(words);
    });

  it('delete takes all that are named, or none where one is unknown', async () => {
    const ids = (await rows()).map(({ id }) => id);
    expect((await sessions('delete', ...ids, 'nope')).code).to.equal(1);
    expect(await rows()).to.have.length(2);
    const deleted = JSON.parse((await sessions('delete', ...ids, '--json')).stdout);
    expect(deleted).to.deep.equal({ status: 'deleted', session_ids: ids, restorable_until: deleted.restorable_until });
    expect(Date.parse(deleted.restorable_until) - Date.now(), 'thirty days in the bin').to.be.within(29 * 86_400_000, 31 * 86_400_000);
    // Each agent has a new, empty one.
    expect((await rows()).map(({ label }) => label)).to.deep.equal([null, null]);
  });
});
