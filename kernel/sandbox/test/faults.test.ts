import { type Facts, faultOf } from '@svc/sandbox';
import { expect } from 'chai';

const facts: Facts = { platform: 'linux', distribution: ['debian'], appArmorRestricts: false, isCloneForbidden: false, areNamespacesZero: false, isContainer: false };
const SAID = 'bwrap: setting up uid map: Permission denied';

describe('why there is no sandbox', () => {
  const cases: ReadonlyArray<[name: string, said: string | undefined, more: Partial<Facts>, cause: RegExp, fix: RegExp]> = [
    ['bubblewrap is not installed, on Debian', undefined, {}, /^bubblewrap is not installed$/, /apt-get install bubblewrap/],
    ['bubblewrap is not installed, on Fedora', undefined, { distribution: ['fedora'] }, /not installed/, /dnf install/],
    ['bubblewrap is not installed, on a system nobody knows', undefined, { distribution: [] }, /not installed/, /called bubblewrap/],
    ["AppArmor's rule of Ubuntu", SAID, { appArmorRestricts: true }, /^AppArmor .*apparmor_restrict_unprivileged_userns is 1; bwrap: setting up/, /apparmor_parser/],
    ['user namespaces are limited to root', SAID, { isCloneForbidden: true }, /unprivileged_userns_clone is 0/, /unprivileged_userns_clone=1/],
    ['there are no user namespaces at all', SAID, { areNamespacesZero: true, isContainer: true }, /max_user_namespaces is 0/, /max_user_namespaces=/],
    ['a container forbids them', SAID, { isContainer: true }, /container's seccomp profile/, /seccomp profile that allows unshare/],
    ['what nobody foresaw is what bubblewrap said', SAID, {}, /^bwrap: setting up uid map: Permission denied$/, /user namespaces are allowed/],
    ['macOS has none', undefined, { platform: 'darwin' }, /no command sandbox on darwin/, /sparingly/],
  ];
  for (const [name, said, more, cause, fix] of cases) {
    it(`${name}: the cause and the fix`, () => {
      const fault = faultOf(said, { ...facts, ...more });
      expect(fault.cause).to.match(cause);
      expect(fault.fix).to.match(fix);
    });
  }
});
