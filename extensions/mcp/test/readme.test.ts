/** What the README says: a server from the catalog, a folder, and an assistant that says what is in it. */
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { type Bench, createBench } from '../../../kernel/cli/test/program.js';

const SERVER = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
/** Starts what npm would download. */
const NPX = `#!/bin/sh\n[ "$1 $2" = "-y @modelcontextprotocol/server-filesystem@latest" ] || exit 7\nshift 2\nexec '${process.execPath}' '${SERVER}' "$@"\n`;

describe('the first MCP server of the README', function () {
  this.timeout(60_000);
  let bench: Bench;
  let world: ModelKernel;
  before(async () => {
    bench = createBench(45_998);
    const bin = join(bench.home, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'npx'), NPX);
    await chmod(join(bin, 'npx'), 0o755);
    await mkdir(join(bench.home, 'notes'));
    await writeFile(join(bench.home, 'notes/shopping.txt'), 'milk and bread');
    world = await bootWithModel(undefined, { home: bench.home, config: `${OPEN_RATE}[approval]\nrequire_approval = ["mcp_*"]\n`, env: { PATH: `${bin}:${process.env.PATH}` } });
  });
  after(async () => {
    await stopModelKernels();
    bench.clean();
  });

  it('is given a folder, asks before each call, says what is in it, and is in the audit', async () => {
    const { http, model, agent } = world;
    expect(readFileSync('README.md', 'utf8')).to.include('`svc mcp add filesystem`');
    const [, line = ''] = /^Try it: +svc (mcp add filesystem .*) && svc mcp list$/m.exec(readFileSync('extensions/mcp/README.md', 'utf8')) ?? [];
    const ran = await bench.run(line.split(' '), { env: { SVC_PORT: String(world.kernel.daemon.port) } });
    expect(ran.stdout + ran.stderr).to.match(/filesystem is connected and has \d+ tools/);

    const folder = join(bench.home, 'notes');
    model.beginAnew(({ body }) => {
      const last = body.messages.at(-1);
      return last.role === 'tool' ? { text: `In the folder: ${JSON.stringify(last.content)}` } : { toolCalls: [{ name: 'mcp_filesystem_list_directory', args: { path: folder } }] };
    });
    const { body: asked } = await http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'What is in my notes folder?' });
    expect(asked.waiting, JSON.stringify(asked)).to.have.property('approval_id');
    const { body: approval } = await http.expect(200, 'GET', `/api/approvals/${asked.waiting.approval_id}`);
    expect(JSON.stringify(approval)).to.include('mcp_filesystem_list_directory').and.include(folder);
    // Nothing was called before somebody said yes.
    const server = async () => (await http.expect(200, 'GET', '/api/mcp/servers/filesystem')).body;
    expect((await audited()).length).to.equal(0);
    await http.expect(200, 'POST', `/api/approvals/${asked.waiting.approval_id}/approve`, {});
    await until(async () => (await http.expect(200, 'GET', `/api/runs/${asked.waiting.run_id}`)).body.status === 'done');

    const { body: session } = await http.expect(200, 'GET', `/api/agents/${agent.id}/session`);
    expect(JSON.stringify(session.messages.at(-1)))
      .to.include('In the folder')
      .and.include('shopping.txt');
    // The audit is written after the run has ended.
    await until(async () => (await audited()).length > 0);
    const [call, ...more] = await audited();
    expect(more).to.deep.equal([]);
    expect(call).to.deep.include({ agent_id: agent.id, outcome: 'ok' });
    expect(JSON.parse(call.details)).to.include({ tool: 'mcp_filesystem_list_directory', status: 'completed' });
    expect(await server()).to.include({ status: 'connected', template_id: 'filesystem' });
  });

  const audited = async () => {
    const { body } = await world.http.expect(200, 'GET', '/api/audit/recent?limit=200&event_type=tool_invoked');
    return body.entries.filter(({ details }: { details: string }) => details.includes('mcp_filesystem'));
  };
});
