/** What a home of an earlier build meets: its migrations as they were applied. A changed one would keep its area from starting. */
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

/** Bookkeeping table, migration, and the hash of its steps when it shipped. New ones are added; none is ever changed. */
const SHIPPED = [
  ['agents__migrations', '0001_init', '88a6e52e98600b98aede6e702a75d79e43fa0f36991bb97b05381bb6fd23dc95'],
  ['journal__migrations', '0001_init', '75e8b5513c05e980dd1fb9f4835d9cd1069930727966c2f258bc236f48bd8b07'],
  ['journal__migrations', '0002_interrupts', '5fd1087be4665c01ffaa5280d7d88e086ea7eaedccc947a0b86e9dfd1a5692b8'],
  ['journal__migrations', '0002_subject', 'b00b76f11108032d2e0c78da782e69597b6d73b59da5ed45a86905e2553b9b94'],
  ['kernel__migrations', '0001_choices', '1163d123ba23d44a2d303ba248db87116be6c250fc66a480226aca6c88bfd8dc'],
  ['kernel__migrations', '0002_offsets', '59b7a5fd7087a795612e0e5abc90bcccb821e04ba03ba41fab889d863684efe9'],
  ['kernel__migrations', '0003_leases', 'd894112034bf0960139abc44ce06dfb153bfe85e19e2e6beb01b4e5d0a5c4ab6'],
  ['kernel__migrations', '0004_purges', '3b131b98eb30db54d1115ab860a99b5ae4a7b02dfad114e46065a194b7f70aa4'],
  ['llm__migrations', '0001_init', '0f4c9122fccdd2fc4cc56a3d43467645c5dc8a1f683a7c400162d1745463dfcb'],
  ['providers__migrations', '0001_init', '0aabad4acab78297177b80f9f8fa56a521649e8f3dd8d6189c6024c06a796a83'],
  ['providers__migrations', '0002_defaults', 'bdd38b37cb57fcdec21f689ebdcb9901d6e96b1f1a5dfd5967d516af51f68b70'],
  ['sessions__migrations', '0001_init', 'fe7d0664ef21069c99508460fb9a53f0ed2ed84c8dad979ce3fb677b24402110'],
  ['sessions__migrations', '0002_thinking', '93264ee5c178daa961007f0b14f37a3b2afa31b2e1ca3a8f0647a81bbc8d7bac'],
] as const;

describe('migrations that have shipped', () => {
  afterEach(stopTestKernels);

  it('are what they were, each of them', async () => {
    const { daemon } = await bootTestKernel();
    const applied = daemon.parts.storage.appliedMigrations();
    expect(SHIPPED.map(([book, name]) => [book, name, applied.get(book)?.get(name)])).to.deep.equal(SHIPPED);
  });
});
