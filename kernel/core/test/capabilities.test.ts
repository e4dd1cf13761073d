import { type CapabilityDecl, defineCapability } from '@svc/api';
import type { Contributions, Manifest } from '@svc/api/internal';
import { expect } from 'chai';
import { declaredCapabilities, describeCapability } from '../src/installed/capabilities.js';
import type { Installed } from '../src/installed/installed.js';
import { createInstalledStore } from '../src/installed/installed-store.js';
import { resolve } from '../src/installed/resolver.js';

const Read = defineCapability('calendar_read', '1.0.0', { description: 'Read calendars', grant: 'names' });
const Share = defineCapability('calendar_share', '1.0.0', { description: 'Share them', grant: 'flag' });
const nothing: Contributions = { routes: [], sockets: [], tools: [], timers: [], migrations: [], config: {}, capabilities: [] };
const manifestOf = (id: string, names: readonly string[]): Manifest => ({ manifest: 1, id, api: '*', capabilities: [...names] });
const installed = (id: string, capabilities: readonly CapabilityDecl[], names = capabilities.map(({ name }) => name)): Installed => ({
  id,
  version: '1.0.0',
  description: id,
  bundled: false,
  manifest: manifestOf(id, names),
  contributions: { ...nothing, capabilities },
  load: () => Promise.reject(new Error('nothing is loaded to judge a capability')),
});

describe('the capabilities of what is installed', () => {
  it('are read from data, whether or not it runs, and follow what is installed', () => {
    const store = createInstalledStore([installed('calendar', [Read, Share])]);
    const declared = declaredCapabilities(store);
    expect(declared()).to.deep.equal([Read, Share]);
    expect(declared()).to.equal(declared());
    store.put(installed('calendar', [Read]));
    expect(declared()).to.deep.equal([Read]);
    store.remove('calendar');
    expect(declared()).to.deep.equal([]);
  });

  it('are what manifest and contributions say together, and nothing that only looks like one', () => {
    const shell = { ...Share, name: 'shell' };
    const odd: CapabilityDecl = JSON.parse(JSON.stringify({ ...Share, name: 'calendar_odd', grant: 'everything' }));
    const store = createInstalledStore([
      installed('unnamed', [Read], []),
      installed('empty', [], ['calendar_share']),
      installed('sly', [shell, odd]),
      installed('twice', [Read, { ...Read, version: '2.0.0' }]),
    ]);
    expect(declaredCapabilities(store)().map(({ name }) => name)).to.deep.equal(['calendar_read']);
  });

  it('belong to whoever was installed first, although it is off', () => {
    const rival = { ...Read, description: 'Mine' };
    const store = createInstalledStore([installed('calendar', [Read]), installed('rival', [rival])]);
    expect(declaredCapabilities(store)()).to.deep.equal([Read]);
    const manifests = store.all().map(({ manifest }) => manifest);
    expect([...resolve(manifests.slice(1), manifests, { apiVersion: '1.0.0' }).blocked]).to.deep.equal([['rival', 'it claims the capability calendar_read, which calendar has']]);
  });

  it('are nobody’s where the interface has the name, or every object', () => {
    for (const name of ['shell', 'network', 'max_tokens', '__proto__', 'constructor']) {
      const sly = manifestOf('sly', [name]);
      expect([...resolve([sly], [sly], { apiVersion: '1.0.0' }).blocked.values()].join(), name).to.match(/^it claims the capability .*, which is (the interface's own|not a valid capability name)/);
      expect(declaredCapabilities(createInstalledStore([installed('sly', [{ ...Share, name }])]))(), name).to.deep.equal([]);
    }
  });

  it('are handed out frozen, and apart from what was installed', () => {
    const loose = { ...Read };
    const [first] = declaredCapabilities(createInstalledStore([installed('calendar', [loose])]))();
    expect(Object.isFrozen(first)).to.equal(true);
    expect(Object.isFrozen(loose)).to.equal(false);
  });

  it('are described with their form, so that another form is another one', () => {
    expect([Read, Share].map(describeCapability)).to.deep.equal(['calendar_read: patterns of names', 'calendar_share: true or false']);
  });
});
