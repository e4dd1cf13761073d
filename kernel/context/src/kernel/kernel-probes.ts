/** What the kernel itself reports: the database, the settings, the listen address. */
import { DoctorCheck, type DoctorFinding, HealthProbe, KernelGreet, type KernelView, type SandboxState } from '@svc/api';
import { type HookRegistry, Lifetime, type Contributor } from '@svc/core';
import type { ProxyLook } from '@svc/platform/adapters/fetch/proxy-look';
import { homeFindings } from '@svc/platform/config/checks/home-checks';
import { configFileFinding, listenFinding, settingsFinding, variablesFinding } from '@svc/platform/config/checks/settings-checks';
import { allClaims } from '@svc/platform/config/claims';
import { type ShownByAncestor, shownByAncestors } from '@svc/platform/config/environment/own-environment';
import { exposedPaths } from '@svc/platform/config/privacy';
import type { ContextParts } from '../parts.js';
import type { Waiting } from '@svc/platform/purge/purge-registry';

const PRIVACY_FIX = 'svc doctor --fix';

/** The kernel as an owner of taps. It is never unloaded. */
export const kernelContributor = (): Contributor => ({ id: 'kernel', generation: 1, lifetime: new Lifetime('kernel'), build: 'kernel' });

type ProbeParts = Pick<ContextParts, 'execAdapter' | 'fetchAdapter' | 'storage' | 'config' | 'claims' | 'env' | 'home' | 'purges' | 'audit'>;

export function tapProbes(owner: Contributor, hooks: HookRegistry, parts: ProbeParts, view: () => KernelView, listen: () => { host: string; port: number; hasKey: boolean }): void {
  hooks.tap(owner, HealthProbe, async () => {
    await parts.storage.ping();
    const problem = parts.storage.identityProblem();
    return problem === undefined ? { name: 'database', status: 'ok' } : { name: 'database', status: 'warn', detail: problem };
  });
  hooks.tap(owner, DoctorCheck, async () => [
    ...settingsFindings(parts, listen()),
    ...(await homeFindings(parts.home)),
    sandboxFinding(await parts.execAdapter.sandbox()),
    ...proxyFindings(await parts.fetchAdapter.proxies()),
    environmentFinding(await shownByAncestors(parts.env)),
    ...(await databaseFindings(parts)),
    extensionsFinding(view()),
    isolationFinding(view()),
    trustFinding(view()),
    ...auditFindings(parts.audit.failures()),
    ...(await waitingFacts(parts.audit, view())),
  ]);
  hooks.tap(owner, KernelGreet, async () => (await exposedPaths(parts.home)).map(({ what }) => ({ label: 'care', value: `${what}.`, note: PRIVACY_FIX })));
  hooks.taps.swap(undefined, owner);
}

function settingsFindings({ config, claims, env, home }: ProbeParts, { host, port, hasKey }: { host: string; port: number; hasKey: boolean }): DoctorFinding[] {
  const problems = config.problems();
  return [
    configFileFinding(home.configFile, { exists: config.hasFile(), isRead: config.isFileRead(), problems }),
    settingsFinding(problems),
    listenFinding({ host, port }, { hasKey, shown: `${host}:${port}`, isFromEnv: home.port !== undefined }),
    variablesFinding(allClaims(claims()), (section) => config.get(section), env),
  ];
}

async function databaseFindings({ storage, purges }: ProbeParts): Promise<DoctorFinding[]> {
  const check = 'database';
  try {
    await storage.ping();
  } catch {
    // Its own words may hold an address with a password; the log has them.
    return [
      { check, result: 'fail', message: `${storage.place} does not answer.`, fix: 'svc logs --lines 50   shows why; stop the daemon before a backup is put in its place' },
      identityFinding(storage.identityProblem()),
    ];
  }
  return [{ check, result: 'pass', message: `${storage.place} answers.` }, identityFinding(storage.identityProblem()), erasureFinding(await purges.waiting())];
}

function extensionsFinding(view: KernelView): DoctorFinding {
  const check = 'ExtensionsCheck';
  const ill = view.extensions().filter(({ state }) => state === 'failed' || state === 'quarantined');
  const waiting = view.extensions().filter(({ state }) => state === 'pending');
  // It runs, and something of it is not called or was put back: a person should know.
  const limping = view.extensions().filter(({ degraded, reason, state }) => state === 'active' && (degraded || reason !== null));
  const [first] = [...ill, ...waiting, ...limping];
  if (!first) return { check, result: 'pass', message: 'Every extension that should be on is on.' };
  const list = [...ill, ...waiting, ...limping].map(({ id, state, reason }) => `${id} is ${state === 'active' ? 'in an unexpected state' : state}${reason === null ? '' : `: ${reason}`}`).join('; ');
  return { check, result: ill.length > 0 ? 'fail' : 'warn', message: `${list}.`, fix: `svc ext why ${first.id}   explains it; svc ext reload ${first.id}   tries again` };
}

