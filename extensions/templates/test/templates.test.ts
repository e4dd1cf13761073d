import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const EXPECTED = [
  'assistant hello-world orchestrator coder code-reviewer debugger test-engineer architect security-auditor ops devops-lead planner researcher academic-researcher analyst data-scientist',
  'writer doc-writer translator customer-support sales-assistant recruiter email-assistant meeting-assistant social-media personal-finance legal-assistant health-tracker travel-planner',
  'home-automation recipe-assistant tutor',
]
  .join(' ')
  .split(' ');

describe('templates', () => {
  let kernel: TestKernel;
  beforeEach(async () => {
    kernel = await bootTestKernel();
  });
  afterEach(stopTestKernels);

  const file = async (name: string, text: string | Uint8Array): Promise<void> => {
    await mkdir(join(kernel.home, 'templates'), { recursive: true });
    await writeFile(join(kernel.home, 'templates', name), text);
  };
  const list = async () => (await kernel.http.expect(200, 'GET', '/api/templates')).body;
  const named = async (name: string) => (await kernel.http.expect(200, 'GET', `/api/templates/${name}`)).body;

  it('that are shipped are 32, and each makes an agent that names no model, runs no command, and reads as it was written', async () => {
    const { templates, total, skipped } = await list();
    expect([total, skipped]).to.deep.equal([32, []]);
    expect(templates.map(({ name }: { name: string }) => name)).to.have.members(EXPECTED);
    const prompts = new Set<string>();
    expect(templates[0].path).to.equal(null);
    for (const { name, description } of templates) {
      const detail = await named(name);
      expect(detail).to.deep.include({ name, description, source: 'shipped' });
      expect(detail.manifest).to.deep.include({ name, module: 'builtin:chat', model: { provider: 'default', model: 'default' } });
      expect(detail.manifest.capabilities.shell, name).to.deep.equal([]);
      expect(detail.manifest.capabilities.tools, name).to.not.include('*').and.to.not.be.empty;
      const raw = await kernel.http.expect(200, 'GET', `/api/templates/${name}/toml`);
      expect(raw.headers.get('content-type')).to.match(/^text\/plain/);
      expect(raw.text).to.equal(detail.manifest_toml);
      const made = (await kernel.http.expect(201, 'POST', '/api/agents', { template: name, name: `from-${name}` })).body;
      const runsCommands = detail.manifest.capabilities.tools.includes('shell_exec');
      expect(made.warnings ?? [], name).to.have.length(runsCommands ? 1 : 0);
      if (runsCommands) expect(made.warnings[0], name).to.match(/^shell_exec .*cannot run a command yet\. Grant the commands of your project/);
      const agent = (await kernel.http.expect(200, 'GET', `/api/agents/${made.agent_id}`)).body;
      expect(agent).to.deep.include({ name: `from-${name}`, description });
      expect(agent.model.asked).to.deep.equal({ provider: 'default', model: 'default' });
      expect(agent.system_prompt.length, name).to.be.within(200, 3_000);
      prompts.add(agent.system_prompt);
    }
    expect(prompts.size).to.equal(32);
  });

  it('give the agent their name where the request has none, and a text or a table wins over them', async () => {
    const tutor = (await kernel.http.expect(201, 'POST', '/api/agents', { template: 'tutor' })).body;
    expect(tutor.name).to.equal('tutor');
    expect((await kernel.http.send('POST', '/api/agents', { template: 'tutor' })).body.code).to.equal('agent_already_exists');
    const table = (await kernel.http.expect(201, 'POST', '/api/agents', { template: 'nonsense', manifest: { name: 'table' } })).body;
    expect(table.name).to.equal('table');
    const other = (await kernel.http.expect(201, 'POST', '/api/agents', { template: 'tutor', name: 'other', model: 'openai/gpt-5' })).body;
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${other.agent_id}`)).body.model.asked).to.deep.equal({ provider: 'default', model: 'openai/gpt-5' });
    const key = { 'idempotency-key': 'k' };
    const once = (template: string) => kernel.http.post('/api/agents', { template, name: 'keyed' }, key);
    expect((await once('writer')).body.agent_id).to.equal((await once('writer')).body.agent_id);
    expect((await once('analyst')).status).to.equal(409);
  });

  it('that are not there, or have no name of a template, are refused', async () => {
    for (const name of ['nonsense', '..', '%2e%2e%2fconfig', 'a.b', 'x'.repeat(65), '__proto__', 'constructor'])
      for (const path of [`/api/templates/${name}`, `/api/templates/${name}/toml`]) expect((await kernel.http.get(path)).status, path).to.equal(404);
    const missing = await kernel.http.post('/api/agents', { template: 'nonsense' });
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'template_not_found']);
    for (const template of ['../config', 'a b', '', 7]) expect((await kernel.http.post('/api/agents', { template })).status, String(template)).to.equal(400);
  });

  it('B1 of the home folder stand before shipped ones, as soon as they are written and as long as they are there', async () => {
    await file('tutor.toml', 'name = "mine"\ndescription = "my own"\n');
    await file('new_one.toml', 'description = "new"\n[model]\nprovider = "openai"\nmodel = "gpt-5"\n');
    expect((await list()).total).to.equal(33);
    expect(await named('tutor')).to.deep.include({ description: 'my own', source: 'home' });
    expect((await named('new_one')).manifest.model).to.deep.equal({ provider: 'openai', model: 'gpt-5' });
    expect((await kernel.http.expect(201, 'POST', '/api/agents', { template: 'tutor' })).body.name).to.equal('mine');
    await file('tutor.toml', 'description = "changed, and longer than before"\n');
    expect((await named('tutor')).description).to.equal('changed, and longer than before');
    await rm(join(kernel.home, 'templates', 'tutor.toml'));
    expect((await named('tutor')).source).to.equal('shipped');
  });

  it('B1 that are broken are not replaced by the shipped one of their name', async () => {
    await file('tutor.toml', 'temperature = 9\n');
    const spawned = await kernel.http.post('/api/agents', { template: 'tutor' });
    expect([spawned.status, spawned.body.code]).to.deep.equal([400, 'agents_invalid_manifest']);
    const shown = await kernel.http.get('/api/templates/tutor');
    expect([shown.status, shown.body.code]).to.deep.equal([409, 'templates_unusable']);
    expect((await kernel.http.expect(200, 'GET', '/api/templates/tutor/toml')).text).to.equal('temperature = 9\n');
  });

  it('B2 that cannot be used are named, to doctor too, and keep no other from being listed', async () => {
    await file('good.toml', 'description = "good"\n');
    await file('broken.toml', 'name = [');
    await file('wrong.toml', 'descripton = "x"\n');
    await file('binary.toml', new Uint8Array([0xff, 0xfe, 0x00]));
    await file('large.toml', `#${'x'.repeat(1024 * 1024)}`);
    await file('no name.toml', 'description = "x"\n');
    await file('notes.txt', 'not a template');
    await mkdir(join(kernel.home, 'templates', 'folder.toml'));
    await symlink('/etc/passwd', join(kernel.home, 'templates', 'link.toml'));
    const { templates, skipped } = await list();
    expect(templates.find(({ source }: { source: string }) => source === 'home').path).to.match(/^templates\/.+\.toml$/);
    expect(templates).to.have.length(33);
    expect(skipped.map((one: { file: string }) => one.file)).to.have.members(['broken', 'wrong', 'binary', 'large', 'no name'].map((name) => `templates/${name}.toml`));
    expect(skipped.find((one: { file: string }) => one.file.includes('wrong')).error).to.contain('descripton');
    expect((await kernel.http.get('/api/templates/link')).text).not.to.contain('root:');
    expect((await kernel.http.get('/api/templates/large')).status).to.equal(413);
    expect((await kernel.http.get('/api/templates/binary')).status).to.equal(409);
    const { body } = await kernel.http.expect(200, 'GET', '/api/health/detail');
    const found = JSON.stringify(body);
    expect(found).to.contain('templates/broken.toml is skipped');
  });
});

describe('templates that are switched off', () => {
  afterEach(stopTestKernels);

  it('answer 404, and a spawn from one says so', async () => {
    const kernel = await bootTestKernel({ config: '[extensions]\npreset = "minimal"\n' });
    expect((await kernel.http.get('/api/templates')).status).to.equal(404);
    const refused = await kernel.http.post('/api/agents', { template: 'tutor' });
    expect([refused.status, refused.body.code]).to.deep.equal([404, 'template_not_found']);
    expect(refused.body.error).to.contain('switched off');
  });
});
