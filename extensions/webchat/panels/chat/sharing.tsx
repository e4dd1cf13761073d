/** Links to a conversation, or to all of them: made, copied once, updated and revoked. */
import { addressOf, ago, Button, CopyButton, daemon, dateTime, Dialog, failed, may, notify, type OutputOf, Select, Shown, useId, useLoaded, useState } from '@svc/kit';
import type { Named } from './conversation.js';
import { dialogWords } from './sharing-words.js';
import { t } from './words.js';

type Share = OutputOf<'listShares'>['shares'][number];

const DAYS = [1, 7, 30, 90, 365] as const;
const NEVER = 'never';

/** `of`: undefined for all that the person has. */
export const Sharing = ({ of, onClose }: { of: Named | undefined; onClose: () => void }) => {
  const loaded = useLoaded(`shares ${of?.id}`, (signal) => daemon.call('listShares', of ? { session_id: of.id } : {}, { signal }), ['session', 'config']);
  return (
    <Dialog title={t(of ? 'share' : 'shares')} onClose={onClose}>
      <Shown of={loaded}>
        {({ is_on: isOn, max_days: maxDays, shares, usual_days: usualDays }) => (
          <>
            {!isOn && <p class="muted">{dialogWords('share_off')}</p>}
            {isOn && of && <Making of={of} maxDays={maxDays} usualDays={usualDays} onMade={loaded.reload} />}
            {(shares.length > 0 || !of) && <Shares shares={shares} showTitle={!of} isOn={isOn} onChanged={loaded.reload} />}
          </>
        )}
      </Shown>
    </Dialog>
  );
};

const dayOptions = (maxDays: number, usualDays: number) => {
  const days = [...new Set([...DAYS.filter((one) => maxDays === 0 || one <= maxDays), usualDays])].sort((one, other) => one - other);
  return [...days.map((one) => ({ value: String(one), label: dialogWords('share_days', { count: one }) })), ...(maxDays === 0 ? [{ value: NEVER, label: dialogWords('share_never') }] : [])];
};

const Making = ({ of, maxDays, usualDays, onMade }: { of: Named; maxDays: number; usualDays: number; onMade: () => void }) => {
  const [days, setDays] = useState(String(usualDays));
  const [url, setUrl] = useState<string>();
  const id = useId();
  const make = async (): Promise<void> => {
    const { path } = await daemon.call('shareSession', { id: of.id, body: { expires_in_days: days === NEVER ? null : Number(days) } });
    setUrl(new URL(path, location.href).href);
    onMade();
  };
  return (
    <>
      <p>{dialogWords('share_text')}</p>
      <div class="row wrap share-making">
        <div class="grow">
          <Select label={dialogWords('share_valid')} value={days} onValue={setDays} options={dayOptions(maxDays, usualDays)} />
        </div>
        <Button kind="primary" icon="link" disabled={!may('sessions.write')} onPress={make}>
          {dialogWords('share_make')}
        </Button>
      </div>
      {url !== undefined && (
        <div class="shared-link" role="status">
          <label for={id}>{dialogWords('share_once')}</label>
          <div class="row">
            <input class="input grow" id={id} readOnly value={url} onFocus={(event) => event.currentTarget.select()} />
            <CopyButton text={url} label={dialogWords('share_copy')} />
          </div>
        </div>
      )}
    </>
  );
};

interface SharesProps {
  readonly shares: readonly Share[];
  readonly showTitle: boolean;
  readonly isOn: boolean;
  readonly onChanged: () => void;
}

const Shares = ({ shares, showTitle, isOn, onChanged }: SharesProps) => {
  if (shares.length === 0) return <p class="muted">{dialogWords('shares_none')}</p>;
  return (
    <ul class="shares" aria-label={t('shares')}>
      {shares.map((share) => (
        <li key={share.id}>
          {showTitle && (
            <a class="cut" href={addressOf('chat', [share.agent_id, share.session_id])}>
              <bdi>{share.title || t('untitled')}</bdi>
            </a>
          )}
          <span class="small-text">{dialogWords('share_as_of', { time: ago(share.as_of) })}</span>
          <span class="muted small-text">{endText(share)}</span>
          <span class="row wrap">
            <Button small icon="refresh-cw" disabled={!isOn || share.is_over || !may('sessions.write')} title={dialogWords('share_update_title')} onPress={() => update(share).then(onChanged)}>
              {dialogWords('share_update')}
            </Button>
            <Button small kind="danger" icon="trash-2" disabled={!may('sessions.write')} onPress={() => revoke(share).then(onChanged, failed)}>
              {dialogWords('share_revoke')}
            </Button>
          </span>
        </li>
      ))}
    </ul>
  );
};

const endText = ({ expires_at: at, is_over: isOver }: Share): string => (at === null ? dialogWords('share_never') : dialogWords(isOver ? 'share_over' : 'share_until', { time: dateTime(at) }));

const update = async ({ id }: Share): Promise<void> => {
  await daemon.call('updateShare', { id, body: {} });
  notify(dialogWords('share_updated'));
};

const revoke = async ({ id }: Share): Promise<void> => {
  await daemon.call('revokeShare', { id });
  notify(dialogWords('share_revoked'));
};
