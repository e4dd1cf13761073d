/** Timers of an extension have names: shown, and given once. */
import type { ExtensionContext } from '@svc/api';
import { bootTestKernel, fixtureExtension, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

describe('timers of an extension', () => {
  let ctx: ExtensionContext;
  afterEach(stopTestKernels);

  const boot = (activate: (given: ExtensionContext) => void): Promise<TestKernel> =>
    bootTestKernel({
      config: '[extensions]\nenable = ["ticking"]\n',
      extra: [
        fixtureExtension({
          id: 'ticking',
          definition: {
            activate: (given) => {
              ctx = given;
              activate(given);
            },
          },
        }),
      ],
    });
  const statusOf = (kernel: TestKernel) => kernel.daemon.kernel.extensions().find(({ id }) => id === 'ticking');
  const codeOf = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      return String((error as { code?: string }).code);
    }
    return 'nothing was thrown';
  };

  it('are shown by name, with how often they beat', async () => {
    const kernel = await boot((given) => given.timers.every('count-sheep', 60_000, () => undefined));
    ctx.timers.after('wake-up', 90_000, () => undefined);
    expect(statusOf(kernel)?.contributes.timer).to.deep.equal(['count-sheep every 60000 ms', 'wake-up after 90000 ms']);
  });

  it('have one name each: a second is refused until the first has fired or is gone', async () => {
    await boot((given) => given.timers.every('count-sheep', 60_000, () => undefined));
    expect(codeOf(() => ctx.timers.every('count-sheep', 1, () => undefined))).to.equal('daemon_timer_twice');
    const first = ctx.timers.after('wake-up', 90_000, () => undefined);
    expect(codeOf(() => ctx.timers.after('wake-up', 1, () => undefined))).to.equal('daemon_timer_twice');
    await first.dispose();
    await new Promise<void>((fired) => ctx.timers.after('wake-up', 1, fired));
    expect(codeOf(() => ctx.timers.after('wake-up', 90_000, () => undefined))).to.equal('nothing was thrown');
    expect(codeOf(() => ctx.timers.after('Wake up', 1, () => undefined))).to.equal('daemon_timer_name');
  });

  it('with one name twice do not start, and the extension says so', async () => {
    const kernel = await boot((given) => {
      given.timers.every('count-sheep', 60_000, () => undefined);
      given.timers.every('count-sheep', 30_000, () => undefined);
    });
    expect(statusOf(kernel)).to.include({ state: 'failed' });
    expect(statusOf(kernel)?.reason).to.contain('count-sheep');
  });
});
