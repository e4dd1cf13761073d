/** What a hundred reloads leave on the heap: nothing that grows. Whole collections of a process with many tests behind it take seconds. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels } from '../clients/model-kernel.js';
import { echo } from './busy-clients.js';
import { areasOf, remains } from './generations.js';

const MAX_GROWTH_BYTES = 1_048_576;

/** Collected code is only gone after a few turns and collections. */
const heapBytes = async (gc: () => void): Promise<number> => {
  for (let round = 0; round < 6; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
};

const collector = (): (() => void) => {
  if (!globalThis.gc) throw new Error('the runner offers gc');
  return globalThis.gc;
};

describe('a hundred reloads', () => {
  afterEach(async () => {
    await stopTestKernels();
    await stopModelKernels();
  });

  it('of all areas in turn leave less than a megabyte, and no label', async function () {
    this.timeout(60_000);
    const gc = collector();
    const svc = await bootWithModel(echo);
    const areas = areasOf(svc);
    const reload = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++) await svc.kernel.daemon.lifecycle.reload(areas[n % areas.length] as string);
      await svc.kernel.daemon.lifecycle.settled();
    };
    // The first rounds fill what is bounded: prepared statements, validators, log rings.
    await reload(areas.length * 2);
    const growth = async (): Promise<number> => {
      const before = await heapBytes(gc);
      await reload(100);
      return (await heapBytes(gc)) - before;
    };
    const grown = await growth();
    // What is kept for each reload is kept for the next hundred too; compiled code is not.
    expect(grown < MAX_GROWTH_BYTES ? grown : await growth()).to.be.below(MAX_GROWTH_BYTES);
    expect(await remains(svc)).to.deep.equal([]);
  });

  it('of one area leave less than a megabyte, and no label', async function () {
    this.timeout(60_000);
    const gc = collector();
    const kernel = await bootTestKernel();
    const reload = async (times: number) => {
      for (let i = 0; i < times; i++) await kernel.daemon.kernel.reload('runs');
      await kernel.daemon.lifecycle.settled();
      gc();
      gc();
      return process.memoryUsage().heapUsed;
    };
    await reload(20);
    const before = await reload(5);

    const after = await reload(100);

    expect(after - before).to.be.below(MAX_GROWTH_BYTES);
    expect(kernel.daemon.kernel.extensions().flatMap((one) => one.leaks)).to.deep.equal([]);
    expect(kernel.daemon.kernel.extensions().find((one) => one.id === 'runs')?.generation).to.equal(126);
  });
});
