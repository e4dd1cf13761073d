/** A config.toml with mistakes: told by file, line, key, what was expected; the daemon starts, and what guards it closes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { expectWellFormed, walk } from '../conformance/route-walk.js';

interface Mistake {
  readonly name: string;
  readonly text: string;
  readonly line: number;
  readonly key: string;
  readonly says: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  { name: 'an unknown section', text: '\n[lllm]\nmax_retries = 1\n', line: 2, key: 'lllm', says: /did you mean "llm"/i },
  { name: 'an unknown key', text: '[api]\nrate_limit = 5\n', line: 2, key: 'api.rate_limit', says: /rate_limit_per_second/ },
  { name: 'a wrong type', text: '[llm]\nmax_retries = "three"\n', line: 2, key: 'llm.max_retries', says: /whole number|integer.*got "three"/ },
  { name: 'a number out of range', text: '[llm]\n\nmax_retries = 99\n', line: 3, key: 'llm.max_retries', says: /10.*got 99|got 99/ },
  { name: 'a word that is none of the choices', text: '[log]\nlevel = "lound"\n', line: 2, key: 'log.level', says: /debug|info/ },
];

const SECRET = 'my-very-own-secret-key-77';

describe('a setting that is wrong', () => {
  afterEach(stopTestKernels);

  for (const mistake of MISTAKES)
    it(`(${mistake.name}) is told with file, line, key and what was expected; the daemon runs on its defaults`, async () => {
      const kernel = await bootTestKernel({ config: mistake.text });
      const problems = kernel.daemon.kernel.configProblems();
      expect(problems.length, JSON.stringify(problems)).to.be.above(0);
      const [problem] = problems;
      expect(problem?.file).to.equal(join(kernel.home, 'config.toml'));
      expect(problem?.line, problem?.message).to.equal(mistake.line);
      expect(problem?.key).to.equal(mistake.key);
      expect(problem?.message).to.match(mistake.says);
      const shown = await kernel.http.expect(200, 'GET', '/api/status');
      expect(shown.body.config_problems[0].message).to.equal(problem?.message);
      const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
      await kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hello' });
    });

  it('never shows what may be a secret, as a key pasted where its variable is named', async () => {
    const kernel = await bootTestKernel({ config: `[default_model]\napi_key_env = "${SECRET} "\nproviderr = "x"\n` });
    expect(JSON.stringify(kernel.daemon.kernel.configProblems())).to.not.contain(SECRET);
  });

  it('a cap that nobody keeps is said in status, health and doctor; a setting that only waits is a notice', async () => {
    const kernel = await bootTestKernel({ config: '[privacy]\nmode = "redact"\n[links]\nenabled = true\n' });
    const { body: health } = await kernel.http.expect(200, 'GET', '/api/health/detail');
    expect(health.config_warnings.join())
      .to.match(/\[privacy\] is NOT enforced yet/)
      .and.not.match(/links/);
    expect(health.config_notices.join()).to.match(/\[links\] waits for its area/);
    const doctor = health.doctor.find((one: { check: string }) => one.check === 'ConfigTomlSchemaCheck');
    expect([doctor.result, doctor.message]).to.satisfy(([result, message]: [string, string]) => result === 'fail' && message.includes('NOT enforced'));
    const { body: status } = await kernel.http.expect(200, 'GET', '/api/status');
    expect(status.config_problems.map((problem: { key: string }) => problem.key)).to.deep.equal(['privacy']);
  });

  it('in the grammar of the file closes access too: nobody knows whether a key stood there', async () => {
    const kernel = await bootTestKernel({ config: '[llm]\nmax_retries = \napi_key = "k"\n' });
    const [problem] = kernel.daemon.kernel.configProblems();
    expect(problem).to.include({ file: join(kernel.home, 'config.toml'), line: 2 });
    expect(problem?.message).to.contain('config.toml:2');
    expect((await kernel.http.get('/api/agents')).status).to.equal(503);
    expect((await kernel.http.get('/api/health')).status).to.equal(200);
  });

  for (const [name, text] of [
    ['api_key is no text', 'api_key = 12345\n'],
    ['a user has a key that is no hash', '[[users]]\nname = "eve"\napi_key_hash = "plain"\n'],
    ['a user has a role that does not exist', `[[users]]\nname = "eve"\nrole = "god"\napi_key_hash = "sha256:${'0'.repeat(64)}"\n`],
    ['[security] is misspelt', '[security]\nrequird = ["auth"]\n'],
    ['the policy for programs is unknown', '[exec_policy]\nmode = "everything"\n'],
    ['what it requires is not there', '[security]\nrequired = ["no-such-guard"]\n'],
  ] as const)
    it(`and guards the daemon closes every channel but the public ones (${name})`, async () => {
      const kernel = await bootTestKernel({ config: text });
      for (const one of walk(kernel).filter((each) => !each.isSocket)) {
        const answer = await kernel.http.send(one.method, one.path, one.method === 'GET' ? undefined : {});
        // What brings an area back answers whoever is owner, where all settings are valid that say who that is.
        const isRepair = name === 'what it requires is not there' && 'repairs' in one.decl && one.decl.repairs === true;
        // Where people sign in at a provider there is none.
        const isClosed = answer.status === 503 && answer.body.code !== 'oidc_off';
        expect(isClosed, `${one.method} ${one.template} ${answer.status}`).to.equal(one.decl.auth !== 'public' && !isRepair);
        expectWellFormed(answer, one.template);
        if (!isClosed) continue;
        expect(answer.body.code).to.equal('security_unavailable');
        expect(Number(answer.headers.get('retry-after')), one.template).to.be.above(0);
      }
      expect((await kernel.http.get('/api/health')).status).to.equal(200);
    });

  it('in a reload leaves the last good value in force', async () => {
    const kernel = await bootTestKernel({ config: 'api_key = "k"\n[llm]\nmax_retries = 1\n' });
    await writeFile(join(kernel.home, 'config.toml'), 'api_key = ["k"]\n[llm]\nmax_retries = "many"\n');
    await kernel.daemon.reloadConfig('a test');
    expect((await kernel.as('k').get('/api/agents')).status).to.equal(200);
    expect((await kernel.http.get('/api/agents')).status).to.equal(401);
    expect(kernel.daemon.kernel.configProblems().map((problem) => problem.key)).to.include.members(['api_key', 'llm.max_retries']);
    await writeFile(join(kernel.home, 'config.toml'), 'api_key = "new"\n');
    await kernel.daemon.reloadConfig('a test');
    expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
    expect((await kernel.as('new').get('/api/agents')).status).to.equal(200);
    expect((await kernel.as('k').get('/api/agents')).status).to.equal(401);
  });
});
