/** Skills of a hub that speaks the wire of the public one, over HTTP. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { systemClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { zipOf } from '../../skills/test/archives.js';
import { type Answer, HANGS, SHA, startHub, TEXT } from './hub.js';

const KEYS = { owner: 'hub-root-key', alice: 'hub-alice-key' };
const ALICE = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.alice).digest('hex')}"\n`;
/** The patience of the client of the hub, and what it is in this test. */
const [PATIENCE_MS, TEST_MS] = [15_000, 300];

describe('skills of a hub', function () {
  this.timeout(60_000);
  let hub: Awaited<ReturnType<typeof startHub>>;
  let kernel: TestKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  before(async () => {
    hub = await startHub();
    const real = systemClock();
    const clock = { ...real, schedule: (ms: number, fn: () => void) => real.schedule(ms === PATIENCE_MS ? TEST_MS : ms, fn) };
    kernel = await bootTestKernel({ clock, config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${ALICE}[skills]\nhub_url = "${hub.url}/"\nhub_mirror_url = ""\n`, key: KEYS.owner });
    [owner, alice] = [kernel.as(KEYS.owner), kernel.as(KEYS.alice)];
  });
  after(async () => {
    await stopTestKernels();
    hub.close();
  });
  const install = (body: object, http = owner) => http.post('/api/skillhub/install', body);

  it('H4 are searched and browsed, and asked for once in two minutes', async () => {
    const { body } = await alice.expect(200, 'GET', '/api/skillhub/search?q=weather');
    expect(body).to.deep.include({ total: 1, page: 1, next_cursor: null });
    expect(body.items[0]).to.deep.equal({
      slug: 'weather',
      name: 'The weather',
      description: 'About weather',
      version: '1.2.0',
      owner: 'ada',
      downloads: 7,
      stars: 0,
      score: 0.9,
      updated_at: '2023-11-14T22:13:21.000Z',
      is_installed: false,
    });
    await alice.expect(200, 'GET', '/api/skillhub/search?q=weather');
    expect(hub.seen.filter((path) => path.includes('/search'))).to.have.length(1);
    expect((await alice.expect(200, 'GET', '/api/skillhub/browse')).body).to.deep.include({ total: 1, next_cursor: 'two' });
    expect((await alice.expect(200, 'GET', '/api/skillhub/browse?page=2')).body.items[0].slug).to.equal('second');
    expect((await alice.expect(200, 'GET', '/api/skillhub/browse?page=3')).body.items).to.deep.equal([]);
    expect((await alice.expect(200, 'GET', '/api/skillhub/browse?category=indoors')).body.items).to.deep.equal([]);
    for (const path of ['skillhub/search', 'skillhub/search?q=', 'skillhub/browse?page=0', 'marketplace/search', 'marketplace/search?q=x&page=x', 'clawhub-cn/search'])
      await alice.expect(400, 'GET', `/api/${path}`);
  });

  it('show one skill with what the hub says of it, and its source', async () => {
    const { body } = await alice.expect(200, 'GET', '/api/skillhub/skill/weather');
    expect(body).to.deep.include({ slug: 'weather', author: 'ada', author_name: 'Ada', stars: 3, installed: false, is_installed: false, sha256: SHA });
    expect((await alice.expect(200, 'GET', '/api/skillhub/skill/bad')).body.moderation).to.deep.include({ verdict: 'malicious', is_blocked: true });
    expect((await alice.expect(200, 'GET', '/api/skillhub/skill/weather/code')).body).to.deep.equal({ slug: 'weather', filename: 'SKILL.md', code: TEXT });
    expect((await alice.expect(404, 'GET', '/api/skillhub/skill/none')).body.code).to.equal('skillhub_not_found');
    expect((await alice.expect(404, 'GET', '/api/skillhub/skill/gone')).body.code).to.equal('skillhub_gone');
    await alice.expect(400, 'GET', '/api/skillhub/skill/..%2Fx');
  });

  it('K1 and K2 are installed with the version and the SHA-256 of the hub, after it was asked', async () => {
    await alice.expect(403, 'POST', '/api/skillhub/install', { slug: 'weather' });
    const { body: plan } = await owner.expect(200, 'POST', '/api/skillhub/install/plan', { slug: 'weather' });
    expect(plan).to.deep.include({ name: 'weather', version: '1.2.0', download_sha256: SHA });
    expect((await install({ slug: 'weather', expected_sha256: '0'.repeat(64) })).body.code).to.equal('skills_wrong_hash');
    const { status, body } = await install({ slug: 'weather', expected_sha256: plan.digest });
    expect([status, body]).to.deep.equal([
      201,
      { status: 'installed', skill: 'weather', name: 'weather', slug: 'weather', version: '1.2.0', digest: plan.digest, converted_from: 'SKILL.md', is_prompt_only: true, warnings: [] },
    ]);
    expect(hub.seen.find((path) => path.startsWith('/api/v1/download'))).to.equal('/api/v1/download?slug=weather&ownerHandle=ada&version=1.2.0');
    expect((await owner.expect(200, 'GET', '/api/skills/weather')).body.source).to.equal('skillhub:weather');
    expect((await alice.expect(200, 'GET', '/api/skillhub/skill/weather')).body.installed).to.equal(true);
    expect((await install({ slug: 'weather' })).body.code).to.equal('skills_exists');
    expect((await install({ slug: 'bad' })).body).to.deep.include({ code: 'skillhub_blocked' });
    expect((await install({ slug: 'odd' })).body.error).to.include('suspicious (eval)');
    expect((await install({ slug: 'handed' })).body.error).to.include('https://github.com/ada/skills');
    hub.special.set('/api/v1/download', [[200, zipOf({ 'SKILL.md': TEXT.replace('Look', 'Jump') })]]);
    expect((await install({ slug: 'weather', replace: true })).body.code).to.equal('skills_wrong_hash');
    await owner.expect(200, 'POST', '/api/skills/uninstall', { name: 'weather' });
  });

  it('H2 and H3 say what a hub did that cannot answer, with an empty list', async () => {
    const again: Answer = [429, 'slow down', { 'retry-after': '0' }];
    hub.special.set('/api/v1/search', [again, again]);
    await alice.expect(200, 'GET', '/api/skillhub/search?q=twice');
    hub.special.set('/api/v1/search', [again, again, again, again, again, again]);
    expect((await alice.expect(429, 'GET', '/api/skillhub/search?q=busy')).body).to.deep.include({ code: 'skillhub_busy', items: [] });
    hub.special.set('/api/v1/search', [[200, '<html>sign in</html>', { 'content-type': 'text/html' }]]);
    const page = (await alice.expect(502, 'GET', '/api/skillhub/search?q=page')).body;
    expect(page).to.deep.include({ code: 'skillhub_upstream', items: [] });
    expect(page.error).to.include('a web page');
    hub.special.set('/api/v1/search', [[400, 'Query too odd']]);
    expect((await alice.expect(502, 'GET', '/api/skillhub/search?q=odd')).body.error).to.include('400: Query too odd');
    hub.special.delete('/api/v1/search');
  });

  it('H2 are not waited for where the hub hangs, before its answer or within it, and it is asked once', async () => {
    for (const [word, text] of [
      ['silent', ''],
      ['stuck', '{"results":['],
    ] as const) {
      hub.special.set('/api/v1/search', [[HANGS, text]]);
      const { body } = await alice.expect(502, 'GET', `/api/skillhub/search?q=${word}`);
      expect(body).to.deep.include({ code: 'skillhub_upstream', items: [] });
      expect(body.error, word).to.include('did not answer in time').and.include(`${PATIENCE_MS} ms`);
      expect(hub.seen.filter((path) => path.includes(`q=${word}`))).to.have.length(1);
    }
    await alice.expect(200, 'GET', '/api/skillhub/search?q=afterwards');
  });

  it('H1 are asked for with the token of the hub, which nobody is shown', async () => {
    await owner.expect(200, 'PUT', '/api/vault/secrets/skillhub.token', { value: 'hub-token-0001' });
    await alice.expect(200, 'GET', '/api/skillhub/search?q=token');
    expect(hub.agents.at(-1)).to.equal('Bearer hub-token-0001');
  });

  it('are found beside those of the local registry; a missing mirror is named', async () => {
    const folder = `${kernel.home}/registry/skills/weather-local`;
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/SKILL.md`, TEXT.replace('name: weather', 'name: weather-local'));
    const { body } = await alice.expect(200, 'GET', '/api/marketplace/search?q=weather');
    expect(body.results.map(({ name, from }: { name: string; from: string }) => [name, from])).to.deep.equal([
      ['weather-local', 'registry'],
      ['weather', 'skillhub'],
    ]);
    expect(body).to.deep.include({ total: 2, page: 1 });
    const mirror = (await alice.expect(503, 'GET', '/api/clawhub-cn/browse')).body;
    expect(mirror).to.deep.include({ code: 'skillhub_not_set', items: [] });
    expect(mirror.error).to.include('[skills] hub_mirror_url');
    expect((await alice.get('/api/clawhub-cn/search?q=x')).status).to.equal(503);
  });
});
