/** What the page itself can do about a finding. What it cannot is told in the daemon's words. */
import { addressOf, daemon, type IconName, type OutputOf } from '@svc/kit';
import { t } from './finding-words.js';

export type Finding = OutputOf<'getHealthDetail'>['doctor'][number];

interface Way {
  readonly label: string;
  readonly icon: IconName;
}

export interface Leading extends Way {
  readonly panel: string;
  readonly href: string;
}

export interface Doing extends Way {
  readonly permission: string;
  readonly run: () => Promise<string>;
  /** Asked before; it names what goes. */
  readonly question?: () => Promise<{ readonly title: string; readonly text: string }>;
}

export interface Fixing {
  readonly leads: readonly Leading[];
  readonly does: readonly Doing[];
}

const to = (panel: string, label: string, icon: IconName, path: readonly string[] = [], query: Readonly<Record<string, string>> = {}): Leading => ({
  panel,
  label,
  icon,
  href: addressOf(panel, path, query),
});

const logsOf = (area: string): Leading => to('logs', t('see_log'), 'scroll-text', [], { area });
/** At the section that the message names, `[log] levl`, if it names one. */
const settings = ({ message }: Finding): Leading => {
  const section = /\[(\w+)/.exec(message)?.[1];
  return to('config', t('open_settings'), 'sliders-horizontal', section === undefined ? [] : [section]);
};

const readSettings = (): Doing => ({
  label: t('read_settings'),
  icon: 'refresh-cw',
  permission: 'config.admin',
  run: async () => {
    await daemon.call('reloadConfig');
    return t('settings_read');
  },
});

const newCatalog = (): Doing => ({
  label: t('fetch_catalog'),
  icon: 'download',
  permission: 'models.admin',
  run: async () => {
    await daemon.call('updateCatalog');
    return t('catalog_fetched');
  },
});

const newVault = (): Doing => ({
  label: t('new_vault'),
  icon: 'rotate-ccw',
  permission: 'vault.admin',
  question: async () => {
    const { names } = await daemon.call('getVault');
    return { title: t('new_vault_title'), text: [t('new_vault_text'), names === null || names.length === 0 ? '' : t('vault_holds', { names: names.join(', ') })].filter(Boolean).join(' ') };
  },
  run: async () => {
    await daemon.call('resetVault', { confirm: true });
    return t('vault_made');
  },
});

const nothing: Fixing = { leads: [], does: [] };

/** By the name of the check; the kernel's checks and those of areas have names of their own. */
const FIXING: Readonly<Record<string, (finding: Finding) => Fixing>> = {
  'providers.default': () => ({ leads: [to('models', t('open_models'), 'cpu')], does: [] }),
  'models.catalog': () => ({ leads: [], does: [newCatalog()] }),
  ConfigTomlSchemaCheck: (finding) => ({ leads: [settings(finding)], does: [readSettings()] }),
  config_file: (finding) => ({ leads: [settings(finding)], does: [readSettings()] }),
  env_consistency: (finding) => ({ leads: [settings(finding)], does: [readSettings()] }),
  'capabilities.roles': (finding) => ({ leads: [settings(finding)], does: [] }),
  ApiListenAddrCheck: (finding) => ({ leads: [settings(finding)], does: [] }),
  ExtensionsCheck: () => ({ leads: [to('extensions', t('open_extensions'), 'puzzle', [], { show: 'ill' })], does: [] }),
  ErasureCheck: () => ({ leads: [to('extensions', t('open_extensions'), 'puzzle', [], { show: 'off' })], does: [] }),
  VaultOpens: () => ({ leads: [logsOf('vault')], does: [newVault()] }),
  database: () => ({ leads: [logsOf('storage')], does: [] }),
};

/** Checks that an area did not answer have its id for a name. */
export const fixingOf = (finding: Finding, extensions: readonly string[]): Fixing => {
  const { check, result } = finding;
  if (result === 'pass') return nothing;
  const known = Object.hasOwn(FIXING, check) ? FIXING[check] : undefined;
  if (known) return known(finding);
  const [owner = ''] = check.split('.');
  if (!extensions.includes(owner)) return nothing;
  return { leads: [to('extensions', t('open_extension', { name: owner }), 'puzzle', [owner]), logsOf(owner)], does: [] };
};
