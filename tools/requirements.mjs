/** What this program needs from the machine it runs on, each as one sentence a person can act on. */

const [MAJOR, MINOR] = process.versions.node.split('.').map(Number);

/** The same range as `engines` in package.json: ^20.19.0 || >=22.12.0. */
export const nodeProblem = (major = MAJOR, minor = MINOR) => {
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  return fits ? undefined : `svc needs Node.js 20.19 or newer in the 20 series, or 22.12 or newer; this is ${major}.${minor}. Install one from https://nodejs.org and try again.`;
};

export const platformProblem = (platform = process.platform) =>
  platform === 'win32' ? 'svc does not run on Windows itself; open a WSL 2 terminal (https://learn.microsoft.com/windows/wsl/install), put the checkout there and try again.' : undefined;
