/** `svc auth codeassist` as a person types it. */
import { startDeviceLoginServer, type DeviceLoginServer, USER_CODE } from '@svc/fixtures/providers/device-login-server';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type Bench, createBench } from '../../../kernel/cli/test/program.js';

describe('svc auth', function () {
  this.timeout(60_000);
  let server: DeviceLoginServer;
  let bench: Bench;
  let kernel: TestKernel;
  const svc = (...args: string[]) => bench.run(['auth', ...args], { env: { SVC_PORT: String(kernel.daemon.port) } });
  before(async () => {
    server = await startDeviceLoginServer();
    server.timing(1, 900);
    bench = createBench(44_201);
    kernel = await bootTestKernel({ home: bench.home, config: `${OPEN_RATE}[codeassist]\nclient_id = "${server.clientId}"\nlogin_url = "${server.url}"\n` });
  });
  after(async () => {
    await stopTestKernels();
    bench.clean();
    await server.close();
  });

  it('shows the code, waits until a person agreed, and says so', async () => {
    const waiting = svc('codeassist');
    while (!server.asked.some(({ path }) => path === '/login/oauth/access_token')) await new Promise((resolve) => setTimeout(resolve, 50));
    server.decide('agreed');
    const { code, stdout, stderr } = await waiting;
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('https://github.com/login/device').and.contain(USER_CODE).and.contain('Logged in');
  });

  it('ends with an error where the login was refused, and without a wait where that is asked for', async () => {
    server.decide('denied');
    const refused = await svc('codeassist', '--json');
    expect(refused.code).to.equal(1);
    expect(JSON.parse(refused.stdout)).to.include({ code: 'cli_login_refused' });
    const shown = await svc('codeassist', '--no-wait', '--json');
    expect(JSON.parse(shown.stdout), shown.stderr).to.include({ user_code: USER_CODE, interval: 1 });
    expect((await svc('codeassist', '--no-wait')).stdout).to.contain('/api/providers/codeassist/oauth/poll/');
  });
});
