/** Installing what somebody else made, and bringing another version of it: first what it asks for is shown, then a person agrees. */
import { Badge, CheckField, daemon, Facts, FormDialog, Icon, notify, type OutputOf, SvcError, TextField, useState } from '@svc/kit';
import { t } from './words.js';

type Offer = OutputOf<'upgradeExtension'>['offer'];

/** What a person agreed to. */
interface Consent {
  readonly grants: string[];
  readonly digest: string;
  readonly trust_key: boolean;
}

const WAIT_MS = 10 * 60_000;
const ASKS: readonly string[] = ['install_needs_consent', 'install_unknown_key'];

const isOffer = (details: unknown): details is Offer =>
  typeof details === 'object' && details !== null && 'digest' in details && 'grants' in details && Array.isArray(details.grants) && 'not_kept' in details && Array.isArray(details.not_kept);

/** What the daemon shows before it goes on; undefined where it refuses for another reason. */
const offerIn = (error: unknown): Offer | undefined => (error instanceof SvcError && ASKS.includes(error.code) && isOffer(error.details) ? error.details : undefined);

const Publisher = ({ offer: { key, trust } }: { offer: Offer }) =>
  key === null ? (
    <Badge tone="warn" icon="triangle-alert">
      {t(`trust_${trust}`)}
    </Badge>
  ) : (
    <span class="row wrap">
      {key.name !== '' && <bdi>{key.name}</bdi>}
      <code class="muted">{key.id}</code>
      {key.standing === 'unknown' && (
        <Badge tone="warn" icon="triangle-alert">
          {t('key_unknown')}
        </Badge>
      )}
    </span>
  );

const OfferView = ({ offer, chosen, onChoose }: { offer: Offer; chosen: ReadonlySet<string>; onChoose: (grant: string, isChosen: boolean) => void }) => (
  <>
    <p>{offer.description}</p>
    <Facts
      rows={[
        [t('version'), offer.replaces ? t('version_after', { before: offer.replaces.version, now: offer.version }) : offer.version],
        [t('source'), <bdi key="source">{offer.source}</bdi>],
        [t('publisher'), <Publisher key="publisher" offer={offer} />],
        [t('isolation'), t(`isolation_${offer.isolation}`)],
      ]}
    />
    {offer.not_kept.length > 0 && (
      <div class="care" role="note">
        <Icon name="triangle-alert" />
        <div class="grow">
          <h3>{t('not_kept')}</h3>
          <ul class="plain-list">
            {offer.not_kept.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      </div>
    )}
    <h3>{t('asks_for')}</h3>
    {offer.grants.length === 0 && <p class="muted">{t('no_grants')}</p>}
    <ul class="grants">
      {offer.grants.map(({ grant, what, why, optional, new: isNew }) => (
        <li key={grant}>
          {optional ? <CheckField label={t('it', { what })} value={chosen.has(grant)} onValue={(is) => onChoose(grant, is)} /> : <p>{t('it', { what })}</p>}
          <p class="muted">{t('because', { why })}</p>
          <p class="row wrap">
            <code class="muted small-text">{grant}</code>
            {isNew && offer.replaces && <Badge tone="info">{t('grant_new')}</Badge>}
          </p>
        </li>
      ))}
    </ul>
  </>
);

/** Shows an offer, and asks. */
const ConsentDialog = ({ offer, action, onAgree, onClose }: { offer: Offer; action: string; onAgree: (consent: Consent) => Promise<void>; onClose: () => void }) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isTrusted, setTrusted] = useState(false);
  const asksTrust = offer.key?.standing === 'unknown';
  const grants = offer.grants.filter(({ grant, optional }) => !optional || chosen.has(grant)).map(({ grant }) => grant);
  const choose = (grant: string, is: boolean): void => setChosen(new Set(is ? [...chosen, grant] : [...chosen].filter((one) => one !== grant)));
  return (
    <FormDialog
      wide
      title={t('agree_title', { name: offer.id })}
      action={action}
      canSubmit={!asksTrust || isTrusted}
      onSubmit={() => onAgree({ grants, digest: offer.digest, trust_key: isTrusted })}
      onClose={onClose}
    >
      <OfferView offer={offer} chosen={chosen} onChoose={choose} />
      {asksTrust && <CheckField label={t('trust_key', { key: offer.key?.id ?? '' })} value={isTrusted} onValue={setTrusted} />}
    </FormDialog>
  );
};

export const InstallDialog = ({ onClose, onDone }: { onClose: () => void; onDone: (name: string) => void }) => {
  const [source, setSource] = useState('');
  const [offer, setOffer] = useState<Offer>();
  const install = async (consent?: Consent): Promise<void> => {
    const { name } = await daemon.call('installExtension', { body: { name: source.trim(), ...(consent ? { ...consent, enable: true } : {}) } }, { timeoutMs: WAIT_MS });
    notify(t('was_installed', { name }));
    onDone(name);
  };
  const look = async (): Promise<void> => {
    try {
      await install();
    } catch (error) {
      const shown = offerIn(error);
      if (!shown) throw error;
      setOffer(shown);
    }
  };
  if (offer) return <ConsentDialog offer={offer} action={t('install_it')} onAgree={install} onClose={onClose} />;
  return (
    <FormDialog title={t('install_title')} action={t('install_look')} canSubmit={source.trim() !== ''} onSubmit={look} onClose={onClose}>
      <p class="muted">{t('install_text')}</p>
      <TextField label={t('install_source')} hint={t('install_source_hint')} value={source} onValue={setSource} autofocus />
    </FormDialog>
  );
};

/** Brings the newest version of where it came from; asks where that wants more than was agreed to. */
export const UpgradeDialog = ({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) => {
  const [offer, setOffer] = useState<Offer>();
  const upgrade = async (consent?: Consent): Promise<void> => {
    const { status, offer: brought } = await daemon.call('upgradeExtension', { name, body: { ...consent } }, { timeoutMs: WAIT_MS });
    notify(t(status === 'same' ? 'is_newest' : 'was_upgraded', { name, version: brought.version }));
    onDone();
  };
  const begin = async (): Promise<void> => {
    try {
      await upgrade();
    } catch (error) {
      const shown = offerIn(error);
      if (!shown) throw error;
      setOffer(shown);
    }
  };
  if (offer) return <ConsentDialog offer={offer} action={t('upgrade')} onAgree={upgrade} onClose={onClose} />;
  return (
    <FormDialog title={t('upgrade_title', { name })} action={t('upgrade')} onSubmit={begin} onClose={onClose}>
      <p>{t('upgrade_text')}</p>
    </FormDialog>
  );
};

export const RemoveDialog = ({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) => {
  const [isPurged, setPurged] = useState(false);
  const [typed, setTyped] = useState('');
  const remove = async (): Promise<void> => {
    await daemon.call('uninstallExtension', { body: { name, purge: isPurged, ...(isPurged ? { confirm: typed.trim() } : {}) } });
    notify(t('was_removed', { name }));
    onDone();
  };
  return (
    <FormDialog title={t('remove_title', { name })} action={t('remove')} canSubmit={!isPurged || typed.trim() === name} onSubmit={remove} onClose={onClose}>
      <p>{t('remove_text')}</p>
      <CheckField label={t('remove_purge')} value={isPurged} onValue={setPurged} />
      {isPurged && <TextField label={t('remove_confirm', { name })} value={typed} onValue={setTyped} />}
    </FormDialog>
  );
};
