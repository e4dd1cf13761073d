/** What a home of an earlier build meets: its migrations as they were applied. A changed one would keep its area from starting. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

/** Bookkeeping table, migration, and the hash of its steps when it shipped. New ones are added; none is ever changed. */
const SHIPPED = [
  ['agents__migrations', '0001_tables', '879ca1b4c26fa30d73b4e57b8f95fe6e70b3561585292e51cd4473f20aa07ee1'],
  ['approvals__migrations', '0001_tables', 'ddad9f8eadf66e2beaf9a9914c005c4fc165844b47cc35bdf9d1b7549bfdb5b0'],
  ['auth__migrations', '0001_tables', '27346a271b872d175464e85fe5cb8e10b16aee5a2b2b85472e00f6dc2feec1b2'],
  ['channels__migrations', '0001_tables', '184c621ce806e12c075cfe8b72ded8aa5449b0b55859c8c1c2f1fed15619012e'],
  ['goals__migrations', '0001_tables', 'c304d7e032c8e2156cf3cee1826f8ede49ccbc17b30ce76a39295937f314bda4'],
  ['journal__migrations', '0001_tables', 'cebbc3c9707282f2d0d0193f963d4db622057b645a8ae3f200dd94c5ae292a2c'],
  ['kernel__migrations', '0001_tables', '515e57aa93b17ff1323171e1b79f28f09c20db2be27f42c20f68b1af5b789f73'],
  ['llm__migrations', '0001_tables', '0c65048ee859d60de4286e9c5c4da92b8e05306d97dfeb1d63875c3b0c968e2b'],
  ['memory__migrations', '0001_tables', '00381da34b8c3d5be35c16349c8f006196e0549c50d52e95fc0cba6e37ac7100'],
  ['providers__migrations', '0001_tables', 'c470a8c6c900f6b1ac790af2582f91bf62791aa77355e9a38da5b1e08aa6633e'],
  ['sessions__migrations', '0001_tables', '2b424b467cc28ec22395d47d5b9e89afcc7a58b28425f507380fd8c875985c2b'],
  ['tools__migrations', '0001_tables', '7d32baf28b9c8683de899f6d70d26d030bd33899ef227025c99fa89417d65a69'],
  ['triggers__migrations', '0001_tables', '74f7488d1212498376093e724c2a98112cbbfbece06ab786fba890e2113a1ae8'],
  ['webhooks__migrations', '0001_tables', '23a5e3c828ae76607f6eb6451f6298aa3fa0feb848d57e039adfe020154f3bd0'],
  ['workflows__migrations', '0001_tables', '1c5f94784cf8573bfa41eeeebadccdcd34646f0eb76d91e3dc72793b6ebe2591'],
] as const;

describe('migrations that have shipped', () => {
  afterEach(stopTestKernels);

  it('are what they were, each of them', async () => {
    const { daemon } = await bootTestKernel();
    const applied = daemon.parts.storage.appliedMigrations();
    expect(SHIPPED.map(([book, name]) => [book, name, applied.get(book)?.get(name)])).to.deep.equal(SHIPPED);
  });
});
