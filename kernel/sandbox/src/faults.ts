/** Why bubblewrap does not work on this machine, and what a person does about it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface SandboxFault {
  /** Follows "There is no sandbox here: ". */
  readonly cause: string;
  /** A sentence. */
  readonly fix: string;
}

/** What the system says of itself. A setting that it does not have is undefined. */
export interface Facts {
  readonly platform: string;
  /** `ID` and `ID_LIKE` of /etc/os-release. */
  readonly distribution: readonly string[];
  /** kernel.apparmor_restrict_unprivileged_userns, since Ubuntu 23.10. */
  readonly appArmorRestricts: boolean;
  /** kernel.unprivileged_userns_clone = 0, of older Debian and of hardened kernels. */
  readonly isCloneForbidden: boolean;
  /** user.max_user_namespaces = 0. */
  readonly areNamespacesZero: boolean;
  readonly isContainer: boolean;
}

/** `said` is the first line that bubblewrap wrote; undefined where it is not installed. */
export const faultOf = (said: string | undefined, facts: Facts): SandboxFault => {
  if (facts.platform !== 'linux') return { cause: `there is no command sandbox on ${facts.platform} yet`, fix: 'Grant commands sparingly, or run the daemon on Linux.' };
  if (said === undefined) return { cause: 'bubblewrap is not installed', fix: `Install it: ${installCommand(facts.distribution)}` };
  // The settings first: bubblewrap's own words are the same for several of them.
  if (facts.areNamespacesZero) return { cause: `user namespaces are switched off (user.max_user_namespaces is 0; ${said})`, fix: 'sudo sysctl -w user.max_user_namespaces=15000' };
  if (facts.isCloneForbidden) return { cause: `user namespaces are limited to root (kernel.unprivileged_userns_clone is 0; ${said})`, fix: 'sudo sysctl -w kernel.unprivileged_userns_clone=1' };
  if (facts.appArmorRestricts && !facts.isContainer) return { cause: `AppArmor blocks user namespaces for bubblewrap (kernel.apparmor_restrict_unprivileged_userns is 1; ${said})`, fix: APPARMOR };
  if (facts.isContainer) return { cause: `the container's seccomp profile or masked /proc blocks namespaces for the daemon (${said})`, fix: CONTAINER };
  return { cause: said, fix: 'Run the daemon where user namespaces are allowed, as a user of its own.' };
};

const APPARMOR =
  "Give bubblewrap a profile: printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap";
const CONTAINER =
  'Start the container with a seccomp profile that allows unshare, mount and pivot_root, and with --security-opt systempaths=unconfined; or treat the container as the sandbox and set [tools] sandbox = "off".';

const installCommand = (distribution: readonly string[]): string => {
  const has = (...names: string[]): boolean => names.some((name) => distribution.includes(name));
  if (has('debian', 'ubuntu')) return 'sudo apt-get install bubblewrap';
  if (has('fedora', 'rhel', 'centos')) return 'sudo dnf install bubblewrap';
  if (has('arch')) return 'sudo pacman -S bubblewrap';
  if (has('alpine')) return 'sudo apk add bubblewrap';
  if (has('suse', 'opensuse')) return 'sudo zypper install bubblewrap';
  return 'the package is called bubblewrap in every distribution';
};

export const readFacts = async (): Promise<Facts> => {
  const setting = async (path: string): Promise<string | undefined> => (await readFile(path, 'utf8').catch(() => undefined))?.trim();
  const [release = '', restrict, clone, most] = await Promise.all([
    setting('/etc/os-release'),
    setting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    setting('/proc/sys/kernel/unprivileged_userns_clone'),
    setting('/proc/sys/user/max_user_namespaces'),
  ]);
  const names = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, value = '']) => value.split(' '));
  return {
    platform: process.platform,
    distribution: names,
    appArmorRestricts: restrict === '1',
    isCloneForbidden: clone === '0',
    areNamespacesZero: most === '0',
    isContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  };
};
