/** One request with what it would do, and what a person decides. Also shown in the conversation whose run waits. */
import { ago, Badge, Button, daemon, dateTime, Icon, may, Select, Shown, TextField, type Tone, useLoaded, useState } from '@svc/kit';
import { type Approval, Preview } from './preview.js';
import { sentenceOf } from './sentence.js';
import { t } from './words.js';

const REMEMBER = ['once', 'call_hour', 'call_session', 'call_always'] as const;
type Remembered = (typeof REMEMBER)[number];
const FOR = { call_hour: 'hour', call_session: 'session', call_always: 'always' } as const;
const TONES: Readonly<Record<Approval['status'], Tone>> = { pending: 'warn', approved: 'good', rejected: 'bad', expired: 'quiet', skipped: 'quiet' };

export const StateOf = ({ status }: { status: Approval['status'] }) => <Badge tone={TONES[status]}>{t(`s_${status}`)}</Badge>;

export const ApprovalCard = ({ approval, onDecided }: { approval: Approval; onDecided: () => void }) => (
  <article class="approval" aria-label={sentenceOf(approval)}>
    <header class="row wrap">
      <Icon name="shield-check" />
      <strong class="grow approval-path">{sentenceOf(approval)}</strong>
      <Badge tone={approval.risk_level === 'critical' || approval.risk_level === 'high' ? 'bad' : 'quiet'}>{t(`r_${approval.risk_level}`)}</Badge>
      {approval.status !== 'pending' && <StateOf status={approval.status} />}
    </header>
    <p class="muted small-text row wrap">
      <span>{approval.description}</span>
      <time dateTime={approval.requested_at} title={dateTime(approval.requested_at)}>
        {ago(approval.requested_at, Date.now())}
      </time>
      {approval.parent_run_id !== null && <span>{t('asked_by')}</span>}
      {approval.status === 'pending' && <span>{t('expires', { time: dateTime(approval.expires_at) })}</span>}
    </p>
    {approval.review && approval.review.reason !== '' && <ReviewLine review={approval.review} />}
    <Preview preview={approval.preview} payload={approval.payload} />
    {approval.status === 'pending' && may('approvals.write') && <Decide approval={approval} onDecided={onDecided} />}
  </article>
);

/** Only for one that has said something: while it is asked there is nothing to read. */
const ReviewLine = ({ review: { by, decision, reason } }: { review: NonNullable<Approval['review']> }) => (
  <p class="small-text" role="note">
    <Badge tone={decision === 'deny' ? 'bad' : decision === 'approve' ? 'good' : 'quiet'}>{t('reviewer')}</Badge> {decision !== 'pending' && t(`review_${decision}`, { by, reason })}
  </p>
);

const Decide = ({ approval, onDecided }: { approval: Approval; onDecided: () => void }) => {
  const [code, setCode] = useState('');
  const [remembered, setRemembered] = useState<Remembered>('once');
  const [feedback, setFeedback] = useState('');
  const approve = async (): Promise<void> => {
    const wish = remembered === 'once' ? {} : { remember: { what: 'call' as const, for: FOR[remembered] } };
    await daemon.call('approveApproval', { id: approval.id, body: { ...(code.trim() === '' ? {} : { totp_code: code.trim() }), ...wish } }).finally(onDecided);
  };
  const reject = async (): Promise<void> => {
    await daemon.call('rejectApproval', { id: approval.id, body: feedback.trim() === '' ? {} : { feedback: feedback.trim() } }).finally(onDecided);
  };
  return (
    <div class="approval-decide">
      <div class="approval-fields">
        {approval.needs_totp && <TextField label={t('code')} hint={t('code_hint')} value={code} onValue={setCode} inputMode="numeric" autocomplete="one-time-code" maxLength={64} />}
        {approval.can_remember && (
          <Select
            label={t('remember')}
            value={remembered}
            onValue={(value) => setRemembered(REMEMBER.find((one) => one === value) ?? 'once')}
            options={REMEMBER.map((value) => ({ value, label: t(value) }))}
          />
        )}
        <TextField label={t('feedback')} value={feedback} onValue={setFeedback} maxLength={4_096} />
      </div>
      <div class="row wrap">
        <Button kind="primary" icon="check" onPress={approve} disabled={approval.needs_totp && code.trim() === ''}>
          {t('approve')}
        </Button>
        <Button kind="danger" icon="x" onPress={reject}>
          {t('reject')}
        </Button>
      </div>
    </div>
  );
};

/** In a conversation: the request that its run waits for. */
export const WaitingFor = ({ id }: { id: string }) => {
  const loaded = useLoaded(`approval ${id}`, (signal) => daemon.call('getApproval', { id }, { signal }), ['approval']);
  return <Shown of={loaded}>{(approval) => <ApprovalCard approval={approval} onDecided={loaded.reload} />}</Shown>;
};
