import { type CapabilityDecl, defineCapability, type ExtensionContext } from '@svc/api';
import type { Contributions, Manifest } from '@svc/api/internal';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const Read = defineCapability('calendar_read', '1.0.0', { description: 'Read calendars', grant: 'names' });
const Share = defineCapability('calendar_share', '1.0.0', { description: 'Share them', grant: 'flag' });

interface Calendar {
  readonly manifest?: Partial<Manifest>;
  readonly contributions?: Partial<Contributions>;
  readonly code?: readonly CapabilityDecl[];
}
const WHOLE: Calendar = { manifest: { capabilities: ['calendar_read', 'calendar_share'] }, contributions: { capabilities: [Read, Share] }, code: [Read, Share] };

const boot = async ({ manifest = {}, contributions = {}, code = [] }: Calendar) => {
  const seen: ExtensionContext[] = [];
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["calendar", "looker"]\n`,
    extra: [
      fixtureExtension({ id: 'calendar', manifest, contributions, definition: { capabilities: code, activate: () => undefined } }),
      fixtureExtension({ id: 'looker', definition: { activate: (ctx) => void seen.push(ctx) } }),
    ],
  });
  const namesFor = (): string[] => (seen.at(-1)?.capabilities.declared() ?? []).map(({ name }) => name);
  return { kernel, seen, namesFor, status: () => kernel.daemon.lifecycle.status('calendar') };
};

describe('an area that declares capabilities', () => {
  afterEach(stopTestKernels);

  it('is shown with them, and everybody knows what there is', async () => {
    const { status, namesFor } = await boot(WHOLE);
    expect(status().state).to.equal('active');
    expect(status().contributes.capability).to.deep.equal(['calendar_read: patterns of names', 'calendar_share: true or false']);
    expect(namesFor()).to.include.members(['calendar_read', 'calendar_share']);
  });

  it('is known by them while it is off, and after a reload', async () => {
    const { kernel, namesFor } = await boot(WHOLE);
    await kernel.daemon.lifecycle.disable('calendar');
    expect(namesFor()).to.include.members(['calendar_read', 'calendar_share']);
    await kernel.daemon.lifecycle.enable('calendar');
    await kernel.daemon.lifecycle.reload('calendar');
    expect(namesFor()).to.include.members(['calendar_read', 'calendar_share']);
  });

  it('does not start where code, contributions and manifest do not say the same', async () => {
    const where = 'contributions.json together with extension.json';
    const cases: ReadonlyArray<readonly [Calendar, string]> = [
      [{ ...WHOLE, code: [Read] }, `${where} declares the capability calendar_share: true or false, which it does not add`],
      [{ ...WHOLE, code: [Read, { ...Share, grant: 'names' }] }, `it adds the capability calendar_share: patterns of names, which ${where} does not declare`],
      [{ ...WHOLE, manifest: { capabilities: ['calendar_read'] } }, `it adds the capability calendar_share: true or false, which ${where} does not declare`],
      [{ ...WHOLE, contributions: { capabilities: [Read] } }, `it adds the capability calendar_share: true or false, which ${where} does not declare`],
      [{ code: [Read] }, `it adds the capability calendar_read: patterns of names, which ${where} does not declare`],
      [{ manifest: { capabilities: ['calendar_read'] }, contributions: { capabilities: [] } }, `${where} declares the capability calendar_read, which it does not add`],
    ];
    for (const [calendar, reason] of cases) {
      const { status } = await boot(calendar);
      expect([status().state, status().reason]).to.deep.equal(['failed', reason]);
      await stopTestKernels();
    }
  });

  it('says nothing to a generation that has ended', async () => {
    const { kernel, seen } = await boot(WHOLE);
    await kernel.daemon.lifecycle.disable('looker');
    expect(() => seen[0]?.capabilities.declared())
      .to.throw()
      .with.property('code', 'daemon_extension_stopped');
  });
});
