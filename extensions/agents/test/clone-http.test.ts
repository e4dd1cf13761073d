import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootWithPeople, madeBy } from './people-kit.js';

const GROUND = '[capabilities]\ntools = ["file_read"]\nnetwork = ["*.example.org"]\n[metadata.identity]\nemoji = "🦉"\n';

describe('a clone', () => {
  afterEach(stopModelKernels);

  it('L2 of a busy agent has its manifest, looks and identity files, and a session, workspace and mode of its own', async () => {
    const { alice, kernel, model } = await bootWithPeople({ hang: true });
    const path = await madeBy(alice, 'owl', GROUND);
    const source = (await alice.expect(200, 'GET', path)).body;
    const folder = join(kernel.home, 'workspaces', source.id);
    await mkdir(join(folder, '.identity'), { recursive: true });
    await writeFile(join(folder, '.identity', 'SOUL.md'), 'calm');
    await writeFile(join(folder, 'MEMORY.md'), 'm'.repeat(32 * 1024 + 1));
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await symlink('/etc/passwd', join(folder, '.identity', 'USER.md'));
    await alice.expect(200, 'PUT', `${path}/mode`, { mode: 'Stable' });
    const busy = alice.post(`${path}/message`, { message: 'think' });
    await until(() => model.requests.length === 1);

    const { body } = await alice.expect(201, 'POST', `${path}/clone`, {});
    expect(body.name).to.equal('owl-copy');
    expect(body.warnings.join()).to.contain('MEMORY.md was not copied');
    const clone = (await alice.expect(200, 'GET', `/api/agents/${body.agent_id}`)).body;
    for (const key of ['capabilities', 'identity', 'system_prompt', 'tags', 'tool_allowlist', 'resources']) expect(clone[key], key).to.deep.equal(source[key]);
    expect(clone.model.asked).to.deep.equal(source.model.asked);
    expect(clone).to.deep.include({ mode: 'Normal', pinned_model: null, state: 'Running', parent_agent_id: null, has_processed_message: false });
    expect(clone.session_id).not.to.equal(source.session_id);
    const copied = join(kernel.home, 'workspaces', clone.id);
    expect(await readdir(copied, { recursive: true })).to.have.members(['.identity', join('.identity', 'SOUL.md')]);
    expect(await readFile(join(copied, '.identity', 'SOUL.md'), 'utf8')).to.equal('calm');
    await alice.expect(200, 'POST', `${path}/stop`);
    await busy;
  });

  it('without a name is numbered, and with one that is taken, too long or none is refused', async () => {
    const { alice } = await bootWithPeople();
    const path = await madeBy(alice, 'owl');
    const names = [];
    for (let copy = 0; copy < 3; copy++) names.push((await alice.expect(201, 'POST', `${path}/clone`)).body.name);
    expect(names).to.deep.equal(['owl-copy', 'owl-copy-2', 'owl-copy-3']);
    const codes = async (new_name: unknown) => {
      const { status, body } = await alice.post(`${path}/clone`, { new_name });
      return [status, body.code];
    };
    expect(await codes('owl')).to.deep.equal([409, 'agent_already_exists']);
    expect(await codes('x'.repeat(257))).to.deep.equal([413, 'agents_field_too_long']);
    expect(await codes('')).to.deep.equal([400, 'agents_invalid_manifest']);
    expect(await codes('a\nb')).to.deep.equal([400, 'agents_invalid_manifest']);
    expect((await codes(7))[0]).to.equal(400);
    expect((await alice.post(`${path}/clone`, { name: 'x' })).status).to.equal(400);
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(4);
    const long = await madeBy(alice, 'y'.repeat(256));
    expect((await alice.expect(201, 'POST', `${long}/clone`)).body.name).to.have.length(256);
  });

  it('of several at once each gets a name', async () => {
    const { alice } = await bootWithPeople();
    const path = await madeBy(alice, 'owl');
    const made = await Promise.all(Array.from({ length: 4 }, () => alice.expect(201, 'POST', `${path}/clone`)));
    expect(new Set(made.map(({ body }) => body.name)).size).to.equal(4);
  });

  it('may be left without tools and skills', async () => {
    const { alice } = await bootWithPeople();
    const path = await madeBy(alice, 'owl', GROUND);
    const { agent_id } = (await alice.expect(201, 'POST', `${path}/clone`, { new_name: 'talker', include_tools: false, include_skills: false })).body;
    const clone = (await alice.expect(200, 'GET', `/api/agents/${agent_id}`)).body;
    expect([clone.name, clone.tools_disabled, clone.skills_disabled]).to.deep.equal(['talker', true, true]);
  });

  it('L1 belongs to whoever made it, and is validated as theirs', async () => {
    const { owner, adam, alice, kernel } = await bootWithPeople();
    const hers = await madeBy(alice, 'hers');
    const { agent_id } = (await adam.expect(201, 'POST', `${hers}/clone`)).body;
    expect((await alice.get(`/api/agents/${agent_id}`)).status).to.equal(404);
    expect((await adam.get(`/api/agents/${agent_id}`)).status).to.equal(200);

    const file = join(kernel.home, 'config.toml');
    await writeFile(file, `${await readFile(file, 'utf8')}\n[capabilities]\nadmin = ["network"]\n`);
    await kernel.daemon.reloadConfig('test');
    const root = await madeBy(owner, 'root', '[capabilities]\nshell = ["*"]\n');
    const rootId = root.split('/').at(-1) ?? '';
    await mkdir(join(kernel.home, 'workspaces', rootId), { recursive: true });
    await writeFile(join(kernel.home, 'workspaces', rootId, 'SOUL.md'), 'x');
    const refused = await adam.post(`${root}/clone`, {});
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'agents_spawn_denied']);
    expect(await readdir(join(kernel.home, 'workspaces'))).to.deep.equal([rootId]);
  });

  it('L3 leaves no files where its name is taken', async () => {
    const { owner, kernel } = await bootWithPeople();
    const path = await madeBy(owner, 'owl');
    const id = path.split('/').at(-1) ?? '';
    await mkdir(join(kernel.home, 'workspaces', id), { recursive: true });
    await writeFile(join(kernel.home, 'workspaces', id, 'SOUL.md'), 'x');
    expect((await owner.post(`${path}/clone`, { new_name: 'owl' })).status).to.equal(409);
    expect(await readdir(join(kernel.home, 'workspaces'))).to.deep.equal([id]);
  });

  it('is one clone, however often the request is sent with its key', async () => {
    const { alice } = await bootWithPeople();
    const path = await madeBy(alice, 'owl');
    const key = { 'idempotency-key': 'k' };
    const [one, two] = await Promise.all([alice.post(`${path}/clone`, {}, key), alice.post(`${path}/clone`, {}, key)]);
    const three = await alice.post(`${path}/clone`, {}, key);
    expect(new Set([one, two, three].map(({ body }) => body.agent_id)).size).to.equal(1);
    expect((await alice.post(`${path}/clone`, { new_name: 'other' }, key)).status).to.equal(409);
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(2);
  });
});
