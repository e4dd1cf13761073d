/** What the kernel itself reports: the database, the settings, the listen address. */
import { DoctorCheck, type DoctorFinding, HealthProbe, KernelGreet, type KernelView } from '@svc/api';
import { type HookRegistry, Lifetime, type Owner } from '@svc/core';
import { isLoopbackName } from '@svc/platform/config/loopback';
import { type ShownByAncestor, shownByAncestors } from '@svc/platform/config/environment/own-environment';
import { type Exposed, exposedPaths } from '@svc/platform/config/privacy';
import type { ContextParts } from './extension-context.js';
import type { Waiting } from './purge/purge-book.js';

const PRIVACY_FIX = 'svc doctor --fix';
const MAX_NAMED = 20;

/** The kernel as an owner of taps. It is never unloaded. */
export const kernelOwner = (): Owner => ({ id: 'kernel', generation: 1, lifetime: new Lifetime('kernel'), build: 'kernel' });

export function tapProbes(
  owner: Owner,
  hooks: HookRegistry,
  parts: Pick<ContextParts, 'storage' | 'config' | 'env' | 'home' | 'purges'>,
  view: () => KernelView,
  listen: () => { host: string; hasKey: boolean },
): void {
  hooks.tap(owner, HealthProbe, async () => {
    await parts.storage.ping();
    const problem = parts.storage.identityProblem();
    return problem === undefined ? { name: 'database', status: 'ok' } : { name: 'database', status: 'warn', detail: problem };
  });
  hooks.tap(owner, DoctorCheck, async () => [
    configFinding(view()),
    listenFinding(listen()),
    environmentFinding(await shownByAncestors(parts.env)),
    privacyFinding(await exposedPaths(parts.home)),
    identityFinding(parts.storage.identityProblem()),
    erasureFinding(await parts.purges.waiting()),
  ]);
  hooks.tap(owner, KernelGreet, async () => (await exposedPaths(parts.home)).map(({ what }) => ({ label: 'care', value: `${what}.`, note: PRIVACY_FIX })));
  hooks.taps.swap(undefined, owner);
}

function configFinding(view: KernelView): DoctorFinding {
  const all = view.configProblems();
  const problems = all.filter(({ severity }) => severity !== 'notice');
  const [first] = problems;
  const waiting =
    all.length === problems.length ? '' : ` ${all.length - problems.length} of them wait for their area: ${all.flatMap(({ key, severity }) => (severity === 'notice' ? [key] : [])).join(', ')}.`;
  if (!first) return { check: 'ConfigTomlSchemaCheck', result: 'pass', message: `The settings are valid.${waiting}` };
  return {
    check: 'ConfigTomlSchemaCheck',
    result: 'fail',
    // One that is not enforced must not hide behind the first.
    message: `${problems
      .slice(0, MAX_NAMED)
      .map(({ message }) => message)
      .join('; ')}${problems.length > MAX_NAMED ? ` (and ${problems.length - MAX_NAMED} more)` : ''}`,
    fix: `Edit ${first.file}${first.line === null ? '' : `, line ${first.line}`}.`,
  };
}

function identityFinding(problem: string | undefined): DoctorFinding {
  const check = 'DatabaseIdentityCheck';
  if (problem === undefined) return { check, result: 'pass', message: 'The database is the one that was here last.' };
  return {
    check,
    result: 'fail',
    message: problem,
    fix: 'Stop the daemon and put the right database back (a file with its -wal), or correct [storage] url; or keep this one: svc doctor --accept-database',
  };
}

function erasureFinding(waiting: readonly Waiting[]): DoctorFinding {
  const check = 'ErasureCheck';
  if (waiting.length === 0) return { check, result: 'pass', message: 'Nobody who is to be erased is still stored.' };
  const list = waiting.map(({ area, purges }) => `${area} (${purges})`).join(', ');
  return {
    check,
    result: 'warn',
    message: `Somebody is still to be erased from areas that are off or failed at it: ${list}.`,
    fix: 'Switch them on: they erase before they serve anybody. "svc ext why ID" says what is wrong with one that failed.',
  };
}

function listenFinding({ host, hasKey }: { host: string; hasKey: boolean }): DoctorFinding {
  if (isLoopbackName(host)) return { check: 'ApiListenAddrCheck', result: 'pass', message: `Only this machine can reach ${host}.` };
  if (hasKey) return { check: 'ApiListenAddrCheck', result: 'pass', message: `${host} can be reached from outside, and an API key is required.` };
  return { check: 'ApiListenAddrCheck', result: 'fail', message: `${host} can be reached from outside without an API key.`, fix: 'Set api_key, or listen on 127.0.0.1.' };
}

function privacyFinding(exposed: readonly Exposed[]): DoctorFinding {
  const check = 'PrivateFilesCheck';
  if (exposed.length === 0) return { check, result: 'pass', message: 'No other user of this machine can read the home and its settings.' };
  // A folder that can be entered is untidy; a key that can be read is lost.
  return { check, result: exposed.some(({ holdsKey }) => holdsKey) ? 'fail' : 'warn', message: `${exposed.map(({ what }) => what).join('; ')}.`, fix: PRIVACY_FIX };
}

/** Our own copy was overwritten at the start; what those hold who started us is theirs. */
function environmentFinding([first]: readonly ShownByAncestor[]): DoctorFinding {
  const check = 'EnvironmentSecretsCheck';
  if (!first) return { check, result: 'pass', message: 'No process that started the daemon shows its secrets.' };
  return {
    check,
    result: 'warn',
    message: `${first.command} (process ${first.pid}), which started the daemon, shows ${first.names.join(', ')} to every program of this user, commands of agents included.`,
    fix: 'Start it in the background (svc start) or as a service, and keep provider keys in the vault: svc providers set-key PROVIDER',
  };
}