function isolationFinding(view: KernelView): DoctorFinding {
  const check = 'IsolationCheck';
  const open = view.extensions().filter(({ origin }) => origin !== null && origin.isolation !== 'walled');
  if (open.length === 0) return { check, result: 'pass', message: 'No third-party extension can open network connections of its own.' };
  const list = open.map(({ id, origin }) => `${id} runs ${origin?.isolation ?? ''}${origin?.isolationWhy === undefined ? '' : ` (${origin.isolationWhy})`}`).join('; ');
  return {
    check,
    result: 'warn',
    message: `${list}, and can open network connections of its own.`,
    fix: 'Install bubblewrap (Linux) and set [extensions] isolation = "auto" or "walled".',
  };
}

function trustFinding(view: KernelView): DoctorFinding {
  const check = 'TrustCheck';
  const old = view.installation.publishers().filter(({ wasInProcess }) => wasInProcess);
  if (old.length === 0) return { check, result: 'pass', message: 'trust.toml asks for nothing that no longer exists.' };
  const keys = old.map(({ keyId, name }) => (name === '' ? keyId : `${keyId} (${name})`)).join(', ');
  return {
    check,
    result: 'warn',
    message: `trust.toml sets isolation = "in-process" for ${keys}. That setting no longer exists: extensions from these keys now run in a process of their own, as [extensions] isolation says.`,
    fix: `Remove the line from trust.toml, or choose: svc ext trust add KEY --allow ID --isolation isolated`,
  };
}

function identityFinding(problem: string | undefined): DoctorFinding {
  const check = 'DatabaseIdentityCheck';
  if (problem === undefined) return { check, result: 'pass', message: 'The database is the one that was here last.' };
  return {
    check,
    result: 'fail',
    message: problem,
    fix: 'Stop the daemon and restore the right database (the file and its -wal), or correct [storage] url. To use this one: svc doctor --accept-database',
  };
}

const auditFindings = (failures: number): DoctorFinding[] =>
  failures === 0
    ? []
    : [{ check: 'AuditEntriesCheck', result: 'fail', message: `${failures} audit entries could not be stored since the start.`, fix: 'svc logs --lines 50   shows why; often the disk is full' }];

/** While it is on they are entered within a moment. */
async function waitingFacts(audit: ProbeParts['audit'], view: KernelView): Promise<DoctorFinding[]> {
  if (!audit.isOn() || view.extensions().some(({ id, state }) => id === 'audit' && state === 'active')) return [];
  const { waiting, lost } = await audit.stored();
  if (waiting + lost === 0) return [];
  const gone = lost === 0 ? 'The newest 100,000 are stored.' : `Only the newest 100,000 are stored: ${lost} older ones are lost.`;
  return [{ check: 'AuditWaitingCheck', result: 'warn', message: `The extension audit is off, and ${waiting} audit entries wait for it. ${gone}`, fix: 'svc ext enable audit   enters them' }];
}

function erasureFinding(waiting: readonly Waiting[]): DoctorFinding {
  const check = 'ErasureCheck';
  if (waiting.length === 0) return { check, result: 'pass', message: 'No pending erasures.' };
  const list = waiting.map(({ area, purges }) => `${area} (${purges})`).join(', ');
  return {
    check,
    result: 'warn',
    message: `Pending erasures in extensions that are off or failed: ${list}.`,
    fix: 'Switch them on: they erase the data before they serve requests. For one that failed, "svc ext why ID" shows the problem.',
  };
}

function sandboxFinding(sandbox: SandboxState): DoctorFinding {
  const check = 'CommandSandboxCheck';
  if (sandbox.isOn) return { check, result: 'pass', message: 'Commands of agents run in a sandbox: they see their workspace, and have no network but the hosts that are granted.' };
  return {
    check,
    result: 'warn',
    message: `Commands of agents run without a sandbox, as the daemon's user: ${sandbox.cause}. They can access everything that this user can.`,
    fix: sandbox.fix,
  };
}

/** Where none is set, there is nothing to say. */
function proxyFindings({ shown, problems, direct }: ProxyLook): DoctorFinding[] {
  const check = 'ProxyCheck';
  const [problem] = problems;
  if (problem !== undefined)
    return [
      {
        check,
        result: 'fail',
        message: problems.join(' '),
        fix: 'Start the proxy, or correct [proxy] in config.toml, [provider_proxy_urls], or HTTPS_PROXY and HTTP_PROXY of the environment, and restart',
      },
    ];
  if (shown.length === 0) return [];
  return [{ check, result: 'pass', message: `Requests leave through the proxy ${shown.join(' and ')}${direct === '' ? '' : `, except to ${direct}`}. What a name leads to is checked by the proxy.` }];
}

/** Our own copy was overwritten at the start; what those hold who started us is theirs. */
function environmentFinding([first]: readonly ShownByAncestor[]): DoctorFinding {
  const check = 'EnvironmentSecretsCheck';
  if (!first) return { check, result: 'pass', message: 'No process that started the daemon shows its secrets.' };
  return {
    check,
    result: 'warn',
    message: `${first.command} (process ${first.pid}), which started the daemon, shows ${first.names.join(', ')} to every program of this user, commands of agents included.`,
    fix: 'Start it in the background (svc start) or as a service, and store provider keys in the vault: svc providers set-key PROVIDER',
  };
}
