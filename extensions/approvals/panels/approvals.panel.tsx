/** Requests that wait, those that were decided, what is remembered, and the caller's authenticator. */
import './approvals/approvals.css';
import { ago, Button, CheckField, type Column, confirmed, daemon, dateTime, definePanel, Empty, may, type OutputOf, PanelBody, PanelHead, Section, Shown, Table, useLoaded, useState } from '@svc/kit';
import { ApprovalCard, StateOf } from './approvals/approval-card.js';
import { Authenticator } from './approvals/authenticator.js';
import type { Approval } from './approvals/preview.js';
import { t } from './approvals/words.js';

type Grant = OutputOf<'listApprovalGrants'>['grants'][number];

const Approvals = () => {
  const loaded = useLoaded('approvals', (signal) => daemon.call('listApprovals', { limit: 100 }, { signal }), ['approval']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          <Shown of={loaded} lines={8}>
            {({ approvals, asking }) => {
              const pending = approvals.filter(({ status }) => status === 'pending');
              const decided = approvals.filter(({ status }) => status !== 'pending');
              return (
                <>
                  {!asking && <Off onTurnedOn={loaded.reload} />}
                  {pending.length === 0 ? (
                    <Empty icon="shield-check" title={t('none')}>
                      <p>{t('none_text')}</p>
                    </Empty>
                  ) : (
                    <Pending approvals={pending} onDecided={loaded.reload} />
                  )}
                  {decided.length > 0 && (
                    <Section title={t('decided')}>
                      <Table label={t('decided_table')} columns={DECIDED} rows={decided} keyOf={({ id }) => id} />
                    </Section>
                  )}
                </>
              );
            }}
          </Shown>
          <Remembered />
          <Authenticator />
        </div>
      </PanelBody>
    </>
  );
};

/** The state that the owner saw goes with the answer, so that nothing else is agreed to. */
const Off = ({ onTurnedOn }: { onTurnedOn: () => void }) => {
  const turnOn = async (): Promise<void> => {
    const { checksum } = await daemon.call('getConfigStatus');
    if (!(await confirmed({ title: t('on_title'), text: t('on_text'), action: t('turn_on') }))) return;
    await daemon.call('setConfigValue', { body: { path: 'approval.require_approval', value: true, confirm: checksum } }).finally(onTurnedOn);
  };
  return (
    <div class="row wrap">
      <p class="muted grow">{t('off')}</p>
      {may('config.admin') && (
        <Button icon="shield-check" onPress={turnOn}>
          {t('turn_on')}
        </Button>
      )}
    </div>
  );
};

const Pending = ({ approvals, onDecided }: { approvals: readonly Approval[]; onDecided: () => void }) => {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const ids = approvals.map(({ id }) => id).filter((id) => picked.has(id));
  const needsCode = approvals.some(({ id, needs_totp }) => picked.has(id) && needs_totp);
  const pick = (id: string, isPicked: boolean): void => setPicked(new Set(isPicked ? [...picked, id] : [...picked].filter((one) => one !== id)));
  const decide = (decision: 'approve' | 'reject') => (): Promise<unknown> => daemon.call('resolveApprovals', { body: { ids, decision } }).finally(onDecided);
  return (
    <Section
      title={t('pending')}
      actions={
        ids.length > 0 && (
          <div class="row wrap">
            <Button kind="primary" icon="check" disabled={needsCode} onPress={decide('approve')}>
              {t('approve_selected', { count: ids.length })}
            </Button>
            <Button kind="danger" icon="x" onPress={decide('reject')}>
              {t('reject_selected', { count: ids.length })}
            </Button>
          </div>
        )
      }
    >
      <div class="stack">
        {approvals.map((approval) => (
          <div key={approval.id} class="approval-pick">
            {approvals.length > 1 && may('approvals.write') && <CheckField label={t('select')} value={picked.has(approval.id)} onValue={(isPicked) => pick(approval.id, isPicked)} />}
            <ApprovalCard approval={approval} onDecided={onDecided} />
          </div>
        ))}
      </div>
    </Section>
  );
};

const When = ({ at }: { at: string | null }) =>
  at === null ? null : (
    <time dateTime={at} title={dateTime(at)}>
      {ago(at, Date.now())}
    </time>
  );

const DECIDED: ReadonlyArray<Column<Approval>> = [
  { id: 'state', title: t('state'), cell: ({ status }) => <StateOf status={status} /> },
  { id: 'call', title: t('call'), cell: ({ action_summary }) => <span class="approval-path">{action_summary}</span> },
  { id: 'agent', title: t('agent'), cell: ({ agent_name }) => <bdi>{agent_name}</bdi> },
  { id: 'when', title: t('when'), cell: ({ decided_at }) => <When at={decided_at} /> },
  { id: 'by', title: t('by'), isMinor: true, cell: ({ decided_by }) => decided_by },
];

const Remembered = () => {
  const loaded = useLoaded('remembered approvals', (signal) => daemon.call('listApprovalGrants', {}, { signal }), ['approval']);
  const forget = (id: string) => (): Promise<unknown> => daemon.call('deleteApprovalGrant', { id }).finally(loaded.reload);
  return (
    <Shown of={loaded} lines={1}>
      {({ grants }) =>
        grants.length === 0 ? null : (
          <Section title={t('remembered')} note={t('remembered_note')}>
            <Table label={t('remembered_table')} columns={remembered(forget)} rows={grants} keyOf={({ id }) => id} />
          </Section>
        )
      }
    </Shown>
  );
};

const remembered = (forget: (id: string) => () => Promise<unknown>): ReadonlyArray<Column<Grant>> => [
  { id: 'agent', title: t('agent'), cell: ({ agent_name }) => <bdi>{agent_name}</bdi> },
  { id: 'tool', title: t('tool'), cell: ({ tool_name }) => tool_name },
  { id: 'covers', title: t('covers'), cell: ({ covers }) => <code class="approval-path">{covers}</code> },
  { id: 'until', title: t('until'), cell: ({ expires_at, session_id }) => (expires_at !== null ? dateTime(expires_at) : t(session_id === null ? 'always' : 'session')) },
  {
    id: 'forget',
    title: '',
    cell: ({ id }) =>
      may('approvals.write') && (
        <Button small onPress={forget(id)}>
          {t('forget')}
        </Button>
      ),
  },
];

export const panel = definePanel({ view: Approvals });
