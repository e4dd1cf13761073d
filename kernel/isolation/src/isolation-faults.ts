/** What an extension asks for that code in a process of its own cannot have: validated from data, before it is installed. */
import { parseGrant } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import type { AllContributions } from '@svc/installer/contributions';

interface Asked {
  readonly manifest: Manifest;
  readonly contributions: Pick<AllContributions, 'sockets' | 'routes'>;
}

/** Grants whose adapter is not there for code in another process. */
const NOT_ISOLATED = new Set([
  'kernel',
  'kernel:tools',
  'kernel:slash-commands',
  'kernel:settings',
  'kernel:extensions',
  'kernel:panels',
  'kernel:backups',
  'kernel:replicas',
  'kernel:audit',
  'exec',
  'survivors',
  'net:dial',
  'net:listen',
  'purge',
]);

/** One sentence each; none where it can run isolated. */
export const isolationFaults = ({ manifest, contributions }: Asked): string[] => {
  const parsed = (manifest.grants ?? []).map(({ grant }) => parseGrant(grant));
  return [
    ...parsed.flatMap((one) => (typeof one !== 'string' && NOT_ISOLATED.has(one.kind) ? [`it requests the grant "${one.text}", which works only inside the daemon's process`] : [])),
    ...named(
      'it has sockets',
      contributions.sockets.map(({ path }) => String(path)),
    ),
    ...named('it owns hooks', manifest.defines),
    ...named('it owns kinds of durable work', manifest.kinds),
    ...named('it has worker threads', Object.keys(manifest.workers ?? {})),
    ...(manifest.presets === undefined ? [] : [`it names presets (${manifest.presets.join(', ')}), which only extensions that come with svc join: an operator switches it on`]),
    ...named('it takes packages from the daemon', manifest.hostDependencies),
    ...named(
      'its routes have a custom error format',
      contributions.routes.flatMap((route) => ('errorShape' in route ? [String(route.id)] : [])),
    ),
  ];
};

const named = (what: string, names: readonly string[] = []): string[] => (names.length === 0 ? [] : [`${what} (${names.join(', ')}), which a process of its own cannot provide`]);
