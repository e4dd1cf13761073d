/** Whoever installs: the daemon that runs, or the installer itself where none does. Both say the same. */
import path from 'node:path';
import { isSvcError, type PackageOffer } from '@svc/api';
import type { InputOf, OutputOf } from '@svc/client';
import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';
import { placeOf } from '../local-change.js';
import { followSteps, type Step } from './follow-steps.js';

export type InstallBody = InputOf<'installExtension'>['body'];
export type UpgradeBody = NonNullable<InputOf<'upgradeExtension'>['body']>;

export interface Upgraded {
  readonly status: 'upgraded' | 'same' | 'offered';
  readonly offer: PackageOffer;
  readonly version: string;
}

export interface Operator {
  /** Whether the daemon does it: then what changes holds at once. */
  readonly isRunning: boolean;
  install(body: InstallBody, onStep: (step: Step) => void): Promise<OutputOf<'installExtension'>>;
  upgrade(id: string, body: UpgradeBody, onStep: (step: Step) => void): Promise<Upgraded>;
  /** The version that is there afterwards. */
  rollback(id: string): Promise<string>;
  remove(id: string, purge: boolean): Promise<void>;
}

/** An installation ends by itself: the daemon gives up what brings nothing. */
const CHANGE_WAIT_MS = 10 * 60_000;

export const operatorOf = async (cli: Cli): Promise<Operator> => {
  try {
    const daemon = await cli.daemon();
    await daemon.call('getExtensionTrust');
    return remote(cli);
  } catch (error) {
    // Beside a daemon that runs and cannot be asked nothing is installed: it would not know.
    if ((await placeOf(cli, error)) !== 'stopped') throw error;
    return local(cli);
  }
};

const remote = (cli: Cli): Operator => ({
  isRunning: true,
  install: async (body, onStep) => followSteps(await cli.daemon(), 'installExtension', { body }, onStep),
  upgrade: async (id, body, onStep) => {
    const { extension, offer, status } = await followSteps(await cli.daemon(), 'upgradeExtension', { name: id, body }, onStep);
    return { status, offer, version: extension.version };
  },
  rollback: async (id) => (await (await cli.daemon()).call('rollbackExtension', { name: id }, { timeoutMs: CHANGE_WAIT_MS })).extension.version,
  remove: async (id, purge) => {
    await (await cli.daemon()).call('uninstallExtension', { body: { name: id, ...(purge ? { purge, confirm: id } : {}) } }, { timeoutMs: CHANGE_WAIT_MS });
  },
});

const local = (cli: Cli): Operator => {
  const run = async <T>(
    act: import('@svc/daemon/offline/local-installer').LocalInstall['act'],
    work: (installer: import('@svc/installer/install').Installer) => Promise<T>,
    detailsOf?: (done: T) => Readonly<Record<string, string>>,
  ): Promise<T> => {
    const { withLocalInstaller } = await import('@svc/daemon/offline/local-installer');
    return withLocalInstaller({ env: cli.settings.env, releaseFile: path.join(cli.distDir, 'release.json'), act }, work, detailsOf).catch((error: unknown) => {
      throw isSvcError(error) ? new Failure(error.message, { code: error.code, fix: error.hint, details: error.details, status: error.status }) : error;
    });
  };
  return {
    isRunning: false,
    install: (body, onProgress) =>
      run(
        { type: 'extension_installed', command: 'svc ext install' },
        async (installer) => {
          const source = body.name ?? body.source ?? body.path ?? '';
          const { id } = await (await files()).installFrom(installer, source, consentOf(body), { onProgress, ...(body.link === undefined ? {} : { link: body.link }) });
          return { status: 'installed', name: id, connected: false };
        },
        ({ name }) => ({ name }),
      ),
    upgrade: (id, body, onProgress) =>
      run(body.dry_run ? undefined : { type: 'extension_upgraded', command: 'svc ext upgrade', name: id }, async (installer) => {
        const { offer, outcome, version } = await (await files()).upgradeFrom(installer, id, { source: body.source, dryRun: body.dry_run, downgrade: body.downgrade }, consentOf(body), { onProgress });
        return { status: outcome, offer, version };
      }),
    rollback: (id) => run({ type: 'extension_rolled_back', command: 'svc ext rollback', name: id }, async (installer) => (await installer.rollback(id)).version),
    remove: (id, purge) => {
      if (purge) throw new Failure('Only a running daemon can delete rows and secrets.', { code: 'cli_daemon_not_running', fix: 'run svc start and repeat; or leave --purge out' });
      return run({ type: 'extension_uninstalled', command: 'svc ext uninstall', name: id }, (installer) => installer.remove(id, { purge: false }));
    },
  };
};

const files = () => import('@svc/installer/install');

/** Who names a digest or grants was shown what it is. */
const consentOf = ({ digest, grants, trust_key }: Pick<InstallBody, 'digest' | 'grants' | 'trust_key'>): import('@svc/installer/install').GivenConsent => ({
  grants: grants ?? [],
  isShown: digest !== undefined || grants !== undefined,
  ...(digest === undefined ? {} : { digest }),
  ...(trust_key === undefined ? {} : { trustKey: trust_key }),
});
