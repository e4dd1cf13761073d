/**
 * Which provider makes it, with which model.
 *
 * M1  A named provider is used or the request fails: nobody else is put in its place. Without a name it is the first with a key.
 */
import type { ConfigHandle } from '@svc/api';
import type { ProviderRecord, ProvidersService } from '@svc/ext-providers/contract';
import { MediaSection } from '../config.js';
import type { MediaDriver, Target } from '../drivers/driver.js';
import { driverOf } from '../drivers/drivers.js';
import { mediaErrors } from '../errors.js';
import { CAPABILITY_OF, KINDS, type Kind, OFFERS, orderOf, providerName, WORDS } from '../offers.js';

export interface ChoosingDeps {
  readonly providers: Pick<ProvidersService, 'get'>;
  readonly config: ConfigHandle;
}

export interface Chosen extends Omit<Target, 'timeoutMs' | 'signal'> {
  readonly driver: MediaDriver;
  readonly isKeyless: boolean;
}

const FUNCTION_OF: Readonly<Record<Kind, keyof MediaDriver>> = { image: 'image', speech: 'speech', video: 'beginVideo', music: 'music', transcription: 'transcribe' };

export const choose = async (deps: ChoosingDeps, kind: Kind, named: { readonly provider?: string | undefined; readonly model?: string | undefined }): Promise<Chosen> => {
  const { audio_provider: audioProvider, audio_model: audioModel } = deps.config.get(MediaSection);
  const wanted = named.provider ?? (kind === 'transcription' ? audioProvider : undefined);
  const model = named.model ?? (kind === 'transcription' && (named.provider === undefined || named.provider === audioProvider) ? audioModel : undefined);
  if (wanted !== undefined) return chosenOf(kind, await usable(deps, kind, providerName(wanted)), model);
  for (const name of orderOf(kind)) {
    const record = await deps.providers.get(name);
    if (record && hasKey(record)) return chosenOf(kind, record, model);
  }
  throw mediaErrors.no_provider(WORDS[kind], orderOf(kind)[0] ?? '');
};

const usable = async ({ providers }: ChoosingDeps, kind: Kind, name: string): Promise<ProviderRecord> => {
  const record = await providers.get(name);
  if (!record) throw mediaErrors.unknown_provider(name);
  if (driverOf(record)?.[FUNCTION_OF[kind]] === undefined) throw mediaErrors.not_supported(name, WORDS[kind]);
  if (!hasKey(record)) throw mediaErrors.key_missing(name);
  return record;
};

const hasKey = ({ key_required: isRequired, auth_status: status }: ProviderRecord): boolean => !isRequired || status !== 'missing';

const chosenOf = (kind: Kind, record: ProviderRecord, model: string | undefined): Chosen => {
  const driver = driverOf(record);
  const usual = model ?? OFFERS[record.name]?.[kind];
  if (!driver) throw mediaErrors.not_supported(record.name, WORDS[kind]);
  if (usual === undefined) throw mediaErrors.invalid(`which model of ${record.name} makes ${WORDS[kind]} is not known; name it in \`model\``);
  return { provider: record.name, model: usual, baseUrl: record.base_url, secret: record.secret, driver, isKeyless: !record.key_required };
};

/** What the list of media providers shows. */
export const mediaProviders = async ({ providers }: Pick<ChoosingDeps, 'providers'>) => {
  const shown = [];
  for (const [name, offers] of Object.entries(OFFERS)) {
    const record = await providers.get(name);
    if (record) shown.push({ name, configured: hasKey(record), capabilities: KINDS.filter((kind) => offers[kind] !== undefined).map((kind) => CAPABILITY_OF[kind]) });
  }
  return shown;
};
