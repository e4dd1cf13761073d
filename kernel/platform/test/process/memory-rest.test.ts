import { expect } from 'chai';
import { createMemoryRest } from '../../src/process/memory-rest.js';

const MB = 1_048_576;

describe('memory after a busy time', () => {
  /** Looks with so much CPU between each of them; gives after which looks garbage was collected. */
  const looks = async (cpuPerLook: readonly number[], heap: { bytes: number; after: number }, grownTo: number): Promise<number[]> => {
    let cpu = 0;
    let at = 0;
    const collected: number[] = [];
    const rest = createMemoryRest({
      log: { debug: () => undefined, warn: () => undefined },
      cpuMs: () => cpu,
      heapBytes: () => heap.bytes,
      collect: async () => {
        collected.push(at);
        heap.bytes = heap.after;
      },
    });
    heap.bytes = grownTo;
    for (const ms of cpuPerLook) {
      at += 1;
      cpu += ms;
      await rest.look();
    }
    return collected;
  };
  const resting = (count: number): number[] => Array.from({ length: count }, () => 20);

  it('is given back at rest, and never while there is work', async () => {
    expect(await looks([1_000, 1_000, 1_000, ...resting(4)], { bytes: 30 * MB, after: 32 * MB }, 200 * MB)).to.deep.equal([6]);
    expect(
      await looks(
        Array.from({ length: 40 }, (_, n) => (n % 3 === 0 ? 400 : 20)),
        { bytes: 30 * MB, after: 32 * MB },
        200 * MB,
      ),
    ).to.deep.equal([]);
  });

  it('is given back again when what was kept for a while has gone, and then not before it was busy again', async () => {
    expect(await looks([1_000, ...resting(30), 1_000, ...resting(30)], { bytes: 30 * MB, after: 60 * MB }, 200 * MB)).to.deep.equal([4, 10]);
  });

  it('is given back after the start, which is a busy time', async () => {
    expect(await looks(resting(40), { bytes: 100 * MB, after: 50 * MB }, 100 * MB)).to.deep.equal([3, 9]);
  });

  it('is left alone where it has not grown since', async () => {
    expect(await looks([...resting(20), 1_000, ...resting(20)], { bytes: 100 * MB, after: 90 * MB }, 100 * MB)).to.deep.equal([3, 9]);
  });

  it('that cannot be given back is said in the log, and harms nothing', async () => {
    const said: string[] = [];
    let cpu = 0;
    let bytes = 30 * MB;
    const rest = createMemoryRest({
      log: { debug: () => undefined, warn: (message) => void said.push(message) },
      cpuMs: () => cpu,
      heapBytes: () => bytes,
      collect: () => Promise.reject(new Error('no inspector here')),
    });
    bytes = 300 * MB;
    for (const ms of [1_000, ...resting(3)]) {
      cpu += ms;
      await rest.look();
    }
    expect(said).to.have.length(1);
  });
});
