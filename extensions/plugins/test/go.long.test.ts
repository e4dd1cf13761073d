/** A plugin in Go: it compiles for up to a minute, before its first message. */
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('a plugin in Go', function () {
  this.timeout(180_000);
  after(() => stopTestKernels());

  it('is compiled when it is made, and answers within seconds', async function () {
    const { http } = await bootTestKernel({ config: OPEN_RATE });
    const { runtimes } = (await http.expect(200, 'GET', '/api/plugins/doctor')).body;
    if (!runtimes.find(({ runtime }: { runtime: string }) => runtime === 'go').available) {
      Object.assign(this.test ?? {}, { skipReason: 'no Go here' });
      return this.skip();
    }
    await http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'first-go', runtime: 'go', description: 'A plugin of the tests.' });
    await http.expect(200, 'POST', '/api/plugins/prewarm', {});
    for (const hook of ['ingest', 'after_turn']) {
      const { body } = await http.expect(200, 'POST', '/api/plugins/first-go/test-hook', { hook });
      expect(body, JSON.stringify(body)).to.include({ success: true });
      expect(body.elapsed_ms, 'it was compiled before').to.be.below(10_000);
    }
  });
});
